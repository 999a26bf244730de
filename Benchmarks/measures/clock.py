"""Error of the extrapolated position against a recording, in milliseconds."""
import random
import time

import numpy as np

from harness.code import RATE
from harness.player import Daemon, Follower
from harness.sound import Recording, SoundServer


def run(bench):
    rows = []
    with SoundServer(bench.folder()) as server, Daemon(bench.program, bench.folder(), server) as daemon:
        errors, drifts = _playing(bench, server, daemon)
    rows += [bench.row("clock, steady, first minute, p95", _p95(errors["steady"]), "ms", 2.5),
             bench.row("clock, after seek, p95", _p95(errors["seek"]), "ms", 1),
             bench.row("clock, after resume, p95", _p95(errors["resume"]), "ms", 1)]
    bench.note("clock", {k: _all(v) for k, v in errors.items()} | {"drifts": drifts})
    with SoundServer(bench.folder(), "norewinds=1") as server, Daemon(bench.program, bench.folder(), server) as daemon:
        errors = _paused(bench, server, daemon)
    rows.append(bench.row("clock, paused (sink without rewind), p95", _p95(errors), "ms", 1))
    bench.note("clock, paused", _all(errors))
    return rows


def _p95(errors):
    return float(np.percentile(np.abs(errors), 95)) * 1e3


def _all(errors):
    scaled = np.array(errors) * 1e3
    return {"count": len(scaled), "mean": scaled.mean(), "minimum": scaled.min(), "maximum": scaled.max()}


def _playing(bench, server, daemon):
    chance = random.Random(1)
    follower = Follower(daemon.path)
    recording = Recording(server)
    said = []

    def sample(kind):
        said.append((kind, *follower.position()))

    daemon.load(bench.material.first())
    daemon.call("play")
    time.sleep(2)
    for _ in range(bench.samples):
        sample("steady")
        time.sleep(0.1 + chance.random() * 0.4)
    for _ in range(bench.samples // 3):
        daemon.call("changePlaybackPosition", position=chance.randrange(10, 500))
        time.sleep(0.3)
        for _ in range(3):
            sample("seek")
            time.sleep(0.05 + chance.random() * 0.05)
    for _ in range(bench.samples // 3):
        daemon.call("pause")
        time.sleep(0.3)
        daemon.call("play")
        time.sleep(0.3)
        for _ in range(3):
            sample("resume")
            time.sleep(0.05 + chance.random() * 0.05)
    daemon.call("pause")
    recording.finish()
    errors = {}
    for kind, instant, position in said:
        heard = recording.numbers[recording.index(instant)]
        if heard >= 0:
            errors.setdefault(kind, []).append(position - heard / RATE)
    return errors, follower.causes.count("drift")


def _paused(bench, server, daemon):
    chance = random.Random(2)
    follower = Follower(daemon.path)
    recording = Recording(server)
    said = []
    daemon.load(bench.material.first())
    for _ in range(bench.samples // 3):
        daemon.call("play")
        time.sleep(0.4 + chance.random() * 0.2)
        daemon.call("pause")
        time.sleep(0.3)
        said += [follower.position() for _ in range(3)]
    recording.finish()
    errors = []
    for instant, position in said:
        heard = recording.numbers[:recording.index(instant)]
        last = np.flatnonzero(heard >= 0)
        if len(last):
            errors.append(position - (heard[last[-1]] + 1) / RATE)
    return errors
