"""The position as Home Assistant's cards compute it. All times are seconds.

A card knows a position and the time at which it was valid. It adds the time that has passed since then, at the rate 1, as
long as the state is `playing`. The box knows more: the rate, the skew of the sound device, and a clock of its own.
"""

from __future__ import annotations

from datetime import UTC, datetime

from .client import Anchor

# The pair that a card has is replaced if it is wrong by this much.
TOLERANCE = 0.025
# An event is written anyway; the pair stays if it is better than this.
EVENT_TOLERANCE = 0.01
# Seconds between two pairs while the rate is not 1.
INTERVAL = 10.0


class CardPosition:
    """The pair of attributes `media_position` and `media_position_updated_at`."""

    def __init__(self) -> None:
        """Make the pair of a player without an item."""
        self.position: float | None = None
        self.updated_at: datetime | None = None
        self._plays = False

    def clear(self) -> None:
        """Remove the pair: there is no item."""
        self.position = self.updated_at = None

    def update(
        self, anchor: Anchor, duration: float | None, *, plays: bool, now: float, wall: float, tolerance: float = EVENT_TOLERANCE
    ) -> bool:
        """Replace the pair if a card would be wrong by more than `tolerance`; returns True if it was replaced.

        `now`: the clock of the box; `wall`: the Unix time of this machine at that instant.
        """
        self._plays = plays
        # The sound of an anchor in the future has not begun: a card is right from its instant on.
        instant = max(now, anchor.monotonic) if anchor.rate else now
        wall += instant - now
        position = anchor.position(instant, duration)
        card = self._card(wall)
        if card is not None and abs(card - position) < tolerance:
            return False
        self.position = round(position, 6)
        self.updated_at = datetime.fromtimestamp(wall, UTC)
        return True

    def error(self, anchor: Anchor, duration: float | None, *, now: float, wall: float) -> float:
        """Return the seconds by which a card is ahead of the sound."""
        card = self._card(wall)
        return 0.0 if card is None else card - anchor.position(now, duration)

    def next_update(self, anchor: Anchor) -> float | None:
        """Return the seconds after which a card would be wrong by TOLERANCE, or INTERVAL at another rate; None: never."""
        if not self._plays or self.position is None:
            return None
        drift = abs(anchor.speed - 1)
        if anchor.rate != 1:
            return INTERVAL
        return max(INTERVAL, (TOLERANCE - EVENT_TOLERANCE) / drift) if drift else None

    def _card(self, wall: float) -> float | None:
        """Return the position that a card shows."""
        if self.position is None or self.updated_at is None:
            return None
        return self.position + (wall - self.updated_at.timestamp() if self._plays else 0.0)
