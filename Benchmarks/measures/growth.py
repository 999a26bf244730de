"""How cost grows: time and memory of a step for each size of the queue, each number of clients, sessions and items with
saved feedback, and after hours of play."""
import os
import pathlib
import socket
import sqlite3
import struct
import subprocess
import time

import numpy as np

from harness.daemon import Connection, Daemon, Follower
from harness.lines import until
from harness.process import cpu, memory

QUEUES = (1, 10, 100, 1000, 10_000, 100_000, 1_000_000)
# But for the two connections of the measure.
CLIENTS = (1, 16, 128, 1024, 4094)
SESSIONS = (1, 4, 16)
REMEMBERED = (1, 10, 100, 1000, 10_000, 100_000, 1_000_000)
HOURS = (1, 2, 5, 10, 20, 50, 100)
# Hours of the daemon's clock in one of the machine's. On a machine with nothing else to do the daemon stalls as seldom as at a
# quarter of it.
PACE = 4000
# Items that begin in an hour.
ITEMS = 6
STEPS = 40
# Starts of the daemon for a median: one start alone differs by milliseconds.
STARTS = 9
# Readings of the memory after hours: between two refills it differs by megabytes.
READINGS = 25


def run(bench):
    found = {}
    for things, measure in (("items", _queues), ("clients", _clients), ("sessions", _sessions),
                            ("remembered items", _remembered), ("hours", _hours)):
        begun = time.monotonic()
        found[things] = measure(bench)
        print(f"  {things}: {time.monotonic() - begun:.0f} s", flush=True)
    bench.note("growth", found)
    rows = []
    for things, steps in found.items():
        for count, step in steps.items():
            for what, value in step.items():
                unit = "ms" if what.endswith("ms") else "KiB"
                rows.append(bench.row(f"{count} {things}: {what.rsplit(' ', 1)[0]}", value, unit, None))
    return rows


def _median(call, steps=STEPS):
    """Milliseconds of a call."""
    spans = []
    for number in range(steps):
        begun = time.monotonic()
        call(number)
        spans.append((time.monotonic() - begun) * 1e3)
    return float(np.median(spans))


def _size(daemon, before, count):
    """KiB that each of so many things keeps."""
    # Until what the request needed was given back.
    time.sleep(1)
    return (memory(daemon.pid)["uss"] - before) / 1024 / count


