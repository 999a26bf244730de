"""Follows a box: one connection, all sessions, and no polling."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from enum import Enum, auto
import logging
import time
from typing import Any

from homeassistant.config_entries import ConfigEntry
from homeassistant.core import CALLBACK_TYPE, HassJob, HomeAssistant, callback
from homeassistant.exceptions import ConfigEntryAuthFailed, ConfigEntryNotReady
from homeassistant.helpers import device_registry as dr
from homeassistant.helpers.aiohttp_client import async_get_clientsession
from homeassistant.helpers.dispatcher import async_dispatcher_send
from homeassistant.helpers.event import async_call_later

from .client import (
    BoxClock,
    BoxError,
    BoxHTTP,
    BoxSocket,
    Connection,
    Delays,
    Hello,
    Link,
    NotABox,
    NotItsAddress,
    NotPaired,
    Output,
    State,
    Unreachable,
)
from .const import CLIENT_NAME, CONF_UNCONFIRMED, DOMAIN, PROTOCOL
from .data import access_token, address
from .lists import Lists, together
from .repairs import show_issues
from .session import Session

_LOGGER = logging.getLogger(__name__)

# Seconds between two measurements of the box's clock while a position moves: two quartz clocks part by 24 ms in them.
CLOCK_INTERVAL = 240.0
MOST_LANGUAGES = 16


class Change(Enum):
    """The kind of news for the listeners of a box."""

    AVAILABILITY = auto()
    # A session has published a state.
    STATE = auto()
    # The commands of a session have changed.
    COMMANDS = auto()
    # Sessions were opened or closed, or another one is active.
    SESSIONS = auto()
    OUTPUTS = auto()
    # The clock of the box was measured.
    CLOCK = auto()
    # An announcement of this client has ended.
    ANNOUNCEMENT = auto()


Listener = Callable[[Change, State | None], None]


def signal(entry_id: str) -> str:
    """Return the name of the signal of a box, which carries the box, the change and the state."""
    return f"{DOMAIN}_{entry_id}"


class NewerProtocol(BoxError):
    """The box speaks a later protocol than this integration."""


class Box:
    """The integration's copy of a box. The event loop of Home Assistant owns it."""

    def __init__(self, hass: HomeAssistant, entry: ConfigEntry) -> None:
        """Make a box that is not followed; `start` connects."""
        self.hass = hass
        self.entry = entry
        self.address = address(entry)
        self.http = BoxHTTP(async_get_clientsession(hass, self.address.verify), self.address, access_token(entry))
        self.clock = BoxClock(time.monotonic)
        self.hello: Hello | None = None
        self._lists = Lists(lambda *words: self.call(*words))
        self.is_available = False
        # Announcements of one device play one after the other.
        self.announcing = asyncio.Lock()
        self._socket: Connection | None = None
        self._listeners: list[Listener] = []
        self._first: asyncio.Future[None] = hass.loop.create_future()
        self._stale: set[Change] = set()
        self._refreshing: asyncio.Task[None] | None = None
        self._clock_timer: CALLBACK_TYPE | None = None
        self._was_logged = False
        self._has_asked = False
        self._link = Link(self._connect, self, self._notified, Delays())

    # MARK: Life

    async def start(self) -> None:
        """Connect; raises the reason if the box is not there. From then on the box is followed until the entry is unloaded."""
        task = self.entry.async_create_background_task(self.hass, self._link.run(), f"{DOMAIN} {self.address.host}")
        try:
            await self._first
        except BoxError as error:
            task.cancel()
            if isinstance(error, NotPaired):
                raise ConfigEntryAuthFailed(
                    str(error), translation_domain=DOMAIN, translation_key="not_paired"
                ) from error
            raise ConfigEntryNotReady(
                str(error),
                translation_domain=DOMAIN,
                translation_key="not_ready",
                translation_placeholders={"reason": str(error)},
            ) from error
        self.entry.async_on_unload(self._stop_clock)

    def wake(self) -> None:
        """Connect at once: the box has announced itself."""
        self._link.wake()

    @callback
    def listen(self, listener: Listener) -> CALLBACK_TYPE:
        """Call `listener` at each change. Returns the end of listening."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    @property
    def controls(self) -> bool:
        """True if this device may change anything."""
        return self.hello is not None and self.hello.controls

    @property
    def sessions(self) -> Mapping[str, Session]:
        """The sessions by their names."""
        return self._lists.sessions

    @property
    def active_name(self) -> str | None:
        """The name of the active session."""
        return self._lists.active_name

    @property
    def outputs(self) -> list[Output]:
        """The outputs of the box."""
        return self._lists.outputs

    @property
    def has_library(self) -> bool:
        """True if the library ran at the last look."""
        return self._lists.has_library

    @property
    def active(self) -> Session | None:
        """The active session."""
        return self.sessions.get(self.active_name or "")

    def wall(self, instant: float) -> float | None:
        """Return the Unix time of this machine at an instant of the box's clock."""
        now = self.clock.now()
        return None if now is None else time.time() + instant - now

    async def call(
        self, method: str, parameters: Mapping[str, Any] | None = None, *, timeout: float | None = 10.0
    ) -> Any:
        """Call a method of the box; raises a BoxError."""
        if self._socket is None:
            raise Unreachable("the box is not connected")
        return await self._socket.call(method, parameters, timeout=timeout)

    @callback
    def announced(self) -> None:
        """An announcement of this client has ended."""
        self._report(Change.ANNOUNCEMENT)

    async def refresh_library(self) -> None:
        """Look if the library runs: it may have started after the connection."""
        had_library = self.has_library
        await self._lists.load_library()
        if self.has_library != had_library:
            self._report(Change.COMMANDS)

    @callback
    def _show_version(self, version: str) -> None:
        """Keep the version of the device: the box may have been updated."""
        registry = dr.async_get(self.hass)
        device = registry.async_get_device(identifiers={(DOMAIN, self.entry.entry_id)})
        if device is not None and device.sw_version != version:
            registry.async_update_device(device.id, sw_version=version)

    # MARK: Link

    async def _connect(self) -> BoxSocket:
        session = async_get_clientsession(self.hass, self.address.verify)
        return await BoxSocket.open(session, self.address, access_token(self.entry))

    async def opened(self, socket: Connection) -> None:
        """Take the whole state from a new connection."""
        hello = Hello.of(await socket.call("hello", {"client": CLIENT_NAME}))
        if hello.protocol > PROTOCOL:
            show_issues(self.hass, self.entry, hello)
            raise NewerProtocol(f"the box speaks version {hello.protocol} of the protocol; update the integration")
        self.clock.forget()
        self._socket = socket
        await together(self.clock.synchronize(lambda sent: socket.call("clock.now", {"sent": sent})), self._follow(socket))
        self.hello = hello
        show_issues(self.hass, self.entry, hello)
        self._show_version(hello.version)
        self._become_available()

    async def _follow(self, socket: Connection) -> None:
        """Subscribe to the states, and load the lists that they do not contain."""
        await socket.call("nowPlaying.subscribe", {"session": "*", "languages": self._languages})
        await self._lists.load()

    @property
    def _languages(self) -> list[str]:
        return [self.hass.config.language][:MOST_LANGUAGES]

    @callback
    def lost(self, reason: BoxError) -> None:
        """Mark the box as unavailable. The log has it once."""
        self._socket = None
        if isinstance(reason, NotItsAddress) and not self._has_asked:
            # The owner may confirm the address. The attempts continue: another machine may have it for a moment.
            self._has_asked = True
            self.entry.async_start_reauth(self.hass, data={CONF_UNCONFIRMED: True})
        if not self._first.done():
            self._first.set_exception(reason)
            return
        if not self._was_logged:
            self._was_logged = True
            _LOGGER.warning("%s is unavailable: %s", self.entry.title, reason)
        if self.is_available:
            self.is_available = False
            self._stop_clock()
            self._report(Change.AVAILABILITY)

    @callback
    def refused(self, reason: NotPaired) -> None:
        """Ask for pairing again."""
        self.lost(reason)
        if self._first.done() and self._first.exception() is None:
            self.entry.async_start_reauth(self.hass)

    @callback
    def _become_available(self) -> None:
        if self._was_logged:
            self._was_logged = False
            _LOGGER.warning("%s is available again", self.entry.title)
        self.is_available = True
        self._has_asked = False
        if not self._first.done():
            self._first.set_result(None)
        self._report(Change.AVAILABILITY)
        self._report(Change.SESSIONS)
        self._begin_refresh()
        self._schedule_clock()

    @callback
    def _notified(self, method: str, parameters: Mapping[str, Any]) -> None:
        if method != "nowPlaying.changed":
            return
        try:
            state = State.of(parameters)
        except NotABox as error:
            _LOGGER.debug("Ignored a state: %s", error)
            return
        session = self._lists.take(state)
        if session is None:
            self._refresh(Change.SESSIONS)
        elif session.take(state):
            if session.wanted_key != session.commands_key:
                self._refresh(Change.COMMANDS)
            self._report(Change.STATE, state)
        if "session" in state.causes:
            self._refresh(Change.SESSIONS)
        if not {"outputs", "route"}.isdisjoint(state.causes):
            self._refresh(Change.OUTPUTS)
        self._schedule_clock()

    @callback
    def _report(self, change: Change, state: State | None = None) -> None:
        # Nothing is shown before the whole state is there.
        if self.is_available or change is Change.AVAILABILITY:
            for listener in list(self._listeners):
                try:
                    listener(change, state)
                except Exception:
                    # An entity that fails must not end the connection of all others.
                    _LOGGER.exception("A listener of %s failed at %s", self.entry.title, change.name)
            # Triggers outlive this object: the entry may be loaded again.
            async_dispatcher_send(self.hass, signal(self.entry.entry_id), self, change, state)

    # MARK: Lists that the states do not carry

    @callback
    def _refresh(self, change: Change) -> None:
        self._stale.add(change)
        self._begin_refresh()

    @callback
    def _begin_refresh(self) -> None:
        # A new connection loads everything first, and then the changes since: one load at a time.
        if self._stale and self.is_available and (self._refreshing is None or self._refreshing.done()):
            self._refreshing = self.entry.async_create_background_task(
                self.hass, self._refresh_all(), f"{DOMAIN} refresh {self.address.host}"
            )

    async def _refresh_all(self) -> None:
        loads = {
            Change.SESSIONS: self._lists.load_sessions,
            Change.COMMANDS: self._lists.load_commands,
            Change.OUTPUTS: self._lists.load_outputs,
        }
        while self._stale:
            change = self._stale.pop()
            try:
                await loads[change]()
            except BoxError as error:
                # A new connection loads everything.
                _LOGGER.debug("Could not load %s: %s", change.name, error)
            else:
                self._report(change)

    # MARK: Clock

    @callback
    def _schedule_clock(self) -> None:
        moves = self.is_available and any(session.state.is_moving for session in self.sessions.values())
        if not moves:
            self._stop_clock()
        elif self._clock_timer is None:
            self._clock_timer = async_call_later(
                self.hass, CLOCK_INTERVAL, HassJob(self._clock_is_due, cancel_on_shutdown=True)
            )

    async def _clock_is_due(self, _: object) -> None:
        self._clock_timer = None
        try:
            await self.clock.synchronize(lambda sent: self.call("clock.now", {"sent": sent}))
        except BoxError as error:
            _LOGGER.debug("The clock was not measured: %s", error)
        else:
            self._report(Change.CLOCK)
        self._schedule_clock()

    @callback
    def _stop_clock(self) -> None:
        if self._clock_timer is not None:
            self._clock_timer()
            self._clock_timer = None
