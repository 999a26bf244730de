"""Music Assistant's provider "MPD Players", as a test of clients.py: its two connections, in its order, with its client. The settings
are those of docs/music-assistant.md; its streams are endless, and so are those of the server here."""
import asyncio
import contextlib
import http.server
import pathlib
import re
import socket
import struct
import subprocess
import threading
import time

import mpd
import mpd.asyncio

PATIENCE = 20
DOCUMENT = pathlib.Path(__file__).parents[2] / "docs/music-assistant.md"


class Endless(http.server.BaseHTTPRequestHandler):
    """A stream without a length and without an end, at twice its rate; `/bell` is a file of half a second."""

    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Type", "audio/wav")
        self.end_headers()
        seconds = 0.5 if self.path == "/bell" else None
        size = 0xFFFFFFFF if seconds is None else int(2 * 8000 * seconds)
        head = b"RIFF" + struct.pack("<I", min(0xFFFFFFFF, size + 36)) + b"WAVEfmt " + struct.pack("<IHHIIHH", 16, 1, 1, 8000, 16000, 2, 16)
        with contextlib.suppress(OSError):
            self.wfile.write(head + b"data" + struct.pack("<I", size))
            if seconds is not None:
                self.wfile.write(bytes(size))
                return
            while not self.server.is_over.wait(0.25):
                self.wfile.write(bytes(8000))

    def log_message(self, *_):
        pass


@contextlib.contextmanager
def streams():
    """The address of a server of such streams."""
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Endless) as server:
        server.is_over = threading.Event()
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.is_over.set()
            server.shutdown()
            thread.join()


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def settings_of_the_document():
    """The block of the document, its password, and its commands for a shell."""
    text = DOCUMENT.read_text()
    block, = re.findall(r"^```ini\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    password = re.search(r"^password = (\w+)@", block, re.MULTILINE)[1]
    looks = re.findall(r"^mpc --host=(\w+)@kitchen.lan status$", text, re.MULTILINE)
    assert looks == [password], looks
    players, = re.findall(r"^```text\n(.*?)\n```", text, re.DOTALL | re.MULTILINE)
    return block, password, [int(one.rsplit(":", 1)[1]) for one in players.split(", ")]


class Player:
    """One player of Music Assistant: a connection for commands, and one that waits in idle."""

    def __init__(self, port, password):
        self.port, self.password, self.changes, self.status = port, password, [], {}

    async def __aenter__(self):
        self.client, self.idler = mpd.asyncio.MPDClient(), mpd.asyncio.MPDClient()
        # The client sends `idle` by itself a tenth of a second after a command. A command in that very turn mixes its answers up.
        self.client.IMMEDIATE_COMMAND_TIMEOUT = 10 * PATIENCE
        for one in (self.client, self.idler):
            await one.connect("127.0.0.1", self.port)
            await one.password(self.password)
        self.status = await self.client.status()
        self.task = asyncio.create_task(self.follow())
        return self

    async def __aexit__(self, *_):
        self.task.cancel()
        self.client.disconnect()
        self.idler.disconnect()

    async def follow(self):
        async for names in self.idler.idle():
            if {"player", "mixer", "playlist"} & set(names):
                self.changes += names
                self.status = await self.client.status()

    async def play_media(self, address):
        await self.client.clear()
        await self.client.add(address)
        await self.client.play(0)

    async def until(self, **wanted):
        """Wait until the followed status has these values: no question is asked but at a change."""
        end = time.monotonic() + PATIENCE
        while any(self.status.get(key) != value for key, value in wanted.items()):
            assert time.monotonic() < end, f"not {wanted}: {self.status}, {self.changes}"
            await asyncio.sleep(0.005)


def test_music_assistant(house):
    """Each line of the document, and the provider's sequence at both ports."""
    block, password, players = settings_of_the_document()
    ports = {number: free_port() for number in players}
    assert list(ports) == [6600, 6601]
    lines = block
    for number, port in ports.items():
        # Machines on the network are those of this one here; the kernel names their user, as the daemon's own.
        lines = lines.replace(f"*:{number}\n", f"127.0.0.1:{port}\n")
    assert "*" not in lines
    settings = house.folder / "assistant.conf"
    settings.write_text(lines + "local-permissions = none\n")
    for words in (block, settings.read_text()):
        checked = house.folder / "checked.conf"
        checked.write_text(words)
        subprocess.run([house.programs / "nowplaying-mpd", "--config", checked, "--check-config"], env=house.environment, check=True,
                       capture_output=True)
    house.start(house.programs / "nowplaying-mpd", "--socket", f"{house.folder}/control.sock", "--config", settings)
    end = time.monotonic() + PATIENCE
    while True:
        with contextlib.suppress(OSError):
            socket.create_connection(("127.0.0.1", ports[6600])).close()
            break
        assert time.monotonic() < end, "nowplaying-mpd does not listen"
        time.sleep(0.02)
    look = lambda host: subprocess.run(["mpc", f"--host={host}", f"--port={ports[6600]}", "status"], capture_output=True, text=True,
                                       env={"PATH": house.environment["PATH"]})
    assert look(f"{password}@127.0.0.1").returncode == 0
    # Without the password there is no right at all.
    assert "permission" in look("127.0.0.1").stderr, look("127.0.0.1")
    with streams() as server:
        asyncio.run(asyncio.wait_for(talk(ports, password, server), 3 * PATIENCE))


async def talk(ports, password, server):
    async with Player(ports[6600], password) as box, Player(ports[6601], password) as voice:
        await box.play_media(f"{server}/stream.wav")
        await box.until(state="play", playlistlength="1")
        status = await box.client.status()
        assert "duration" not in status and status["song"] == "0", status
        song = await box.client.currentsong()
        assert song["file"] == f"{server}/stream.wav", song
        end = time.monotonic() + PATIENCE
        while float((status := await box.client.status())["elapsed"]) <= 0:
            assert time.monotonic() < end, status
        # Its stream has no index.
        try:
            await box.client.seekcur(30)
            raise AssertionError("an endless stream was seekable")
        except mpd.CommandError as error:
            assert "seekable" in str(error), error
        await box.client.pause(1)
        await box.until(state="pause")
        await box.client.pause(0)
        await box.until(state="play")
        await box.client.setvol(35)
        await box.until(volume="35")
        # An announcement: the music plays on.
        await voice.play_media(f"{server}/bell")
        await voice.until(state="play")
        assert (await box.client.status())["state"] == "play"
        assert (await box.client.currentsong())["file"] == f"{server}/stream.wav"
        await voice.until(state="stop")
        assert (await box.client.status())["state"] == "play" and (await box.client.status())["volume"] == "35"
        # The next item of Music Assistant is another stream.
        await box.play_media(f"{server}/next.wav")
        await box.until(state="play", playlistlength="1")
        assert (await box.client.currentsong())["file"] == f"{server}/next.wav"
        await box.client.stop()
        await box.until(state="stop")
        assert {"player", "mixer", "playlist"} <= set(box.changes), box.changes
        # The rights of this password end here.
        refused = [("save", "list"), ("enableoutput", 0), ("sticker_set", "song", "a.flac", "name", "value")]
        for name, *words in refused:
            try:
                await getattr(box.client, name)(*words)
                raise AssertionError(f"{name} was allowed")
            except mpd.CommandError as error:
                assert error.errno is mpd.FailureResponseCode.PERMISSION, error
