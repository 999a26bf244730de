"""The integration's copy of the lists of a box: sessions, their commands, outputs. The states do not carry them."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
import logging
from typing import Any

from .client import CallError, Command, Output, SessionInfo, State
from .session import Session

_LOGGER = logging.getLogger(__name__)

Call = Callable[..., Awaitable[Any]]

MOST_EARLY = 64


async def together(*loads: Coroutine[Any, Any, None]) -> None:
    """Run all loads at the same time: a connection carries many calls. Raises the first error after the end of all."""
    for result in await asyncio.gather(*loads, return_exceptions=True):
        if isinstance(result, BaseException):
            raise result


class Lists:
    """The lists of a box. Each load raises a BoxError if the connection ends. The event loop of Home Assistant owns it."""

    def __init__(self, call: Call) -> None:
        """Make empty lists; `call` calls a method of the box."""
        self._call = call
        self.sessions: dict[str, Session] = {}
        self.active_name: str | None = None
        self.outputs: list[Output] = []
        self.has_library = False
        # The last states of sessions that are not loaded yet.
        self._early: dict[str, State] = {}

    def take(self, state: State) -> Session | None:
        """Keep a state that was published; returns its session, or None if that has to be loaded first."""
        session = self.sessions.get(state.session)
        if session is None and (len(self._early) < MOST_EARLY or state.session in self._early):
            self._early[state.session] = state
        return session

    async def load(self) -> None:
        """Load all lists of a new connection."""
        self.sessions.clear()
        self._early.clear()
        await together(self.load_sessions(), self.load_outputs(), self.load_library())

    async def load_sessions(self) -> None:
        """Load the sessions, the states of those that are new, and their commands."""
        found = SessionInfo.all_of(await self._call("session.list"))
        await together(*(self._load_session(info) for info in found))
        for name in self.sessions.keys() - {info.name for info in found}:
            del self.sessions[name]
        self.active_name = next((info.name for info in found if info.active), None)
        await self.load_commands()

    async def load_commands(self) -> None:
        """Load the commands of each session whose commands have changed."""
        await together(*(self._load_commands_of(session) for session in list(self.sessions.values())))

    async def load_outputs(self) -> None:
        """Load the outputs; a box may have none."""
        try:
            self.outputs = Output.all_of(await self._call("output.list"))
        except CallError as error:
            _LOGGER.debug("No outputs: %s", error)
            self.outputs = []

    async def load_library(self) -> None:
        """Look if the library runs."""
        try:
            await self._call("library.status")
        except CallError as error:
            _LOGGER.debug("No library: %s", error)
            self.has_library = False
        else:
            self.has_library = True

    async def _load_session(self, info: SessionInfo) -> None:
        known = self.sessions.get(info.name)
        if known is not None:
            known.external = info.external
            return
        try:
            state = State.of(await self._call("nowPlaying.get", {"session": info.name}))
        except CallError:
            # The session was closed in the meantime.
            return
        session = Session(info.name, state, info.external)
        # The answer and a later state may arrive together: the state is read first.
        if (early := self._early.pop(info.name, None)) is not None:
            session.take(early)
        self.sessions[info.name] = session

    async def _load_commands_of(self, session: Session) -> None:
        key = session.wanted_key
        if session.commands_key == key:
            return
        try:
            commands = Command.all_of(await self._call("commands.list", {"session": session.name}))
        except CallError as error:
            _LOGGER.debug("No commands of %s: %s", session.name, error)
            return
        session.commands, session.commands_key = commands, key
