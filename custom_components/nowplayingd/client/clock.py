"""CLOCK_MONOTONIC of the box, estimated from exchanges of `clock.now`. All times are seconds."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
import math
from typing import Any

from .errors import NotABox
from .values import mapping, number

BURST = 8
# Maximum error, in seconds, of a clock that needs no further exchange.
ENOUGH = 0.001
# Maximum drift between two clocks: 100 ppm.
DRIFT = 1e-4

Ask = Callable[[float], Awaitable[Any]]


class BoxClock:
    """The offset between a local clock that never steps and the clock of anchors."""

    def __init__(self, local: Callable[[], float]) -> None:
        """Make a clock without an estimate; `local`: such as time.monotonic."""
        self._local = local
        self._offset: float | None = None
        self._delay = math.inf
        self._at = 0.0
        self._is_local = False

    @property
    def is_known(self) -> bool:
        """True after the first exchange."""
        return self._offset is not None

    @property
    def bound(self) -> float:
        """Seconds by which `now` is wrong at most."""
        if self._is_local:
            return 0.0
        return self._delay / 2 + (self._local() - self._at) * DRIFT if self.is_known else math.inf

    def now(self) -> float | None:
        """Return the time of the box; None before the first exchange."""
        return None if self._offset is None else self._local() + self._offset

    def be_local(self) -> None:
        """Take the local clock for that of the box, which runs on this machine: no exchange is needed."""
        self._is_local, self._offset = True, 0.0

    def forget(self) -> None:
        """Forget the estimate: the box may have started again."""
        self._is_local, self._offset = False, None
        self._delay = math.inf

    async def synchronize(self, ask: Ask) -> None:
        """Do exchanges, one after the other, until one is exact enough, at most a burst; the one with the shortest way counts.

        `ask(sent)` returns `{received, answered}`. Raises the errors of `ask`, and NotABox for an answer without times.
        """
        for _ in range(BURST):
            sent = self._local()
            answer = mapping(await ask(sent))
            back = self._local()
            received, answered = number(answer.get("received")), number(answer.get("answered"))
            if received is None or answered is None or answered < received:
                raise NotABox("clock.now answers without times")
            delay = max(0.0, back - sent - (answered - received))
            if delay / 2 <= self.bound:
                self._offset = (received - sent + answered - back) / 2
                self._delay = delay
                self._at = back
            if delay / 2 <= ENOUGH:
                return
