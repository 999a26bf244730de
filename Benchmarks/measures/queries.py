"""Start, and the round trip of a state query against a bare echo in the same run."""
import os
import pathlib
import subprocess
import sys
import time

import numpy as np

from harness.player import Connection, Daemon
from harness.sound import SoundServer

ECHO = """
import socket, sys
listener = socket.socket(socket.AF_UNIX); listener.bind(sys.argv[1]); listener.listen(); peer, _ = listener.accept()
while piece := peer.recv(65536): peer.sendall(piece)
"""


def run(bench):
    with SoundServer(bench.folder()) as server:
        starts = []
        for _ in range(20):
            with Daemon(bench.program, bench.folder(), server) as daemon:
                starts.append(daemon.startup * 1e3)
        with Daemon(bench.program, bench.folder(), server) as daemon:
            daemon.load(bench.material.first())
            daemon.call("play")
            queries, echoes, pipelined = _ask(bench, daemon)
    bench.note("queries", {"start ms": starts, "query µs": float(np.median(queries)) * 1e6,
                           "echo µs": float(np.median(echoes)) * 1e6, "pipelined": pipelined})
    return [bench.row("exec to first answered command, p50", float(np.median(starts)), "ms", 8),
            bench.row("state query against a bare echo, p50", float(np.median(queries) / np.median(echoes)), "×", 2.5),
            bench.row("state queries a second, pipelined", float(np.median(pipelined)), "", 120_000, least=True)]


def _ask(bench, daemon):
    path = bench.folder() / "echo"
    path.parent.mkdir(parents=True, exist_ok=True)
    process = subprocess.Popen([sys.executable, "-c", ECHO, str(path)])
    while True:
        try:
            echo = Connection(path)
            break
        except OSError:
            time.sleep(0.01)
    # The same way for both: where the scheduler puts them makes a factor of ten.
    everywhere = os.sched_getaffinity(0)
    here, there = {min(everywhere)}, {max(everywhere)}
    os.sched_setaffinity(0, here)
    for pid in (process.pid, daemon.pid):
        for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
            os.sched_setaffinity(int(task.name), there)
    queries, echoes, pipelined = [], [], []
    query, batch = daemon.connection.request("nowPlaying.get"), 2000
    for _ in range(6):
        _time(daemon.connection, query, 50)
        queries += _time(daemon.connection, query, 400)
        _time(echo, b"status\n", 50)
        echoes += _time(echo, b"status\n", 400)
        begun = time.perf_counter()
        daemon.connection.socket.sendall(query * batch)
        for _ in range(batch):
            daemon.connection.line()
        pipelined.append(batch / (time.perf_counter() - begun))
    os.sched_setaffinity(0, everywhere)
    echo.close()
    process.wait()
    return queries, echoes, pipelined


def _time(connection, line, count):
    times = []
    for _ in range(count):
        begun = time.perf_counter()
        connection.socket.sendall(line)
        connection.line()
        times.append(time.perf_counter() - begun)
    return times
