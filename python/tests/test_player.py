"""A player beside real programs: both ways to it, the position, commands, errors, and outages."""

from __future__ import annotations

import asyncio
import os
import pathlib
import re
import sys
import tempfile
import time
from typing import Any
import unittest
import unittest.mock

ROOT = pathlib.Path(__file__).parents[2]
sys.path[:0] = [str(ROOT / "python/src"), str(ROOT / "Tests/HomeAssistant")]

from aionowplayingd import CallError, NotABox, NotPaired, PairingRefused, Player, State, Unreachable, pair  # noqa: E402
from aionowplayingd.unix import socket_paths  # noqa: E402
from house import House, make_music  # noqa: E402

PROGRAMS = os.environ.get("NOWPLAYING_PROGRAMS", str(ROOT / "build"))
# A bound of the position that two readings on one machine may differ by, without the time between them.
CLOSE = 0.002


def setUpModule() -> None:
    """Start a box for all tests."""
    folder = pathlib.Path(tempfile.mkdtemp())
    (folder / "album").mkdir()
    make_music(folder / "album")
    Box.house = House(PROGRAMS, folder / "box", folder / "album")


def tearDownModule() -> None:
    """End its processes."""
    Box.house.close()


class Box(unittest.IsolatedAsyncioTestCase):
    """Tests beside the box."""

    house: House

    def setUp(self) -> None:
        self.house.fresh()

    @property
    def socket(self) -> str:
        return f"{self.house.folder}/control.sock"

    async def until(self, player: Player, cause: str) -> State:
        """Return the next state of this cause."""
        async with asyncio.timeout(20):
            async for state in player.states():
                if cause in state.causes:
                    return state
        raise AssertionError(cause)

    async def token(self, role: str = "control") -> str:
        """Pair a device."""
        return await pair("127.0.0.1", await asyncio.to_thread(self.house.code, role), "a test", self.house.port)

    async def follow(self, player: Player) -> None:
        """Command a player, and compare its position with that of the daemon's own anchor."""
        assert player.hello is not None and player.hello.protocol == 1
        first = await player.changed()
        assert first is not None and first.cause == "snapshot" and player.is_connected
        self.assertIsNone(await player.changed(timeout=0.01))
        await player.play()
        state = await self.until(player, "play")
        assert state.item is not None and state.item.title == "First 1"
        await player.seek(30)
        await self.until(player, "seek")
        anchor = self.house.state()["anchor"]
        before = time.monotonic()
        position = player.position
        after = time.monotonic()
        assert position is not None
        speed = anchor["rate"] * (1 + anchor.get("skew", 0))
        low, high = (anchor["elapsed"] + speed * max(0.0, now - anchor["monotonic"]) for now in (before, after))
        self.assertLess(low - CLOSE, position)
        self.assertLess(position, high + CLOSE)
        await player.next()
        self.assertEqual((await self.until(player, "track")).item.title, "First 2")
        await player.previous()
        await self.until(player, "track")
        await player.set_volume(0.25, muted=True)
        state = await self.until(player, "volume")
        self.assertEqual((state.volume, state.muted), (0.25, True))
        await player.pause()
        state = await self.until(player, "pause")
        self.assertFalse(state.is_moving)
        self.assertEqual(player.position, player.position)
        await player.toggle()
        await self.until(player, "play")
        ids = await player.add(self.house.songs[0], next=True)
        self.assertEqual(len(ids), 1)
        await player.stop()
        self.assertEqual((await self.until(player, "stop")).state, "stopped")
        with self.assertRaises(CallError) as refused:
            await player.seek(1e6)
        self.assertEqual((refused.exception.status, refused.exception.reason), ("commandFailed", "outOfRange"))
        with self.assertRaises(CallError) as refused:
            await player.call("noSuchMethod")
        self.assertEqual(refused.exception.code, -32601)

    async def test_unix(self) -> None:
        """At the control socket the clock has no error."""
        async with Player.unix(self.socket) as player:
            await self.follow(player)
            self.assertEqual(player.clock_error, 0)
        self.assertIsNone(player.position)

    async def test_network(self) -> None:
        """At nowplaying-web with a token, which never crosses this network without TLS."""
        async with Player.network("127.0.0.1", self.house.port, access_token=await self.token()) as player:
            await self.follow(player)
            self.assertLess(player.clock_error, 0.05)

    async def test_path(self) -> None:
        """At nowplaying-web below a path: the code, the proofs and the connection."""
        self.addCleanup(self.restart_web, "")
        await asyncio.to_thread(self.restart_web, "base-path = /home/music\n")
        code, port = await asyncio.to_thread(self.house.code), self.house.port
        with self.assertRaisesRegex(NotABox, f":{port}/pair was refused with the status 404"):
            await pair("127.0.0.1", code, "a test", port)
        token = await pair("127.0.0.1", code, "a test", port, path="/home/music/")
        async with Player.network("127.0.0.1", port, access_token=token, path="/home/music") as player:
            await self.follow(player)
        for path in ("home", "", "/home//music", "/home/../music", "/home music", "/\r\n"):
            with self.assertRaisesRegex(ValueError, "invalid path .* such as /music"):
                Player.network("127.0.0.1", port, access_token=token, path=path)
            with self.assertRaisesRegex(ValueError, "invalid path .* such as /music"):
                await pair("127.0.0.1", code, "a test", port, path=path)

    def restart_web(self, more: str) -> None:
        """Start nowplaying-web again, with more lines in its section."""
        self.house.end("nowplaying-web")
        self.house.begin_web(more)

    async def test_session(self) -> None:
        """A player of a session commands that one alone."""
        await asyncio.to_thread(self.house.call, "session.create", name="alarm", policy="mix")
        async with Player.unix(self.socket, session="alarm") as player:
            self.assertEqual(player.state.session, "alarm")
            await player.play(self.house.songs[2], position=10)
            state = await self.until(player, "play")
            self.assertEqual(state.session, "alarm")
            self.assertGreaterEqual(player.position or 0, 10)
            self.assertEqual((await asyncio.to_thread(self.house.state, "main"))["state"], "stopped")

    async def test_other_notifications(self) -> None:
        """Notifications that are no states go to their own reader."""
        seen: asyncio.Queue[tuple[str, Any]] = asyncio.Queue()
        async with Player.unix(self.socket, notified=lambda *words: seen.put_nowait(words)) as player:
            await player.call("feedback.subscribe")
            await player.play(self.house.songs[0])
            await player.call("rating", {"rating": 4})
            async with asyncio.timeout(20):
                while (await seen.get())[0] != "feedback.changed":
                    pass

    async def test_refusals(self) -> None:
        """A wrong way raises its reason at once."""
        with self.assertRaisesRegex(Unreachable, "cannot connect to /nonexistent/a.sock: .*No such file"):
            async with Player.unix("/nonexistent/a.sock"):
                self.fail("connected")
        with self.assertRaises(NotPaired):
            async with Player.network("127.0.0.1", self.house.port, access_token="A" * 43):
                self.fail("connected")
        with self.assertRaises(PairingRefused):
            await pair("127.0.0.1", "00000000", "a test", self.house.port)
        with self.assertRaises(Unreachable):
            _ = Player.unix(self.socket).state
        with self.assertRaises(Unreachable):
            await Player.unix(self.socket).play()

    async def test_read_only(self) -> None:
        """A device that may only read gets an error from each command."""
        async with Player.network("127.0.0.1", self.house.port, access_token=await self.token("read")) as player:
            with self.assertRaises(CallError) as refused:
                await player.play()
            self.assertEqual(refused.exception.status, "denied")

    async def test_revoked(self) -> None:
        """A device that is revoked gets the reason, and no further attempt follows."""
        async with Player.network("127.0.0.1", self.house.port, access_token=await self.token()) as player:
            for device in (await asyncio.to_thread(self.house.call, "devices.list"))["devices"]:
                await asyncio.to_thread(self.house.call, "devices.revoke", id=device["id"])
            with self.assertRaises(NotPaired):
                async with asyncio.timeout(20):
                    async for _ in player.states():
                        pass
            self.assertFalse(player.is_connected)

    async def test_outage(self) -> None:
        """The states continue with a snapshot after the daemon was killed; a call in between is an error."""
        async with Player.unix(self.socket) as player:
            await player.play()
            await self.until(player, "play")
            instance = player.state.instance
            await asyncio.to_thread(self.house.end, "nowplayingd")
            async with asyncio.timeout(20):
                while player.is_connected:
                    await asyncio.sleep(0)
            self.assertIsNone(player.position)
            with self.assertRaises(Unreachable):
                await player.pause()
            await asyncio.to_thread(self.house.begin_daemon)
            state = await self.until(player, "snapshot")
            while state.instance == instance:
                state = await self.until(player, "snapshot")
            assert player.is_connected and state.item is not None
            await player.pause()

    async def test_programs(self) -> None:
        """The example draws positions that grow, with a new line at key events alone; the program of the README prints states."""
        environment = {**os.environ, "PYTHONPATH": str(ROOT / "python/src"), "NOWPLAYING_SOCKET": self.socket}

        async def start(*words: str) -> asyncio.subprocess.Process:
            pipe = asyncio.subprocess.PIPE
            return await asyncio.create_subprocess_exec(sys.executable, "-B", "-u", *words, env=environment, stdout=pipe)

        async def read_until(process: asyncio.subprocess.Process, pattern: str) -> str:
            text = ""
            assert process.stdout is not None
            async with asyncio.timeout(20):
                while not re.search(pattern, text):
                    piece = await process.stdout.read(4096)
                    assert piece, text
                    text += piece.decode()
            return text

        example = await start(str(ROOT / "python/examples/position.py"))
        try:
            shown = await read_until(example, r"snapshot: .* 0\.000 s")
            await asyncio.to_thread(self.house.call, "play")
            shown += await read_until(example, r"(\r[a-z-]+: First 1 [0-9.]+ s){5}")
            await asyncio.to_thread(self.house.call, "pause")
            shown += await read_until(example, r"\npause: First 1 [0-9.]+ s")
        finally:
            example.kill()
            await example.communicate()
        played = [float(one) for one in re.findall(r"\r[a-z-]+: First 1 ([0-9.]+) s", shown)]
        self.assertEqual(played, sorted(set(played)))
        events = [line.partition(":")[0] for line in shown.split("\n") if line]
        self.assertEqual([one for one in events if one in ("play", "pause")], ["play", "pause"])
        document = re.findall(r"^```python\n(.*?)^```", (ROOT / "python/README.md").read_text(), re.DOTALL | re.MULTILINE)[0]
        readme = await start("-c", document)
        try:
            await read_until(readme, r"\nplay playing First 1 [0-9.]+\n")
        finally:
            readme.kill()
            await readme.communicate()

    def test_paths(self) -> None:
        """The usual sockets in their order."""
        own = f"/run/user/{os.getuid()}/nowplayingd/control.sock"
        with unittest.mock.patch.dict(os.environ, {"XDG_RUNTIME_DIR": "/tmp/x"}):
            os.environ.pop("NOWPLAYING_SOCKET", None)
            self.assertEqual(list(socket_paths()), ["/tmp/x/nowplayingd/control.sock", own, "/run/nowplayingd/control.sock"])
            os.environ["NOWPLAYING_SOCKET"] = "/tmp/y"
            self.assertEqual(list(socket_paths()), ["/tmp/y"])


if __name__ == "__main__":
    unittest.main()
