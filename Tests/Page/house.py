"""The daemon, the library and nowplaying-web in a folder of their own, with music that has covers."""

import contextlib
import json
import os
import pathlib
import re
import socket
import subprocess
import wave

from browser import until
from covers import ALBUMS, cover


class House:
    """The programs that the page needs. Without a browser, the music has no covers."""

    output = "null"

    def __init__(self, programs, folder, browser=None, begins=True, kept=None):
        """`kept`: the folder of what outlives a restart, if that is another one."""
        self.kept = kept or folder
        self.programs, self.folder, self.processes, self.last = pathlib.Path(programs).resolve(), pathlib.Path(folder), [], 0
        self.environment = {
            **os.environ,
            "XDG_RUNTIME_DIR": folder,
            "XDG_CONFIG_HOME": f"{folder}/config",
            "XDG_STATE_HOME": f"{self.kept}/state",
            "XDG_CACHE_HOME": f"{self.kept}/cache",
            "HOME": folder,
            "LANG": "C.UTF-8",
            "DBUS_SESSION_BUS_ADDRESS": f"unix:path={folder}/bus",
        }
        if browser is not None:
            self.covers(browser)
        if begins:
            self.music()
        self.settings = pathlib.Path(folder, "house.conf")
        self.settings.write_text(
            f"[access]\nmedia-roots = {folder}\n[library]\nfolders = {folder}/music\nstate-directory = {self.kept}/library\n"
        )
        try:
            if begins:
                self.begin()
        except BaseException:
            self.close()
            raise

    def covers(self, browser):
        tab = browser.tab(width=600, height=600)
        for number in range(len(ALBUMS)):
            tab.go("data:text/html,<body style='margin:0'>")
            tab.until("document.readyState === 'complete' && location.protocol === 'data:'")
            tab.run(f"void (document.body.innerHTML = {cover(number)!r})")
            tab.picture(f"{self.folder}/cover{number}.jpg", "jpeg")
        tab.close()

    def music(self):
        raw = self.folder / "raw.wav"
        has_covers = (self.folder / "cover0.jpg").exists()
        for number, (album, artist, year, titles, _) in enumerate(ALBUMS):
            path = self.folder / "music" / album
            path.mkdir(parents=True)
            for track, title in enumerate(titles, 1):
                with wave.open(str(raw), "wb") as file:
                    file.setnchannels(1)
                    file.setsampwidth(2)
                    file.setframerate(8000)
                    file.writeframes(bytes(16000 * (170 + 37 * track + 11 * number)))
                tags = {
                    "TITLE": title,
                    "ARTIST": artist,
                    "ALBUMARTIST": artist,
                    "ALBUM": album,
                    "DATE": year,
                    "TRACKNUMBER": track,
                    "GENRE": ["Jazz", "Folk"][number % 2],
                }
                subprocess.run(
                    [
                        "flac",
                        "--silent",
                        "-0",
                        "-f",
                        "-o",
                        path / f"{track}.flac",
                        *([f"--picture=3|image/jpeg|||{self.folder}/cover{number}.jpg"] if has_covers else []),
                        raw,
                        *[f"--tag={key}={value}" for key, value in tags.items()],
                    ],
                    check=True,
                )

    def start(self, *words, under=(), **options):
        log = open(f"{self.folder}/{pathlib.Path(words[0]).name}.log", "ab")
        process = subprocess.Popen(
            [str(word) for word in (*under, *words)],
            **{"env": self.environment, "stderr": log, "stdin": subprocess.DEVNULL, "stdout": log} | options,
        )
        self.processes.append(process)
        return process

    @property
    def common(self):
        return ["--socket", f"{self.folder}/control.sock", "--config", str(self.settings)]

    def begin(self):
        self.begin_daemon()
        self.begin_library()
        until(lambda: self.call("hello"), "the daemon")
        self.begin_web()

    def begin_daemon(self):
        self.daemon = self.start(
            self.programs / "nowplayingd", *self.common, "--output", self.output, "--state-directory", f"{self.kept}/daemon"
        )

    def begin_library(self):
        self.library = self.start(self.programs / "nowplaying-library", *self.common)

    def write_web(self, port=0, more="", host="localhost"):
        settings = self.folder / "web.conf"
        settings.write_text(f"[web]\nbind = {host}:{port}\nstate-directory = {self.kept}/web\n{more}")
        return settings

    def begin_web(self, port=0, more="", host="localhost", under=()):
        """`under`: a program that runs nowplaying-web, and its arguments."""
        settings = self.write_web(port, more, host)
        log = self.folder / "nowplaying-web.log"
        log.write_text("")
        words = ["--socket", f"{self.folder}/control.sock", "--config", settings]
        self.web = self.start(self.programs / "nowplaying-web", *words, under=under)
        self.address = until(
            lambda: (re.search(r"https?://[^\s/,;]+:\d+", log.read_text()) or [None])[0], "the address of nowplaying-web"
        )
        self.port = int(self.address.rsplit(":", 1)[1])

    def begin_mpd(self):
        with self.settings.open("a") as settings:
            settings.write(f"[mpd]\nbind = {self.folder}/mpd/socket\n")
        return self.start(self.programs / "nowplaying-mpd", *self.common)

    def end(self, process):
        process.kill()
        process.wait()
        self.processes.remove(process)

    def close(self):
        for process in reversed(self.processes):
            process.kill()
            process.wait()

    @contextlib.contextmanager
    def connection(self):
        """A lasting connection to the daemon: a function that calls methods."""
        with contextlib.ExitStack() as stack:
            daemon = stack.enter_context(socket.socket(socket.AF_UNIX))
            daemon.connect(f"{self.folder}/control.sock")
            lines = stack.enter_context(daemon.makefile())

            def call(method, **params):
                daemon.sendall(json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode() + b"\n")
                answer = json.loads(lines.readline())
                assert "error" not in answer, answer
                return answer["result"]

            yield call

    def call(self, method, **params):
        """One request to the daemon's own socket, to check an effect of the page."""
        with socket.socket(socket.AF_UNIX) as daemon:
            daemon.settimeout(20)
            daemon.connect(f"{self.folder}/{'library' if method.startswith(('library.', 'lists.')) else 'control'}.sock")
            self.last += 1
            daemon.sendall(json.dumps({"jsonrpc": "2.0", "id": self.last, "method": method, "params": params}).encode() + b"\n")
            answer = json.loads(daemon.makefile().readline())
        assert "error" not in answer, f"{method}: {answer}"
        return answer["result"]

    def web_call(self, method, **params):
        """One request to the local socket of nowplaying-web."""
        with socket.socket(socket.AF_UNIX) as web:
            web.settimeout(20)
            web.connect(f"{self.folder}/nowplaying-web/web.sock")
            web.sendall(json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode() + b"\n")
            answer = json.loads(web.makefile().readline())
        assert "error" not in answer, f"{method}: {answer}"
        return answer["result"]

    def run(self, *words):
        subprocess.run([str(word) for word in words], check=True, stdin=subprocess.DEVNULL)

    @property
    def state(self):
        return self.call("nowPlaying.get")

    def paths(self):
        return [
            str(self.folder / "music" / album / f"{track}.flac")
            for album, _, _, titles, _ in ALBUMS
            for track in range(1, len(titles) + 1)
        ]

    def fresh(self):
        """All albums in the queue, stopped, every mode off, and only the permanent session."""
        for session in self.call("session.list")["sessions"]:
            if session["name"] != "main":
                self.call("session.close", name=session["name"])
        self.call("queue.clear")
        for mode in ("Repeat", "Shuffle", "Consume", "Single"):
            self.call(f"change{mode}Mode", mode="off")
        self.call("sleep.set")
        self.call("volume.set", volume=0.7, muted=False)
        self.call("queue.add", items=self.paths())
        return self
