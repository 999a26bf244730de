"""Keeps a connection to the box open: opens another after each loss."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress
import itertools
import random
from typing import Protocol

from .connection import Connection, Notified
from .errors import BoxError, CallError, NotPaired


# After a socket that lasted less than these seconds, the link waits: the next one may end as fast.
SHORTEST_USE = 1.0


class LinkEvents(Protocol):
    """Follows a link."""

    async def opened(self, socket: Connection) -> None:
        """Take the whole state from a new socket; a BoxError means that the socket is of no use."""

    def lost(self, reason: BoxError) -> None:
        """The socket is gone, or an attempt failed."""

    def refused(self, reason: NotPaired) -> None:
        """The box does not know this device any more; the link makes no further attempt."""


class Delays:
    """Seconds to wait before each attempt, each a little random so that not all clients come at once."""

    def __init__(self, first: float = 0.05, longest: float = 0.25, patience: int = 1200, later: float = 1.0) -> None:
        """Make the delays of a new outage: doubled up to `longest`, and `later` after `patience` attempts."""
        self._first, self._longest, self._patience, self._later = first, longest, patience, later

    def __iter__(self) -> Iterator[float]:
        """Return the delays, without an end."""
        for count in itertools.count():
            longest = self._longest if count < self._patience else self._later
            yield min(longest, self._first * 2.0 ** min(count, 16)) * random.uniform(0.5, 1)


class Link:
    """The lasting connection to a box."""

    def __init__(
        self, connect: Callable[[], Awaitable[Connection]], events: LinkEvents, notified: Notified, delays: Delays
    ) -> None:
        """Make a link that is not open; `run` opens it."""
        self._connect, self._events, self._notified, self._delays = connect, events, notified, delays
        self._wake = asyncio.Event()

    def wake(self) -> None:
        """Try at once: the box has announced itself."""
        self._wake.set()

    async def run(self) -> None:
        """Connect, and connect again after each loss, until the box refuses this device or the task is cancelled."""
        waits = iter(self._delays)
        while True:
            reason, was_useful = await self._attempt()
            if isinstance(reason, NotPaired):
                self._events.refused(reason)
                return
            self._events.lost(reason)
            if was_useful:
                waits = iter(self._delays)
            self._wake.clear()
            with suppress(TimeoutError):
                async with asyncio.timeout(next(waits)):
                    await self._wake.wait()

    async def _attempt(self) -> tuple[BoxError, bool]:
        """Open a socket and follow it to its end. Returns the reason of the end, and True if it was of use."""
        try:
            socket = await self._connect()
        except BoxError as error:
            return error, False
        loop = asyncio.get_running_loop()
        begun = loop.time()
        reading = asyncio.create_task(socket.run(self._notified))
        try:
            try:
                await self._events.opened(socket)
            except BoxError as error:
                return (await self._ended(socket, reading, error)), False
            reason = await reading
            return reason, loop.time() - begun >= SHORTEST_USE
        finally:
            reading.cancel()
            await socket.close()

    @staticmethod
    async def _ended(socket: Connection, reading: asyncio.Task[BoxError], error: BoxError) -> BoxError:
        """Return the reason for which a new socket was of no use: the end of the connection, if that is the cause."""
        if isinstance(error, CallError):
            return error
        await socket.close()
        reason = await reading
        return reason if isinstance(reason, NotPaired) else error
