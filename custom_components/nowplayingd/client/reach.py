"""Attempts to reach a box."""

from __future__ import annotations

import asyncio
import socket
from typing import Any

from .address import BoxAddress

# Seconds to wait for a connection.
CONNECT_TIMEOUT = 3.0
# Seconds from one attempt to the next while none is answered. The kernel repeats its own ever later.
CONNECT_INTERVAL = 0.25


async def reach(address: BoxAddress) -> str:
    """Connect, disconnect, and return the IP address that accepts, without a zone.

    aiohttp has no time limit for the connection of a WebSocket alone. A network that is back is found by the next attempt.
    """
    attempts: set[asyncio.Task[str]] = set()
    try:
        async with asyncio.timeout(CONNECT_TIMEOUT):
            places = await asyncio.get_running_loop().getaddrinfo(address.host, address.port, type=socket.SOCK_STREAM)
            ended: set[asyncio.Task[str]] = set()
            while not ended:
                attempts.add(asyncio.create_task(_touch(places)))
                ended, _ = await asyncio.wait(attempts, timeout=CONNECT_INTERVAL, return_when=asyncio.FIRST_COMPLETED)
            attempts -= ended
            errors = [error for one in ended if (error := one.exception()) is not None]
            if len(errors) == len(ended):
                raise errors[0]
            return next(one.result() for one in ended if one.exception() is None)
    finally:
        for attempt in attempts:
            attempt.cancel()


async def _touch(places: list[Any]) -> str:
    """Connect to the first address that accepts, disconnect, and return it. `places`: as getaddrinfo returns them."""
    reason = OSError("the name has no address")
    for family, kind, protocol, _, place in places:
        with socket.socket(family, kind, protocol) as one:
            one.setblocking(False)
            try:
                await asyncio.get_running_loop().sock_connect(one, place)
            except OSError as error:
                reason = error
            else:
                return str(place[0])
    raise reason
