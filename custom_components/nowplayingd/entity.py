"""The common part of all entities of a box."""

from __future__ import annotations

from collections.abc import Callable, Mapping
import re
from typing import Any

from homeassistant.core import CALLBACK_TYPE, callback
from homeassistant.exceptions import HomeAssistantError, ServiceValidationError
from homeassistant.helpers.entity import Entity

from .client import BoxError, CallError, State
from .compat import DeviceInfo
from .const import DOMAIN
from .coordinator import Box, Change
from .session import Session


# Home Assistant signs the addresses of its media: a signed address gives access for a day.
_SIGNATURE = re.compile(r"authSig=[^&\s]+")


def failure(error: BoxError) -> HomeAssistantError:
    """Return the error for the caller of a service."""
    reason = _SIGNATURE.sub("authSig=…", str(error))
    placeholders = {"reason": reason}
    if isinstance(error, CallError):
        return ServiceValidationError(
            reason, translation_domain=DOMAIN, translation_key="refused", translation_placeholders=placeholders
        )
    return HomeAssistantError(
        reason, translation_domain=DOMAIN, translation_key="unreachable", translation_placeholders=placeholders
    )


class BoxEntity(Entity):
    """An entity of a box, or of one session of it."""

    _attr_has_entity_name = True
    _attr_should_poll = False

    def __init__(self, box: Box, key: str, session: str | None = None) -> None:
        """Make an entity. `session`: None follows the active session."""
        self.box = box
        self.session_name = session
        self._attr_unique_id = f"{box.entry.entry_id}-{key}"
        hello = box.hello
        self._attr_device_info = DeviceInfo(
            identifiers={(DOMAIN, box.entry.entry_id)},
            name=box.entry.title,
            manufacturer="nowplayingd",
            model="nowplayingd",
            sw_version=None if hello is None else hello.version,
            configuration_url=str(box.address.base),
        )

    @property
    def session(self) -> Session | None:
        """The session that the entity shows; None if there is none."""
        return self.box.active if self.session_name is None else self.box.sessions.get(self.session_name)

    @property
    def shown(self) -> State | None:
        """The state that the entity shows."""
        session = self.session
        return None if session is None else session.state

    @property
    def own_parameters(self) -> dict[str, Any]:
        """The parameter `session` of calls; without one the box takes the active session."""
        return {} if self.session_name is None else {"session": self.session_name}

    async def call(
        self, method: str, parameters: Mapping[str, Any] | None = None, *, timeout: float | None = 10.0
    ) -> Any:
        """Call a method of the box for this entity; raises a HomeAssistantError."""
        try:
            return await self.box.call(method, {**self.own_parameters, **(parameters or {})}, timeout=timeout)
        except BoxError as error:
            raise failure(error) from error

    async def call_box(self, method: str, parameters: Mapping[str, Any] | None = None) -> Any:
        """Call a method that has no session; raises a HomeAssistantError."""
        try:
            return await self.box.call(method, parameters)
        except BoxError as error:
            raise failure(error) from error

    async def async_added_to_hass(self) -> None:
        """Follow the box."""
        self.async_on_remove(self.box.listen(self._changed))
        self._update()

    @callback
    def _changed(self, change: Change, state: State | None) -> None:
        """Take a change, if it concerns this entity."""
        session = self.session
        if change is Change.STATE and (session is None or state is None or session.name != state.session):
            return
        if self.takes(change, state):
            self._update()
            self.async_write_ha_state()

    @callback
    def takes(self, change: Change, state: State | None) -> bool:
        """Return True if the entity has to be shown anew."""
        return change not in (Change.CLOCK, Change.ANNOUNCEMENT)

    @callback
    def _update(self) -> None:
        self._attr_available = self.box.is_available and self.session is not None
        if self._attr_available:
            self.update_attributes()

    @callback
    def update_attributes(self) -> None:
        """Compute the attributes from the copy of the box."""


@callback
def add_sessions(box: Box, add: Callable[[list[BoxEntity]], None], make: Callable[[str], BoxEntity]) -> CALLBACK_TYPE:
    """Add an entity for each present and later session. Returns a function that ends this."""
    known: set[str] = set()

    @callback
    def look(change: Change, state: State | None) -> None:
        new = box.sessions.keys() - known
        if change is Change.SESSIONS and new:
            known.update(new)
            add([make(name) for name in sorted(new)])

    look(Change.SESSIONS, None)
    return box.listen(look)
