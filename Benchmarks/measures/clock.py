"""Error of the position that a player tells (ours: extrapolated from its last anchor) against a recording."""
import random
import time

import numpy as np

from harness.code import RATE
from harness.sound import Recording


def run(bench):
    heard = bench.in_turn("clock", lambda player, server: playing(bench, server, player))
    rested = bench.in_turn("clock, paused", lambda player, server: _paused(bench, server, player), "norewinds=1")
    found = {name: results[0] for name, results in heard.items()}
    still = {name: results[0] for name, results in rested.items()}
    bench.note("clock", {name: {kind: _all(errors) for kind, errors in kinds.items() if kind != "drifts"}
                         | ({"drifts": kinds["drifts"]} if "drifts" in kinds else {}) for name, kinds in found.items()})
    bench.note("clock, paused", {name: _all(errors) for name, errors in still.items()})
    kinds = (("steady, first minute", "steady", 2.5), ("after seek", "seek", 1), ("after resume", "resume", 1))
    rows = [row for text, kind, target in kinds for row in bench.rows(
        f"clock, {text}, p95", {name: _p95(errors[kind]) for name, errors in found.items()}, "ms", target)]
    return rows + bench.rows("clock, paused (sink without rewind), p95", {n: _p95(e) for n, e in still.items()}, "ms", 1)


def _p95(errors):
    return float(np.percentile(np.abs(errors), 95)) * 1e3


def _all(errors):
    scaled = np.array(errors) * 1e3
    return {"count": len(scaled), "mean": scaled.mean(), "minimum": scaled.min(), "maximum": scaled.max()}


def playing(bench, server, player):
    """Errors of the position in seconds: steady, after seeks, and after resumes."""
    chance = random.Random(1)
    said = []

    def sample(kind):
        said.append((kind, *player.position()))

    with Recording(server) as recording:
        player.load(bench.material.first())
        follower = player.follow()
        player.play()
        time.sleep(2)
        for _ in range(bench.samples):
            sample("steady")
            time.sleep(0.1 + chance.random() * 0.4)
        for _ in range(bench.samples // 3):
            player.seek(chance.randrange(10, 500))
            time.sleep(0.3)
            for _ in range(3):
                sample("seek")
                time.sleep(0.05 + chance.random() * 0.05)
        for _ in range(bench.samples // 3):
            player.pause()
            time.sleep(0.2)
            player.play()
            time.sleep(0.3)
            for _ in range(3):
                sample("resume")
                time.sleep(0.05 + chance.random() * 0.05)
        player.pause()
    errors = {"steady": [], "seek": [], "resume": []}
    for kind, instant, position in said:
        heard = recording.numbers[recording.index(instant)]
        if heard >= 0:
            errors[kind].append(position - heard / RATE)
    for kind, values in errors.items():
        if not values:
            raise RuntimeError(f"no sound of it was recorded at any reading of the kind {kind}")
    return errors | ({"drifts": follower.causes.count("drift")} if follower else {})


def _paused(bench, server, player):
    chance = random.Random(2)
    said = []
    with Recording(server) as recording:
        player.load(bench.material.first())
        player.follow()
        for _ in range(bench.samples // 3):
            player.play()
            time.sleep(0.4 + chance.random() * 0.2)
            player.pause()
            time.sleep(0.3)
            said += [player.position() for _ in range(3)]
    errors = []
    for instant, position in said:
        heard = recording.numbers[:recording.index(instant)]
        last = np.flatnonzero(heard >= 0)
        if len(last):
            errors.append(position - (heard[last[-1]] + 1) / RATE)
    if not errors:
        raise RuntimeError("no sound of it was recorded")
    return errors
