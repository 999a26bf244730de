"""Ways to a box that are not loopback for it, and boxes that are none."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
import contextlib
import json
from typing import Any

from aiohttp import WSMsgType, web
from aiohttp.test_utils import unused_port
from house import House


class Line(str):
    """A line that is sent as it is, in place of an answer."""


class Remote:
    """A way to a box on which nobody counts as a user of its machine: each request has the header of a proxy.

    The way can end, as a network does.
    """

    def __init__(self, house: House) -> None:
        self._house = house
        self.port = 0
        self._writers: set[asyncio.StreamWriter] = set()
        self._server: asyncio.Server | None = None

    async def __aenter__(self) -> Remote:
        await self.open()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def port_for(self, line: bytes) -> int:
        """Return the port of the box for a request, by its first line."""
        return self._house.port

    async def open(self) -> None:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", self.port)
        self.port = self._server.sockets[0].getsockname()[1]

    async def close(self) -> None:
        """End the way and all connections on it."""
        assert self._server is not None
        self._server.close()
        for writer in list(self._writers):
            writer.transport.abort()
        await self._server.wait_closed()
        while self._writers:
            await asyncio.sleep(0)

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writers.add(writer)
        try:
            head = await reader.readuntil(b"\r\n\r\n")
            line, rest = head.split(b"\r\n", 1)
            there, back = await asyncio.open_connection("127.0.0.1", self.port_for(line))
            self._writers.add(back)
            back.write(line + b"\r\nX-Forwarded-For: 192.0.2.1\r\n" + rest)
            await asyncio.gather(self._pump(reader, back), self._pump(there, writer), return_exceptions=True)
            self._writers.discard(back)
            back.close()
        except (OSError, asyncio.IncompleteReadError):
            pass
        finally:
            self._writers.discard(writer)
            writer.close()

    async def _pump(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(1 << 16):
            writer.write(data)
        writer.close()


@contextlib.asynccontextmanager
async def fake_box(
    *, hello: Any = None, status: int = 101, pair: Any = None, answers: dict[str, Any] | None = None, lines: list[str] | None = None
) -> AsyncIterator[int]:
    """A server that refuses the WebSocket with a status, or answers `hello` and other methods with anything."""
    sockets: set[web.WebSocketResponse] = set()

    async def rpc(request: web.Request) -> web.StreamResponse:
        if status != 101:
            return web.Response(status=status)
        socket = web.WebSocketResponse(protocols=("nowplaying.1",))
        await socket.prepare(request)
        sockets.add(socket)
        async for message in socket:
            if message.type is not WSMsgType.TEXT:
                continue
            call = json.loads(message.data)
            found = {"hello": hello, **(answers or {})}.get(call["method"], {})
            if isinstance(found, Line):
                await socket.send_str(found)
                continue
            for line in lines or ():
                await socket.send_str(line)
            if isinstance(found, dict) and set(found) == {"error"}:
                await socket.send_json({"jsonrpc": "2.0", "id": call["id"], **found})
            else:
                await socket.send_json({"jsonrpc": "2.0", "id": call["id"], "result": found})
        return socket

    async def paired(request: web.Request) -> web.Response:
        return web.json_response(pair)

    app = web.Application()
    app.add_routes([web.get("/rpc", rpc), web.post("/pair", paired)])
    runner = web.AppRunner(app)
    await runner.setup()
    port = unused_port()
    await web.TCPSite(runner, "127.0.0.1", port).start()
    try:
        yield port
    finally:
        for socket in sockets:
            await socket.close()
        await runner.cleanup()
