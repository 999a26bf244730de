"""The common part of the descriptions of entities beside the player."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from .coordinator import Box
from .session import Session

Always = Callable[[Box, Session], bool]


def of_local(box: Box, session: Session) -> bool:
    """Return True for a session that the box itself plays."""
    return box.controls and not session.external


def allows(command: str) -> Always:
    """Return a rule that holds while a command can be called."""
    return lambda box, session: box.controls and session.allows(command)


@dataclass(frozen=True, kw_only=True)
class Setting:
    """A setting of a session: its value, and the call that changes it."""

    value: Callable[[Box, Session], Any]
    # Method and parameters for a new value.
    change: Callable[[Box, Session, Any], tuple[str, dict[str, Any]]]
    # True while the setting can be changed.
    holds: Always = of_local
    # False: the method has no session.
    has_session: bool = True
