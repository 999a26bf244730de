"""A player by itself: its state, its position at any time, and its commands, over one connection that comes back."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import suppress
import time
from types import TracebackType
from typing import Any

import aiohttp

from .address import DEFAULT_PORT, ROOT, BoxAddress
from .clock import BoxClock
from .connection import CALL_TIMEOUT, Connection, Notified
from .errors import BoxError, NotABox, NotPaired, Unreachable
from .http import BoxHTTP
from .link import Delays, Link
from .model import Hello, State
from .socket import BoxSocket
from .unix import UnixSocket, boot_id
from .values import mapping

# The version of the protocol that this client speaks.
PROTOCOL = 1
# Seconds between two measurements of the box's clock while a position moves: two quartz clocks part by 24 ms in them.
CLOCK_INTERVAL = 240.0
# States that wait for a reader; beyond them, the oldest is dropped.
LONGEST_BACKLOG = 1024

Connect = Callable[[], Awaitable[Connection]]


class Player:
    """Follows nowplayingd. `async with` connects; each loss of the connection is followed by attempts to connect again.

    One event loop owns it, and one task at a time reads its states. Nothing is asked between key events.
    """

    def __init__(
        self,
        connect: Connect,
        *,
        session: str | None = None,
        name: str = "aionowplayingd",
        notified: Notified | None = None,
        delays: Delays | None = None,
        closing: Callable[[], Awaitable[None]] | None = None,
        is_local: bool = False,
    ) -> None:
        """Make a player that is not connected.

        `session`: follow and command this session, not the active one. `name`: shown to other clients. `notified` gets the
        notifications that are no states. `closing` runs at the end. `is_local`: the connection is a control socket, which has no `clock.now`.
        """
        self._open, self._session, self._name, self._other, self._closing = connect, session, name, notified, closing
        self._is_local = is_local
        self._clock = BoxClock(time.monotonic)
        self._link = Link(connect, self, self._notified, delays or Delays())
        self._connection: Connection | None = None
        self._hello: Hello | None = None
        self._state: State | None = None
        self._states: deque[State] = deque(maxlen=LONGEST_BACKLOG)
        # Notifications that came before the first state of a connection was read.
        self._early: list[tuple[str, Mapping[str, Any]]] | None = None
        self._news = asyncio.Event()
        self._failure: BoxError | None = None
        self._tasks: list[asyncio.Task[None]] = []
        self._moves = asyncio.Event()
        # Done after the first attempt to connect; there is none before `async with`.
        self._first: asyncio.Future[None] | None = None

    # MARK: Ways to a player

    @classmethod
    def unix(cls, path: str | None = None, **more: Any) -> Player:
        """Return the player at a control socket; None: at the first usual one that accepts. `more`: as the initializer."""
        return cls(lambda: UnixSocket.open(path), is_local=True, **more)

    @classmethod
    def network(
        cls,
        host: str,
        port: int = DEFAULT_PORT,
        *,
        access_token: str | None = None,
        tls: bool = False,
        verify: bool = True,
        path: str = ROOT,
        **more: Any,
    ) -> Player:
        """Return the player at a nowplaying-web. `access_token`: from `pair`; `path`: `base-path`; `more`: as the initializer.

        Raises ValueError for an invalid path.
        """
        address = BoxAddress(host, port, tls, verify, path=path)
        sessions: list[aiohttp.ClientSession] = []

        async def connect() -> Connection:
            if not sessions:
                sessions.append(http_session(address))
            return await BoxSocket.open(sessions[0], address, access_token)

        async def close() -> None:
            for session in sessions:
                await session.close()

        return cls(connect, closing=close, **more)

    async def __aenter__(self) -> Player:
        """Connect; raises the reason if the player is not there."""
        self._first = asyncio.get_running_loop().create_future()
        self._tasks = [asyncio.create_task(self._link.run()), asyncio.create_task(self._keep_clock())]
        try:
            await self._first
        except BaseException:
            await self._end()
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Disconnect."""
        await self._end()

    async def _end(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._connection = None
        if self._closing is not None:
            await self._closing()

    # MARK: What plays

    @property
    def state(self) -> State:
        """The last state, also during an outage; raises Unreachable before the first one."""
        if self._state is None:
            raise Unreachable("the player was never connected")
        return self._state

    @property
    def hello(self) -> Hello | None:
        """The introduction of the daemon; None before the first connection."""
        return self._hello

    @property
    def is_connected(self) -> bool:
        """True while the state is that of the player."""
        return self._connection is not None

    @property
    def clock_error(self) -> float:
        """Seconds by which the clock of the box is wrong at most."""
        return self._clock.bound

    @property
    def position(self) -> float | None:
        """Seconds into the item that are audible now, computed here.

        None without an item, during an outage, and for a control socket that was forwarded from another machine.
        """
        now = self._clock.now()
        if now is None or not self.is_connected or self.state.item is None:
            return None
        return self.state.anchor.position(now, self.state.duration)

    async def changed(self, timeout: float | None = None) -> State | None:
        """Return the next state, the first at once; None after `timeout` seconds without one.

        A new connection begins with a state whose cause is `snapshot`. Raises NotPaired if the player refuses this client.
        """
        with suppress(TimeoutError):
            async with asyncio.timeout(timeout):
                while not self._states:
                    if self._failure is not None:
                        raise self._failure
                    self._news.clear()
                    await self._news.wait()
        return self._states.popleft() if self._states else None

    async def states(self) -> AsyncIterator[State]:
        """Yield the states from the present one on, one for each key event. Raises as `changed`."""
        while True:
            if (state := await self.changed()) is not None:
                yield state

    # MARK: Commands

    async def call(
        self, method: str, parameters: Mapping[str, Any] | None = None, *, timeout: float | None = CALL_TIMEOUT
    ) -> Any:
        """Call a method of nowplayingd-protocol(7); raises CallError for a refusal, Unreachable without a connection."""
        if self._connection is None:
            raise Unreachable("the player is not connected")
        return await self._connection.call(method, parameters, timeout=timeout)

    async def play(self, uri: str | None = None, position: float | None = None) -> None:
        """Play or resume; with a file or an address, replace the queue by it."""
        await self._command("play", uri=uri, position=position)

    async def pause(self) -> None:
        """Pause; `play` resumes with the next sample."""
        await self._command("pause")

    async def toggle(self) -> None:
        """Pause if playing, else play."""
        await self._command("togglePlayPause")

    async def stop(self) -> None:
        """Stop; the item stays current."""
        await self._command("stop")

    async def next(self) -> None:
        """Go to the next item."""
        await self._command("nextTrack")

    async def previous(self) -> None:
        """Restart the item, or go to the one before."""
        await self._command("previousTrack")

    async def seek(self, position: float) -> None:
        """Go to a position of the item, in seconds."""
        await self._command("changePlaybackPosition", position=position)

    async def set_volume(self, volume: float | None = None, *, muted: bool | None = None) -> None:
        """Set the volume, from 0 to 1, or mute."""
        await self._command("volume.set", volume=volume, muted=muted)

    async def add(self, *uris: str, next: bool = False, play: bool = False) -> list[int]:
        """Append files, folders or addresses to the queue, or put them after the current item; returns the ids of the items."""
        where = {"next": True} if next else {}
        answer = await self._command("queue.add", items=list(uris), **where, **({"play": True} if play else {}))
        return [one for one in answer.get("ids", []) if isinstance(one, int)]

    async def _command(self, method: str, **parameters: Any) -> Mapping[str, Any]:
        """Call a method with those parameters that have a value, for the session of this player."""
        given = {name: value for name, value in {**parameters, "session": self._session}.items() if value is not None}
        answer = await self.call(method, given)
        return mapping(answer)

    # MARK: Link

    async def opened(self, socket: Connection) -> None:
        """Take the whole state from a new connection."""
        hello = Hello.of(await socket.call("hello", {"client": self._name}))
        if hello.protocol > PROTOCOL:
            raise NotABox(f"the box speaks version {hello.protocol} of the protocol; update aionowplayingd")
        self._clock.forget()
        if not self._is_local:
            await self._measure(socket)
        self._early = []
        session = {} if self._session is None else {"session": self._session}
        answer = await socket.call("nowPlaying.subscribe", session)
        state = State.of(answer)
        if self._is_local and mapping(mapping(answer).get("anchor")).get("bootId") == boot_id():
            self._clock.be_local()
        early, self._early = self._early, None
        self._hello, self._connection = hello, socket
        self._take(state)
        for method, parameters in early:
            self._notified(method, parameters)
        if self._first is not None and not self._first.done():
            self._first.set_result(None)

    def lost(self, reason: BoxError) -> None:
        """The connection is gone, or an attempt failed."""
        self._connection, self._early = None, None
        self._moves.clear()
        if self._first is not None and not self._first.done():
            self._first.set_exception(reason)

    def refused(self, reason: NotPaired) -> None:
        """The player does not know this client any more."""
        self.lost(reason)
        self._failure = reason
        self._news.set()

    def _notified(self, method: str, parameters: Mapping[str, Any]) -> None:
        if self._early is not None:
            self._early.append((method, parameters))
        elif method != "nowPlaying.changed":
            if self._other is not None:
                self._other(method, parameters)
        else:
            # A text that is no state says nothing about the one before.
            with suppress(NotABox):
                self._take(State.of(parameters))

    def _take(self, state: State) -> None:
        self._state = state
        self._states.append(state)
        self._news.set()
        if state.is_moving:
            self._moves.set()
        else:
            self._moves.clear()

    # MARK: Clock

    async def _measure(self, connection: Connection) -> None:
        await self._clock.synchronize(lambda sent: connection.call("clock.now", {"sent": sent}))

    async def _keep_clock(self) -> None:
        """Measure the clock of another machine again while a position moves; nothing wakes while none does."""
        while True:
            await self._moves.wait()
            await asyncio.sleep(CLOCK_INTERVAL)
            connection = self._connection
            if connection is not None and self._moves.is_set() and not self._is_local:
                # A new connection measures anew.
                with suppress(BoxError):
                    await self._measure(connection)


def http_session(address: BoxAddress) -> aiohttp.ClientSession:
    """Return a session of HTTP for an address, which accepts any certificate if the address says so."""
    return aiohttp.ClientSession(connector=None if address.verify else aiohttp.TCPConnector(ssl=False))


async def pair(
    host: str, code: str, name: str, port: int = DEFAULT_PORT, *, tls: bool = False, verify: bool = True, path: str = ROOT
) -> str:
    """Trade a code of `nowplayingctl pair` for the access token of this device; raises PairingRefused for a wrong one."""
    address = BoxAddress(host, port, tls, verify, path=path)
    async with http_session(address) as session:
        return (await BoxHTTP(session, address, None).pair(code, name)).token
