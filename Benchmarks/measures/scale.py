"""A long queue, and many subscribers."""
import os
import selectors
import time

import numpy as np

from harness.player import Connection, Daemon
from harness.process import memory
from harness.sound import SoundServer

ENTRIES, SUBSCRIBERS = 100_000, 500


def run(bench):
    with SoundServer(bench.folder()) as server, Daemon(bench.program, bench.folder(), server) as daemon:
        seconds, size = _queue(bench, daemon)
    with SoundServer(bench.folder()) as server, Daemon(bench.program, bench.folder(), server) as daemon:
        last = _subscribers(bench, daemon)
    bench.note("scale", {"queue s": seconds, "bytes an entry": size, "last subscriber ms": last})
    return [bench.row(f"{ENTRIES} queue entries", seconds, "s", 0.3),
            bench.row("memory of each", size, "bytes", 250),
            bench.row(f"{SUBSCRIBERS} subscribers hear of a pause, p50", float(np.median(last)), "ms", 3.3)]


def _queue(bench, daemon):
    """Time to add links to one file, 1,000 a request, and growth of the memory of its own, an entry."""
    source, folder = bench.material.short(), bench.material.folder / "links"
    paths = []
    for number in range(ENTRIES):
        path = folder / f"{number // 1000:03}" / f"track {number:06}.flac"
        if number % 1000 == 0:
            path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists():
            try:
                os.link(source, path)
            except OSError:  # ext4 takes 65,000 links of a file
                path.symlink_to(source)
        paths.append(str(path))
    before, begun = memory(daemon.pid)["uss"], time.monotonic()
    for start in range(0, ENTRIES, 1000):
        daemon.call("queue.add", items=paths[start:start + 1000])
    seconds = time.monotonic() - begun
    assert daemon.call("nowPlaying.get")["queue"]["count"] == ENTRIES
    time.sleep(1)
    return seconds, (memory(daemon.pid)["uss"] - before) / ENTRIES


def _subscribers(bench, daemon):
    """Milliseconds from the command to the last subscriber's line, pause and play in turn."""
    daemon.load(bench.material.first())
    daemon.call("play")
    selector = selectors.EpollSelector()
    for _ in range(SUBSCRIBERS):
        connection = Connection(daemon.path)
        connection.call("nowPlaying.subscribe")
        selector.register(connection.socket, selectors.EVENT_READ, connection)
    last = []
    for number in range(20):
        time.sleep(0.3)
        for key, _ in selector.select(0):
            key.fileobj.recv(65_536)
        begun, waiting = time.monotonic(), SUBSCRIBERS
        daemon.call("play" if number % 2 else "pause")
        while waiting:
            for key, _ in selector.select(10):
                waiting -= key.fileobj.recv(65_536).count(b"\n")
        last.append((time.monotonic() - begun) * 1e3)
    return last
