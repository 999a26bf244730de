"""One WebSocket to nowplaying-web: calls, their answers, and notifications."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
import json
import socket
from typing import Any

import aiohttp

from .access import Access
from .address import BoxAddress
from .errors import BadCertificate, BoxError, CallError, NotABox, NotPaired, Unreachable, WrongName, reason
from .reach import reach
from .values import mapping, text, token

SUBPROTOCOL = "nowplaying.1"
# Seconds to wait for the answer to a handshake: a wrong token is answered late, up to eight seconds.
HANDSHAKE_TIMEOUT = 12.0
# Seconds to wait for the answer to a call.
CALL_TIMEOUT = 10.0
# The kernels of both machines find a dead peer without waking the programs: probes after 5 s of silence, 3 of them, 2 s apart.
_KEEPALIVE = ((socket.TCP_KEEPIDLE, 5), (socket.TCP_KEEPINTVL, 2), (socket.TCP_KEEPCNT, 3), (socket.TCP_USER_TIMEOUT, 10_000))
_POLICY_VIOLATION = 1008

Notified = Callable[[str, Mapping[str, Any]], None]


class BoxSocket:
    """An open WebSocket. `run` reads from it until its end."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        """Take over a WebSocket that is open."""
        self._socket = socket
        self._calls: dict[int, asyncio.Future[Any]] = {}
        self._last_id = 0

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

    async def call(
        self, method: str, parameters: Mapping[str, Any] | None = None, *, timeout: float | None = CALL_TIMEOUT
    ) -> Any:
        """Send a request and return the result; raises CallError for a refusal, Unreachable if no answer comes."""
        self._last_id += 1
        number = self._last_id
        answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._calls[number] = answer
        try:
            async with asyncio.timeout(timeout):
                request = {"jsonrpc": "2.0", "id": number, "method": method, "params": dict(parameters or {})}
                await self._socket.send_str(json.dumps(request))
                return await answer
        except TimeoutError as error:
            raise Unreachable(f"the box did not answer {method} within {timeout} s") from error
        except (ConnectionError, aiohttp.ClientError, RuntimeError) as error:
            raise Unreachable(f"the connection ended before {method} was sent") from error
        finally:
            self._calls.pop(number, None)

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

    def _take(self, line: str, notified: Notified) -> None:
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):
            return
        message = mapping(value)
        if (method := token(message.get("method"), 64)) is not None:
            notified(method, mapping(message.get("params")))
            return
        number = message.get("id")
        answer = self._calls.get(number) if isinstance(number, int) else None
        if answer is None or answer.done():
            return
        if "error" in message:
            answer.set_exception(CallError.of(message["error"]))
        else:
            answer.set_result(message.get("result"))

    def _fail_calls(self) -> None:
        for answer in self._calls.values():
            if not answer.done():
                answer.set_exception(Unreachable("the connection to the box has ended"))


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
