"""Sound while scans run with both processors busy: what the daemon says of stalls, and a recording of the sink."""
import contextlib
import os
import random
import sys
import threading
import time

import numpy as np

from harness.code import RATE
from harness.daemon import Daemon
from harness.house import program as process
from harness.library import Library
from harness.sound import Recording, SoundServer

QUIET = 60


def run(bench, program, collection):
    with SoundServer(bench.folder()) as server, Daemon(bench.program, bench.folder(), server) as daemon:
        quiet = _played(bench, daemon, server, QUIET)
        with _busy(), _scans(bench, program, collection, daemon) as count:
            time.sleep(2)
            found = _played(bench, daemon, server, bench.minutes * 60)
    if found["lost by the recorder"]:
        bench.remark(f"The recorder lost {found['lost by the recorder']} pieces of the sound beside scans.")
    bench.note("library, sound", {"alone": quiet, "beside scans": found, "scans": len(count)})
    return [
        bench.row(f"stalls in {bench.minutes:g} minutes beside {len(count)} first scans, both processors busy", found["stalls"], "", 0),
        bench.row("breaks in a recording meanwhile", found["breaks"], "", 0),
        bench.row("clock beside scans, p95", found["clock ms"], "ms", None),
        bench.row("the same alone", quiet["clock ms"], "ms", None)]


def _played(bench, daemon, server, seconds):
    """Stalls, breaks in what was heard, and the 95th percentile of the clock's error."""
    chance, said = random.Random(5), []
    with Recording(server) as recording:
        # Each item is ten minutes long.
        daemon.load(*[bench.material.first()] * (int(seconds) // 600 + 2))
        follower = daemon.follow()
        follower.take()
        follower.causes.clear()
        daemon.play()
        time.sleep(2)
        begun = time.monotonic()
        while time.monotonic() < begun + seconds:
            said.append(daemon.position())
            time.sleep(0.3 + chance.random() * 0.4)
        ended = time.monotonic()
        daemon.pause()
    low, high = recording.span(begun, ended)
    heard = recording.numbers[low:high]
    # Silence between what was played; a jump without silence is a piece that the recorder lost.
    breaks = int(np.count_nonzero((heard[1:] < 0) & (heard[:-1] >= 0)))
    jumps = np.flatnonzero((np.diff(heard) != 1) & (heard[1:] > 0) & (heard[:-1] >= 0))
    errors = []
    for instant, position in said:
        number = recording.numbers[recording.index(instant)]
        if number >= 0:
            errors.append(abs(position - number / RATE) * 1e3)
    if len(errors) < len(said) / 2:
        raise RuntimeError("too little was recorded of what it played")
    return {"stalls": follower.causes.count("stall"), "breaks": breaks, "lost by the recorder": len(jumps),
            "clock ms": float(np.percentile(errors, 95))}


@contextlib.contextmanager
def _busy():
    """Two programs that only compute."""
    with contextlib.ExitStack() as stack:
        for _ in range(os.cpu_count()):
            stack.enter_context(process([sys.executable, "-c", "while True: pass"]))
        yield


@contextlib.contextmanager
def _scans(bench, program, collection, daemon):
    """First scans one after the other, asked for, so that they take what they get. Their times are in the list."""
    done, ends, failures = [], threading.Event(), []

    def scan():
        try:
            while not ends.is_set():
                with Library(program, bench.folder(), collection.folder, daemon=daemon.path) as library:
                    library.call("library.update")
                    begun = time.monotonic()
                    while not ends.is_set() and not library.call("library.status")["lastScan"]:
                        ends.wait(0.5)
                    done.append(time.monotonic() - begun)
        except Exception as error:  # the thread has nobody to tell
            failures.append(error)

    thread = threading.Thread(target=scan)
    thread.start()
    try:
        yield done
    finally:
        ends.set()
        thread.join()
    if failures:
        raise failures[0]
