"""From a command to the change in the recording, milliseconds. Nothing is finer than the 5 ms blocks of the recorder."""
import random
import time

import numpy as np

from harness.code import RATE
from harness.player import Daemon
from harness.sound import Recording, SoundServer

TARGETS = {"play": 2.7, "pause": 2.4, "seek": 5.7, "next": 5.9}


def run(bench):
    with SoundServer(bench.folder()) as server, Daemon(bench.program, bench.folder(), server) as daemon:
        recording = Recording(server)
        events = _act(bench, daemon)
        recording.finish()
    delays, lost = {}, 0
    for number, (kind, sent, argument) in enumerate(events):
        until = events[number + 1][1] if number + 1 < len(events) else sent + 2
        place = _found(recording, kind, argument, *recording.span(sent, min(until, sent + 2)))
        if place is None:
            lost += 1
        else:
            delays.setdefault(kind, []).append((recording.instant(place) - sent) * 1e3)
    bench.note("audible", {k: {"p50": float(np.median(v)), "p95": float(np.percentile(v, 95)), "count": len(v)}
                           for k, v in delays.items()} | {"not found": lost})
    return [bench.row(f"{kind} to sound, p50", float(np.median(delays[kind])), "ms", target)
            for kind, target in TARGETS.items() if kind in delays]


def _act(bench, daemon):
    chance = random.Random(3)
    events = []

    def act(kind, method, argument=None, **parameters):
        events.append((kind, time.monotonic(), argument))
        daemon.call(method, **parameters)
        time.sleep(0.6 + chance.random() * 0.2)

    trials = bench.samples // 2
    daemon.load(bench.material.first(), bench.material.second())
    time.sleep(0.5)
    for _ in range(trials):
        act("play", "play")
        target = chance.randrange(10, 500)
        act("seek", "changePlaybackPosition", target, position=target)
        act("pause", "pause")
    for _ in range(trials):
        daemon.load(bench.material.first(), bench.material.second())
        daemon.call("play")
        time.sleep(0.5)
        act("next", "nextTrack")
    daemon.call("pause")
    return events


def _found(recording, kind, argument, low, high):
    heard = recording.numbers[low:high]
    if kind == "pause":
        sound = np.flatnonzero(heard >= 0)
        place = sound[-1] + 1 if len(sound) else 0
        return low + place if place < len(heard) - RATE // 20 else None
    if kind == "seek":
        wanted = np.abs(heard - argument * RATE) < RATE
    elif kind == "next":
        wanted = heard >= 600 * RATE
    else:
        wanted = heard >= 0
    places = np.flatnonzero(wanted)
    return low + places[0] if len(places) else None
