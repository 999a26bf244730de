"""A box: the real daemon, library and nowplaying-web in a folder of their own, with music that has covers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
import contextlib
import json
import math
import os
import pathlib
import re
import shutil
import signal
import socket
import struct
import subprocess
import time
from typing import Any
import wave
import zlib

from waits import ProcessorWaits

PATIENCE = 20
ALBUMS = {"First": ("Ann", 3), "Second": ("Béla", 2)}
SECONDS = 60


def until(condition, name: str, seconds: float = PATIENCE):
    """Return the first true value of a condition. It blocks the event loop: for processes that a test has just begun."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            if value := condition():
                return value
        except OSError:
            pass
        time.sleep(0.02)
    raise AssertionError(f"this did not come: {name}")


def png(red: int) -> bytes:
    """Return a picture of one colour."""

    def chunk(kind: bytes, content: bytes) -> bytes:
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))

    rows = b"".join(b"\0" + bytes((red, 0, 0)) * 64 for _ in range(64))
    header = struct.pack(">IIBBBBB", 64, 64, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def sound(path: pathlib.Path, seconds: float, rate: int = 8000) -> bytes:
    """Write silence as a WAV file, and return its bytes."""
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(rate)
        file.writeframes(bytes(2 * int(rate * seconds)))
    return path.read_bytes()


def tone(path: pathlib.Path, frequency: float, seconds: float, level: float, rate: int = 16000) -> bytes:
    """Write a tone as a WAV file, and return its bytes. `level`: 1 is full scale."""
    period = [int(32767 * level * math.sin(2 * math.pi * frequency * frame / rate)) for frame in range(rate)]
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(rate)
        for _ in range(int(seconds)):
            file.writeframes(struct.pack(f"<{rate}h", *period))
        file.writeframes(struct.pack(f"<{rate}h", *period)[: 2 * int(rate * (seconds % 1))])
    return path.read_bytes()


def make_music(folder: pathlib.Path) -> None:
    """Write five songs of two albums, each with a cover, and a bell."""
    raw = folder / "raw.wav"
    for number, (album, (artist, count)) in enumerate(ALBUMS.items()):
        path = folder / "music" / album
        path.mkdir(parents=True)
        (path / "cover.png").write_bytes(png(100 + number))
        for track in range(1, count + 1):
            sound(raw, SECONDS)
            tags = {"TITLE": f"{album} {track}", "ARTIST": artist, "ALBUMARTIST": artist, "ALBUM": album, "TRACKNUMBER": track}
            subprocess.run(
                ["flac", "--silent", "-0", "-f", "-o", path / f"{track}.flac", raw]
                + [f"--tag={key}={value}" for key, value in {**tags, "GENRE": "Folk"}.items()],
                check=True,
            )
    sound(folder / "bell.wav", 0.3)


class House:
    """The processes of a box."""

    def __init__(
        self, programs: str, folder: pathlib.Path, music: pathlib.Path, sound_server: str | None = None, place: Sequence[str] = ()
    ) -> None:
        """Start the box with a copy of some music. It plays into nothing, or into a sound server.

        `place`: the words before each command, which have it run in another place, such as another network.
        """
        self.place = place
        self.programs, self.folder = pathlib.Path(programs).resolve(), folder
        self.output = "null" if sound_server is None else "pulse"
        self.processes: dict[str, subprocess.Popen[bytes]] = {}
        self.port = 0
        shutil.copytree(music, folder, dirs_exist_ok=True)
        self.environment = {
            **os.environ,
            **{f"XDG_{kind}_HOME": f"{folder}/{kind.lower()}" for kind in ("CONFIG", "STATE", "CACHE")},
            "XDG_RUNTIME_DIR": str(folder),
            "HOME": str(folder),
            "LANG": "C.UTF-8",
            "DBUS_SESSION_BUS_ADDRESS": f"unix:path={folder}/no-bus",
            **({} if sound_server is None else {"PULSE_SERVER": sound_server}),
        }
        self.settings = folder / "house.conf"
        self.settings.write_text(
            f"[access]\nmedia-roots = {folder}\n[library]\nfolders = {folder}/music\nstate-directory = {folder}/library\n"
        )
        try:
            self.begin()
        except BaseException:
            # A test has no box to close that did not begin.
            self.close()
            raise

    # MARK: Processes

    def start(self, name: str, *words: str) -> None:
        log = open(f"{self.folder}/{name}.log", "ab")
        self.processes[name] = subprocess.Popen(
            [*self.place, str(self.programs / name), "--socket", f"{self.folder}/control.sock", *words],
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
        )
        log.close()

    def begin(self) -> None:
        self.begin_daemon()
        until(lambda: self.call("hello"), "the daemon")
        self.begin_library()
        self.begin_web()

    def begin_library(self) -> None:
        self.start("nowplaying-library", "--config", str(self.settings))
        tracks = sum(count for _, count in ALBUMS.values())
        until(lambda: self.call("library.status")["tracks"] == tracks, "the library")

    def begin_daemon(self) -> None:
        words = ("--config", str(self.settings), "--output", self.output, "--state-directory", f"{self.folder}/daemon")
        self.start("nowplayingd", *words)

    def begin_web(self, more: str = "") -> None:
        """Start nowplaying-web, at the port that it had before."""
        settings = self.folder / "web.conf"
        settings.write_text(f"[web]\nbind = *:{self.port}\nstate-directory = {self.folder}/web\n{more}")
        log = self.folder / "nowplaying-web.log"
        log.write_text("")
        self.start("nowplaying-web", "--config", str(settings))
        found = until(lambda: re.search(r"listening at 0\.0\.0\.0:(\d+)", log.read_text()), "the port of nowplaying-web")
        self.port = int(found[1])
        # Its own socket for this machine comes after its port.
        try:
            until(lambda: self.call("bridge.status"), "the local socket of nowplaying-web")
        except AssertionError as error:
            ended = self.processes["nowplaying-web"].poll()
            raise AssertionError(f"{error}; its status is {ended}, its log {log.read_text()}") from error

    def end(self, name: str, number: int = signal.SIGKILL) -> None:
        process = self.processes.pop(name)
        process.send_signal(number)
        process.wait()

    def close(self) -> None:
        for name in list(self.processes):
            self.end(name)

    def waits(self, *others: int) -> ProcessorWaits:
        """Count from now on for how long this process, those of the box, and others wait for a processor."""
        return ProcessorWaits([os.getpid(), *(one.pid for one in self.processes.values()), *others])

    # MARK: Calls on the box itself

    def call(self, method: str, **parameters: Any) -> Any:
        """Call a method at the sockets of the box, not over the network."""
        name = "control"
        if method.startswith(("library.", "lists.")):
            name = "library"
        elif method.startswith(("pair.", "devices.", "bridge.")):
            name = "nowplaying-web/web"
        with self.connection(name) as call:
            return call(method, **parameters)

    @contextlib.contextmanager
    def connection(self, name: str = "control") -> Iterator[Callable[..., Any]]:
        """Open a lasting connection to a socket of the box: a function that calls methods."""
        with socket.socket(socket.AF_UNIX) as box, box.makefile() as lines:
            box.settimeout(PATIENCE)
            box.connect(f"{self.folder}/{name}.sock")

            def call(method: str, **parameters: Any) -> Any:
                box.sendall(json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": parameters}).encode() + b"\n")
                answer = json.loads(lines.readline() or "{}")
                if "result" not in answer:
                    raise OSError(f"{method}: {answer}")
                return answer["result"]

            yield call

    def code(self, role: str = "control") -> str:
        """Open a pairing code."""
        return str(self.call("pair.begin", role=role, seconds=60)["code"])

    def state(self, session: str | None = None) -> Any:
        return self.call("nowPlaying.get", **({} if session is None else {"session": session}))

    @property
    def songs(self) -> list[str]:
        """The files of all songs in their order."""
        return [f"{self.folder}/music/{album}/{track}.flac" for album, (_, count) in ALBUMS.items() for track in range(1, count + 1)]

    def fresh(self) -> None:
        """Put all songs into the queue, stopped, with every mode off."""
        for session in self.call("session.list")["sessions"]:
            if session["name"] != "main":
                self.call("session.close", name=session["name"])
        self.call("queue.clear")
        for mode in ("Repeat", "Shuffle", "Consume", "Single"):
            self.call(f"change{mode}Mode", mode="off")
        self.call("sleep.set")
        self.call("crossfade.set", seconds=0)
        self.call("loudness.set", mode="off")
        self.call("volume.set", volume=0.7, muted=False)
        for device in self.call("devices.list")["devices"]:
            self.call("devices.revoke", id=device["id"])
        self.call("queue.add", items=self.songs)
