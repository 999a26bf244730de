"""Announcements of a local file: from the request to the first sound (nothing is finer than the 5 ms blocks of the
recorder), and what is left of them: memory while it plays on, and wakeups while it is paused."""
import time

import numpy as np

from harness.daemon import Daemon
from harness.process import Window, memory
from harness.sound import Recording, SoundServer


def run(bench):
    clips = [bench.material.clip(), bench.material.clip("flac")]
    starts = {"the first since the start": [], "over nothing": [], "over music": []}
    with SoundServer(bench.folder()) as server:
        with Recording(server) as recording:
            for number in range(max(4, bench.samples // 10)):
                with Daemon(bench.program, bench.folder(), server) as daemon:
                    # The usual box was started long ago.
                    time.sleep(1.5)
                    _announce(daemon, clips[number % 2], starts["the first since the start"])
                    time.sleep(1)
                    _announce(daemon, clips[number % 2], starts["over nothing"])
                    daemon.load(bench.material.silence())
                    daemon.call("play")
                    time.sleep(1)
                    _announce(daemon, clips[number % 2], starts["over music"])
    delays = {kind: [_delay(recording, instant) for instant in sent] for kind, sent in starts.items()}
    left = _left(bench, clips[0])
    bench.note("announce", {"ms": delays} | left)
    rows = [bench.row(f"announcement to sound, {kind}, p50", float(np.median(found)), "ms", 50)
            for kind, found in delays.items()]
    return rows + [
        bench.row("proportional memory, playing, after an announcement", left["pss"] / 2**20, "MB", 9),
        bench.row("switches a second, paused, after an announcement", left["paused"], "", 0)]


def _announce(daemon, path, sent):
    sent.append(time.monotonic())
    daemon.call("announce", uri=str(path))
    time.sleep(0.3)


def _delay(recording, sent):
    low, high = recording.span(sent, sent + 0.5)
    heard = np.flatnonzero(recording.numbers[low:high] >= 0)
    if not len(heard):
        raise RuntimeError("an announcement was not heard")
    # It is heard from its first frame on.
    return (recording.instant(low + heard[0] - int(recording.numbers[low + heard[0]])) - sent) * 1e3


def _left(bench, clip):
    """Nobody else is on the sink: it takes two seconds at once."""
    with SoundServer(bench.folder()) as server, Daemon(bench.program, bench.folder(), server) as daemon:
        daemon.load(bench.material.music())
        daemon.call("play")
        time.sleep(3)
        before = memory(daemon.pid)["pss"]
        for _ in range(3):
            daemon.call("announce", uri=str(clip))
        time.sleep(5)
        after = memory(daemon.pid)["pss"]
        daemon.call("pause")
        daemon.call("announce", uri=str(clip))
        time.sleep(3)
        window = Window(daemon.pid)
        time.sleep(bench.window / 2)
        paused = window.done()
        return {"pss before": before, "pss": after, "paused": paused["switches_per_second"], "pss paused": paused["pss"]}
