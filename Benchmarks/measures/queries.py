"""Start, and the round trip of a state query against a bare echo in the same run."""
import os
import pathlib
import subprocess
import sys
import time

import numpy as np

from harness.lines import Lines, until

STARTS, BATCH = 20, 2000
ECHO = """
import socket, sys
listener = socket.socket(socket.AF_UNIX); listener.bind(sys.argv[1]); listener.listen(); peer, _ = listener.accept()
while piece := peer.recv(65536): peer.sendall(piece)
"""


def run(bench):
    starts = bench.in_turn("queries", lambda player, server: player.startup * 1e3, rounds=STARTS)
    asked = bench.in_turn("queries", lambda player, server: _playing(bench, player), players=starts)
    found = {name: results[0] for name, results in asked.items()}
    bench.note("queries", {name: found[name] | {"start ms": starts[name]} for name in found})
    return [
        *bench.rows("exec to first answered command, p50", {n: np.median(starts[n]) for n in found}, "ms", 8),
        *bench.rows("state query against a bare echo, p50", {n: f["query µs"] / f["echo µs"] for n, f in found.items()}, "×", 2.5),
        *bench.rows("state query, p50", {n: f["query µs"] for n, f in found.items()}, "µs", None),
        *bench.rows("state queries a second, pipelined", {n: f["pipelined"] for n, f in found.items()}, "", 120_000, least=True)]


def _playing(bench, player):
    player.load(bench.material.first())
    player.play()
    return ask(bench, player)


def ask(bench, player):
    """Times of queries and of echoes in turn, median microseconds, and queries a second when they come in a row."""
    path = bench.folder() / "echo"
    path.parent.mkdir(parents=True, exist_ok=True)
    process = subprocess.Popen([sys.executable, "-c", ECHO, str(path)])
    until(path.exists, "the echo")
    time.sleep(0.05)
    echo = Lines(path)
    # The same way for both: where the scheduler puts them makes a factor of ten.
    everywhere = os.sched_getaffinity(0)
    here, there = {min(everywhere)}, {max(everywhere)}
    os.sched_setaffinity(0, here)
    for pid in (process.pid, player.pid):
        for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
            os.sched_setaffinity(int(task.name), there)
    queries, echoes, pipelined = [], [], []
    query = player.query()
    for _ in range(6):
        _time(player.connection, player.answer, query, 50)
        queries += _time(player.connection, player.answer, query, 400)
        _time(echo, echo.line, b"status\n", 50)
        echoes += _time(echo, echo.line, b"status\n", 400)
        begun = time.perf_counter()
        player.connection.send(query * BATCH)
        for _ in range(BATCH):
            player.answer()
        pipelined.append(BATCH / (time.perf_counter() - begun))
    os.sched_setaffinity(0, everywhere)
    echo.close()
    process.wait()
    return {"query µs": float(np.median(queries)) * 1e6, "echo µs": float(np.median(echoes)) * 1e6,
            "pipelined": float(np.median(pipelined))}


def _time(connection, answer, line, count):
    times = []
    for _ in range(count):
        begun = time.perf_counter()
        connection.send(line)
        answer()
        times.append(time.perf_counter() - begun)
    return times