def _queues(bench):
    found = {}
    for count in QUEUES:
        with Daemon(bench.program, bench.folder()) as daemon:
            time.sleep(1)
            before = memory(daemon.pid)["uss"]
            _add(bench, daemon, count)
            step = {"memory of each KiB": _size(daemon, before, count)}
            middle = daemon.call("queue.list", offset=max(0, count // 2 - STEPS), limit=2 * STEPS)["items"]
            ids = [item["id"] for item in middle]
            step["state ms"] = _median(lambda number: daemon.call("nowPlaying.get"))
            step["next ms"] = _median(lambda number: daemon.call("nextTrack")) if count > STEPS else None
            step["move in the middle ms"] = _median(
                lambda number: daemon.call("queue.move", ids=[ids[number % len(ids)]], to=count // 4))
            if count > 2 * STEPS:
                step["removal in the middle ms"] = _median(lambda number: daemon.call("queue.remove", ids=[ids[number]]))
            found[count] = {what: value for what, value in step.items() if value is not None}
    return found


def _add(bench, daemon, count):
    folder = bench.folder()
    folder.mkdir(parents=True)
    # One file under a name as long as usual ones.
    link, name = folder / f"{'track' * 8}.flac", folder / "list"
    link.symlink_to(bench.material.short())
    name.write_text(f'"{link}"\n' * count)
    with open(name, "rb") as file:
        request = daemon.connection.request("queue.add", list={"descriptor": 0}, play=True)
        socket.send_fds(daemon.connection.socket, [request], [file.fileno()])
        daemon.connection.line()


def _clients(bench):
    found = {}
    program = bench.compiled("subscribers")
    for count in CLIENTS:
        with Daemon(bench.program, bench.folder()) as daemon:
            daemon.load(bench.material.first())
            time.sleep(1)
            before = memory(daemon.pid)["uss"]
            pause, play, words = daemon.broadcast()
            with subprocess.Popen([program, daemon.path, str(count), *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                  text=True) as readers:
                assert readers.stdout.readline() == "ready\n"
                step = {"memory of each KiB": _size(daemon, before, count)}
                spans = []
                for number in range(STEPS):
                    readers.stdin.write(pause if number % 2 else play)
                    readers.stdin.flush()
                    spans.append([int(word) / 1e6 for word in readers.stdout.readline().split()[1:3]])
                last, answer = np.median(np.array(spans), axis=0)
                found[count] = step | {"answer to pause or play ms": float(answer), "the last event ms": float(last),
                                       "state ms": _median(lambda number: daemon.call("nowPlaying.get"))}
                readers.kill()
    return found


def _sessions(bench):
    found = {}
    for count in SESSIONS:
        with Daemon(bench.program, bench.folder()) as daemon:
            time.sleep(1)
            before = memory(daemon.pid)["uss"]
            for number in range(count):
                daemon.call("session.create", name=f"session{number}", policy="mix")
                daemon.call("play", session=f"session{number}", uri=str(bench.material.first()))
            step = {"memory of each that plays KiB": _size(daemon, before, count)}
            with Connection(daemon.path) as other:
                step["state ms"] = _median(lambda number: other.call("nowPlaying.get", session="session0"))
            step["pause and play ms"] = _median(
                lambda number: daemon.call("pause" if number % 2 == 0 else "play", session="session0"))
            found[count] = step
    return found


def _remembered(bench):
    """With saved feedback about so many items. A first run of the daemon makes the database."""
    found = {}
    path = str(bench.material.first())
    for count in REMEMBERED:
        folder = bench.folder()
        with Daemon(bench.program, folder) as daemon:
            daemon.call("feedback.set", uri=path, rating=1)
        _remember(folder / "state" / "feedback.db", count - 1)
        # The kernel writes 255 MB for a million items. It would do so during the start that is measured.
        os.sync()
        starts = [_startup(bench, folder) for _ in range(STARTS - 1)]
        with Daemon(bench.program, folder) as daemon:
            starts.append(daemon.startup * 1e3)
            time.sleep(1)
            before = memory(daemon.pid)["uss"]
            first = _median(lambda number: daemon.call("feedback.get", uris=[path]), 1)
            found[count] = {
                "start to the first answer ms": float(np.median(starts)), "first question about feedback ms": first,
                "question ms": _median(lambda number: daemon.call("feedback.get", uris=[path])),
                "change ms": _median(lambda number: daemon.call("feedback.set", uri=path, rating=number % 5 + 1)),
                "memory of all KiB": _size(daemon, before, 1)}
    return found


def _startup(bench, folder):
    """Milliseconds from exec to the first answer."""
    with Daemon(bench.program, folder) as daemon:
        return daemon.startup * 1e3


def _remember(file, count):
    """Writes feedback about as many more items, as the daemon does."""
    with sqlite3.connect(file) as database:
        database.executemany(
            "INSERT INTO item VALUES (?, 3, 0, 0, NULL, NULL, 2, 0, 1.7e9)", ((f"{number:064x}",) for number in range(count)))
    database.close()


class _FastDaemon(Daemon):
    """A daemon whose clocks run fast, so that it plays hours in seconds."""

    def environment(self):
        source, library = pathlib.Path(__file__).resolve().parents[2] / "Tests/Soak/faster.c", self.folder / "faster.so"
        subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-o", library, source, "-ldl"], check=True)
        return os.environ | {"LD_PRELOAD": str(library), "SOAK_PACE": str(PACE)}


def _hours(bench):
    """After so many hours of play of one item of ten minutes that repeats. The hour before is the one whose cost is given."""
    found = {}
    folder = bench.folder()
    with _FastDaemon(bench.program, folder) as daemon:
        item = folder / "silence.wav"
        _silence(item, 3600 / ITEMS)
        follower = Follower(daemon.path)
        daemon.call("queue.add", items=[str(item)], play=True)
        daemon.call("changeRepeatMode", mode="one")
        for before, hours in zip((0, *HOURS), HOURS):
            for _ in range(before, hours):
                used = cpu(daemon.pid)
                time.sleep(3600 / PACE)
                used = cpu(daemon.pid) - used
                # A subscriber that does not read gets fewer events.
                follower.take()
            # A read of five of its seconds counts as hanging.
            until(lambda: daemon.call("nowPlaying.get")["state"] == "playing", f"sound after {hours} hours", 10, 0.005)
            found[hours] = {
                "processor of an hour ms": used * 1e3, "memory of all KiB": _steady_size(daemon),
                "state ms": _median(lambda number: daemon.call("nowPlaying.get")),
                "pause and play ms": _median(lambda number: daemon.call("play" if number % 2 else "pause"))}
        begun, due = follower.causes.count("track"), ITEMS * HOURS[-1]
        if begun < 0.9 * due:
            bench.remark(f"The daemon played {begun} of {due} items in the hours: the machine had too much else to do.")
        follower.connection.close()
    return found


def _steady_size(daemon):
    """KiB of the daemon while it plays: the median of readings that come at a random phase of its refills."""
    sizes = []
    for _ in range(READINGS):
        sizes.append(memory(daemon.pid)["uss"] / 1024)
        time.sleep(0.01)
    return float(np.median(sizes))


def _silence(path, seconds, rate=8000):
    """A WAVE file of 8,000 frames a second: decoding it costs nearly nothing."""
    size = int(seconds) * rate * 2
    head = struct.pack("<4sI4s4sIHHIIHH4sI", b"RIFF", 36 + size, b"WAVE", b"fmt ", 16, 1, 1, rate, rate * 2, 2, 16, b"data", size)
    with open(path, "wb") as file:
        file.write(head)
        file.truncate(len(head) + size)
