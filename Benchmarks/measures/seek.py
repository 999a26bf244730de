"""Seeks in a FLAC of ten hours, without a seek table and with one: from the command to the sound of the place."""
import random
import time

import numpy as np

from harness.code import RATE
from harness.places import arrival, delay, far
from harness.sound import Recording


def run(bench):
    rows, notes = [], {}
    for text, path, target in (("without", bench.material.long(), 6), ("with", bench.material.long(table=True), 6)):
        turns = bench.in_turn("seek", lambda player, server, path=path: _turn(bench, player, server, path))
        found = {name: results[0] for name, results in turns.items()}
        notes[f"{text} a seek table"] = found
        rows += bench.rows(f"seek in 10 hours of FLAC {text} a seek table to sound, p50",
                           {name: figures["p50"] for name, figures in found.items()}, "ms", target)
    bench.note("seek", notes)
    return rows


def _turn(bench, player, server, path):
    # The same targets for all.
    chance = random.Random(4)
    sent = []
    with Recording(server) as recording:
        player.load(path)
        player.play()
        time.sleep(1)
        for _ in range(bench.samples // 3):
            target = far(chance, 600, 35_000, sent[-1][1] if sent else 0)
            sent.append((time.monotonic(), target))
            player.seek(target)
            time.sleep(0.6)
        player.pause()
    delays, landed = [], []
    for instant, target in sent:
        low, high = recording.span(instant, instant + 0.6)
        place = arrival(recording.numbers, "seek", target, low, high)
        if place is not None:
            delays.append(delay(recording, instant, place))
            landed.append((recording.numbers[place] / RATE - target) * 1e3)
    if not delays:
        raise RuntimeError(f"none of {len(sent)} seeks was heard within 0.6 s")
    return {"p50": float(np.median(delays)), "p95": float(np.percentile(delays, 95)), "count": len(delays),
            "of": len(sent), "landed ms": [float(min(landed)), float(max(landed))]}
