"""The events of a playback, as triggers see them."""

from __future__ import annotations

from typing import Any

from custom_components.nowplayingd.client import State
from custom_components.nowplayingd.progress import Progress
import pytest


def state(word: str, item: int | None = 1, play: int = 1, session: str = "main") -> State:
    """Return a state of a session."""
    found: dict[str, Any] = {"session": session, "state": word, "item": None if item is None else {"id": item, "play": play}}
    return State.of(found)


@pytest.mark.parametrize(
    ("first", "rest"),
    [
        # A file begins at once, pauses and continues.
        (
            state("stopped", play=0),
            [
                (state("playing"), {"started", "item_began"}),
                (state("playing"), set()),
                (state("paused"), {"paused"}),
                (state("paused"), set()),
                (state("playing"), {"started"}),
                (state("interrupted"), {"paused"}),
                (state("playing"), {"started"}),
                (state("stopped"), {"stopped"}),
                (state("stopped"), set()),
            ],
        ),
        # A station is late: it starts with its first sound. Later it stalls, and continues.
        (
            state("stopped", None),
            [
                (state("stopped"), set()),
                (state("stalled"), {"stalled"}),
                (state("stalled"), set()),
                (state("playing"), {"started", "item_began"}),
                (state("stalled"), {"stalled"}),
                (state("playing"), set()),
            ],
        ),
        # The queue goes to another item before it plays.
        (state("paused"), [(state("paused", 2), set()), (state("playing", 2), {"started", "item_began"})]),
        # A station that never answers has not started, so it does not pause.
        (state("stopped"), [(state("stalled"), {"stalled"}), (state("paused"), set())]),
        # The next item, the same item again, and another session.
        (
            state("playing"),
            [
                (state("playing", 2), {"item_began"}),
                (state("playing", 2, 2), {"item_began"}),
                (state("playing", 2, 2, "kids"), {"item_began"}),
                (state("stopped", None), {"stopped"}),
            ],
        ),
        # Followed from the middle of a stall.
        (state("stalled"), [(state("playing"), set()), (state("stopped"), {"stopped"})]),
    ],
)
def test_progress(first: State, rest: list[tuple[State, set[str]]]) -> None:
    """Each state adds the events that a person would name."""
    progress = Progress(first)
    for number, (one, expected) in enumerate(rest):
        assert progress.take(one) == expected, number
