"""Where a seek goes, and where in a recording a command took effect."""
import numpy as np

from harness.code import RATE

# Between two seeks a player goes on by two or three seconds, and what is within one second of the target counts as there.
AWAY = 15


def far(chance, low, high, place):
    """A whole second from `low` up to `high`, so far from `place` that what plays now is not taken for it."""
    while True:
        target = chance.randrange(low, high)
        if abs(target - place) >= AWAY:
            return target


def _wanted(numbers, kind, argument):
    if kind == "pause":
        return numbers < 0
    if kind == "seek":
        near = np.abs(numbers - argument * RATE) < RATE
    elif kind == "next":
        near = np.abs(numbers - argument * RATE - RATE // 2) < RATE
    else:
        near = True
    return near & (numbers >= 0)


def arrival(numbers, kind, argument, low, high):
    """Index of the first frame of what a command asked for, sent at `low`, looked for up to `high`.

    `numbers`: of the frames recorded; `argument`: seconds, of a seek its target, of `next` where the file begins. None where
    it is not there, and where it was so already in the millisecond before the command: that is no effect of it.
    """
    if low >= high or _wanted(numbers[max(0, low - RATE // 1000):low + 1], kind, argument).any():
        return None
    heard = numbers[low:high]
    if kind == "pause":
        # Silent to the end of the span, and for a while.
        place = int(np.flatnonzero(heard >= 0)[-1]) + 1
        return low + place if place < len(heard) - RATE // 20 else None
    places = np.flatnonzero(_wanted(heard, kind, argument))
    return low + int(places[0]) if len(places) else None


def delay(recording, sent, place):
    """Milliseconds from `sent` to the frame at `place`; RuntimeError where that would be none at all."""
    found = (recording.instant(place) - sent) * 1e3
    if found <= 0:
        raise RuntimeError(f"the effect of a command was heard {found:.2f} ms after it")
    return found
