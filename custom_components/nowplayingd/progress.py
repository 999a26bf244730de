"""The events of a playback, found by a comparison of its states."""

from __future__ import annotations

from .client import State


class Progress:
    """Follows the states of a session. A source that is late, such as a station, stalls before its first sound."""

    def __init__(self, state: State) -> None:
        """Begin with a state that is no event."""
        self._last = state
        # True from the first sound to a pause or a stop.
        self._is_underway = state.state in ("playing", "stalled")
        # The play of an item that was audible last.
        self._began = _play(state)

    def take(self, state: State) -> set[str]:
        """Return the events between the last state and this one."""
        old, word = self._last, state.state
        found: set[str] = set()
        if word == "playing":
            if not self._is_underway:
                found.add("started")
            if state.item is not None and _play(state) != self._began:
                found.add("item_began")
            self._is_underway, self._began = True, _play(state)
        elif word == "stalled":
            if old.state != "stalled":
                found.add("stalled")
        elif word == "stopped":
            if old.state != "stopped":
                found.add("stopped")
            self._is_underway = False
        else:
            if self._is_underway:
                found.add("paused")
            self._is_underway = False
        self._last = state
        return found


def _play(state: State) -> tuple[str, int | None, int | None]:
    """Return a name for one play of an item: an item that is repeated begins again."""
    item = state.item
    return (state.session, None, None) if item is None else (state.session, item.id, item.play)
