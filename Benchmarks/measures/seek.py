"""Seeks in a FLAC of ten hours without a seek table: from the command to the answer, which comes when it is heard."""
import random
import time

import numpy as np

from harness.code import RATE
from harness.player import Daemon
from harness.sound import Recording, SoundServer


def run(bench):
    path, chance = bench.material.long(), random.Random(4)
    sent = []
    with SoundServer(bench.folder()) as server, Daemon(bench.program, bench.folder(), server) as daemon:
        recording = Recording(server)
        daemon.load(path)
        daemon.call("play")
        time.sleep(1)
        for _ in range(bench.samples // 2):
            target = chance.randrange(600, 35_000)
            sent.append((time.monotonic(), target))
            daemon.call("changePlaybackPosition", position=target)
            time.sleep(0.8)
        daemon.call("pause")
        recording.finish()
    delays, landed = [], []
    for instant, target in sent:
        low, high = recording.span(instant, instant + 0.8)
        places = np.flatnonzero(np.abs(recording.numbers[low:high] - target * RATE) < RATE)
        if len(places):
            delays.append((recording.instant(low + places[0]) - instant) * 1e3)
            landed.append((recording.numbers[low + places[0]] / RATE - target) * 1e3)
    bench.note("seek", {"count": len(delays), "of": len(sent), "p95": float(np.percentile(delays, 95)),
                        "landed ms": [float(min(landed)), float(max(landed))]})
    return [bench.row("seek in a FLAC of 10 hours to sound, p50", float(np.median(delays)), "ms", 6)]
