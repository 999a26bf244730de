"""The common part of the entities beside the player, each of which has a description."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from homeassistant.core import callback
from homeassistant.helpers.entity import EntityDescription

from .coordinator import Box
from .entity import BoxEntity
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


class DescribedEntity(BoxEntity):
    """An entity of the active session with a description."""

    def __init__(self, box: Box, description: EntityDescription) -> None:
        """Make an entity by its description."""
        super().__init__(box, description.key)
        self.entity_description = description

    @callback
    def update_attributes(self) -> None:
        """Show the active session."""
        session = self.session
        assert session is not None
        self.show(session)

    @callback
    def show(self, session: Session) -> None:
        """Take the attributes from a session."""


class SettingEntity(DescribedEntity):
    """An entity that shows and changes a setting."""

    def __init__(self, box: Box, description: EntityDescription, setting: Setting) -> None:
        """Make an entity by its description and its setting."""
        super().__init__(box, description)
        self._setting = setting

    @callback
    def show(self, session: Session) -> None:
        """Take the value of the setting."""
        self._attr_available = self._setting.holds(self.box, session)
        self.show_value(self._setting.value(self.box, session))

    @callback
    def show_value(self, value: Any) -> None:
        """Take the value into the attribute of the platform."""

    async def change(self, value: Any) -> None:
        """Change the setting."""
        session = self.session
        assert session is not None
        method, parameters = self._setting.change(self.box, session, value)
        await (self.call if self._setting.has_session else self.call_box)(method, parameters)
