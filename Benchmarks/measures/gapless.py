"""Frames put in (or lost) where files cut from one signal meet."""
import time

import numpy as np

from harness.sound import Recording

SECONDS, FILES = 3, 4


def run(bench):
    files = bench.material.pieces(FILES, SECONDS)
    turns = bench.in_turn("gapless", lambda player, server: _joins(player, server, files))
    found = {name: results[0] for name, results in turns.items()}
    bench.note("gapless", found)
    return bench.rows(f"gapless: frames put in or lost at {FILES - 1} joins, worst",
                      {name: max(map(abs, joins)) for name, joins in found.items()}, "", 0)


def _joins(player, server, files):
    """Frames more than the signal has, at each join."""
    with Recording(server) as recording:
        player.load(*files)
        time.sleep(0.5)
        begun = time.monotonic()
        player.play()
        time.sleep(FILES * SECONDS + 0.5)
    low, high = recording.span(begun, begun + FILES * SECONDS + 0.5)
    numbers = recording.numbers[low:high]
    frame = SECONDS * 44_100
    joins = []
    for piece in range(1, FILES):
        # A tenth of a second away on either side: where each of them is heard.
        before, after = (np.flatnonzero(numbers == piece * frame + away) for away in (-4_410, 4_410))
        if not len(before) or not len(after):
            raise RuntimeError(f"join {piece} of {FILES - 1} was not heard")
        joins.append(int(after[-1] - before[-1]) - 8_820)
    return joins
