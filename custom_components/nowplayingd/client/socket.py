"""One WebSocket to nowplaying-web."""

from __future__ import annotations

import asyncio
import socket

import aiohttp

from .access import Access
from .address import BoxAddress
from .connection import Connection, Notified
from .errors import BadCertificate, BoxError, NotABox, NotPaired, Unreachable, WrongName, reason
from .reach import reach
from .values import text

SUBPROTOCOL = "nowplaying.1"
# Seconds to wait for the answer to a handshake: a wrong token is answered late, up to eight seconds.
HANDSHAKE_TIMEOUT = 12.0
# The kernels of both machines find a dead peer without waking the programs: probes after 5 s of silence, 3 of them, 2 s apart.
# TCP_USER_TIMEOUT is Linux's own, which older lists of types lack.
_USER_TIMEOUT = 18
_KEEPALIVE = ((socket.TCP_KEEPIDLE, 5), (socket.TCP_KEEPINTVL, 2), (socket.TCP_KEEPCNT, 3), (_USER_TIMEOUT, 10_000))
_POLICY_VIOLATION = 1008


class BoxSocket(Connection):
    """An open WebSocket. `run` reads from it until its end."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        """Take over a WebSocket that is open."""
        super().__init__()
        self._socket = socket

    @classmethod
    async def open(
        cls, session: aiohttp.ClientSession, address: BoxAddress, access_token: str | None, *, must_prove: bool = False
    ) -> BoxSocket:
        """Connect; raises a BoxError with the reason. `must_prove`: see Access."""
        way = await Access(session, address, access_token, must_prove=must_prove).way()
        url = way.base.with_scheme("wss" if address.tls else "ws") / "rpc"
        try:
            await reach(address)
            async with asyncio.timeout(HANDSHAKE_TIMEOUT):
                opened = await session.ws_connect(url, protocols=(SUBPROTOCOL,), headers=way.headers, autoping=True)
        except aiohttp.WSServerHandshakeError as error:
            raise _refusal(error.status, address) from error
        except aiohttp.ClientConnectorCertificateError as error:
            raise BadCertificate(f"the certificate of {address.base} is not valid: {error.certificate_error}") from error
        except (aiohttp.ClientError, OSError, TimeoutError, ValueError) as error:
            raise Unreachable(f"cannot connect to {address.base}: {reason(error)}") from error
        if opened.protocol != SUBPROTOCOL:
            await opened.close()
            raise NotABox(f"{address.base} does not speak {SUBPROTOCOL}")
        _keep_alive(opened)
        return cls(opened)

    async def run(self, notified: Notified) -> BoxError:
        """Read until the end of the connection and return its reason. `notified` gets each notification in its order."""
        try:
            async for message in self._socket:
                if message.type == aiohttp.WSMsgType.TEXT:
                    self._take(message.data, notified)
            if self._socket.close_code == _POLICY_VIOLATION:
                return NotPaired("the box has revoked the access of this device")
            return Unreachable(f"the box has ended the connection ({self._socket.close_code})")
        except (aiohttp.ClientError, OSError) as error:
            return Unreachable(f"the connection failed: {reason(error)}")
        finally:
            self._fail_calls()

    async def close(self) -> None:
        """Close the connection; calls without an answer fail."""
        self._fail_calls()
        await self._socket.close()

    async def _send(self, line: str) -> None:
        """Send a text; raises ConnectionError if the connection has ended."""
        try:
            await self._socket.send_str(line)
        except (aiohttp.ClientError, RuntimeError) as error:
            raise ConnectionError(reason(error)) from error


def _refusal(status: int, address: BoxAddress) -> BoxError:
    """Return the reason of a refused handshake."""
    if status == 401:
        return NotPaired("the box does not know this device")
    if status == 421:
        return WrongName(f"the box does not accept the name {text(address.host)}")
    if status in (409, 429):
        return Unreachable("the box wants another proof")
    if status in (502, 503, 504):
        return Unreachable("nowplayingd does not run on the box")
    return NotABox(f"{address.base} refused the connection with the status {status}")


def _keep_alive(opened: aiohttp.ClientWebSocketResponse) -> None:
    """Have the kernel probe the peer."""
    connection = opened.get_extra_info("socket")
    if connection is None:
        return
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for option, value in _KEEPALIVE:
        connection.setsockopt(socket.IPPROTO_TCP, option, value)
