"""From a command to the change in the recording, milliseconds, with 200 trials of each.

The sink works in blocks of 5 ms while it is recorded. Commands come at a random phase of them, so that a median over many
trials is that of the player, and its interval says how sure it is.
"""
import random
import time

import numpy as np

from harness.median import median
from harness.places import arrival, delay, far
from harness.sound import Recording

TARGETS = {"play": 2.7, "pause": 2.4, "seek": 5.7, "next": 5.9}
# Each player has several turns, so that what the host does meets all of them.
ROUNDS = 4
# Between two commands, seconds: longer than the slowest player takes.
PAUSE = 0.25
# The recorder's block, seconds.
BLOCK = 0.005


def run(bench):
    turns = bench.in_turn("audible", lambda player, server: _turn(bench, player, server), rounds=ROUNDS)
    found = {name: {kind: [delay for turn in rounds for delay in turn[kind]] for kind in (*TARGETS, "answer", "lost")}
             for name, rounds in turns.items()}
    bench.note("audible", {name: {kind: _all(delays) for kind, delays in kinds.items() if delays and kind != "lost"}
                           | {"not found": kinds["lost"]} for name, kinds in found.items()})
    for name, kinds in found.items():
        for kind in TARGETS:
            if lost := kinds["lost"].count(kind):
                bench.remark(f"Of {lost + len(kinds[kind])} trials of `{kind}` {lost} could not be heard: {name}.")
    rows = []
    for text, figure in (("p50", median), ("the least of them", min)):
        for kind, target in TARGETS.items():
            rows += bench.rows(
                f"{kind} to {'silence' if kind == 'pause' else 'sound'}, {text}",
                {name: figure(delays[kind]) for name, delays in found.items() if delays[kind]}, "ms",
                target if figure is median else None, ranked=figure is median)
    return rows


def _all(delays):
    return {"p50": float(np.median(delays)), "p95": float(np.percentile(delays, 95)), "mean": float(np.mean(delays)),
            "minimum": min(delays), "maximum": max(delays), "count": len(delays)}


def _turn(bench, player, server):
    """{kind: milliseconds}; `answer`: until the acknowledgement of a pause, `lost`: commands of which no effect was heard."""
    with Recording(server) as recording:
        events = _act(bench, player, max(1, bench.trials // ROUNDS))
    delays = {kind: [] for kind in (*TARGETS, "answer", "lost")}
    for number, (kind, sent, answered, argument) in enumerate(events):
        until = events[number + 1][1] if number + 1 < len(events) else sent + 2
        place = arrival(recording.numbers, kind, argument, *recording.span(sent, min(until, sent + 2)))
        if place is None:
            delays["lost"].append(kind)
        else:
            delays[kind].append(delay(recording, sent, place))
        if kind == "pause":
            delays["answer"].append((answered - sent) * 1e3)
    return delays


def _act(bench, player, trials):
    """[(kind, sent, answered, argument)]"""
    # Not the same in every turn: the phase of the recorder's blocks is what is averaged over.
    chance = random.Random()
    events = []

    def act(kind, call, *words, argument=None):
        sent = time.monotonic()
        call(*words)
        events.append((kind, sent, time.monotonic(), argument))
        time.sleep(PAUSE + chance.random() * 10 * BLOCK)

    # Every other entry is the other file.
    files = [bench.material.first(), bench.material.second()]
    player.load(*files * (trials // 2 + 1))
    time.sleep(0.5)
    target = 0
    for _ in range(trials):
        act("play", player.play)
        target = far(chance, 10, 500, target)
        act("seek", player.seek, target, argument=target)
        act("pause", player.pause)
    act("play", player.play)
    for number in range(trials):
        act("next", player.next, argument=600 if number % 2 == 0 else 0)
    act("pause", player.pause)
    return events
