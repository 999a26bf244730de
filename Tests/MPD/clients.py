"""Real clients of MPD against nowplaying-mpd. Each function is a test; status 1 when one of them fails.

usage: clients.py PROGRAMS    the folder of nowplayingd, nowplaying-library and nowplaying-mpd
"""
import asyncio
import concurrent.futures
import contextlib
import fcntl
import os
import pathlib
import pty
import re
import select
import sqlite3
import struct
import subprocess
import sys
import tempfile
import termios
import time
import traceback
import wave

import mpd
import mpd.asyncio

from assistant import test_home_assistant
from music_assistant import test_music_assistant

PATIENCE = 20


def until(condition, what, seconds=PATIENCE):
    """The first true value of a condition."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        with contextlib.suppress(OSError, mpd.MPDError):
            if value := condition():
                return value
        time.sleep(0.02)
    raise AssertionError(f"this did not come: {what}")


class House:
    """The daemon, the library and the bridge, with a folder of music."""

    def __init__(self, programs, folder):
        self.programs, self.folder, self.processes = pathlib.Path(programs).resolve(), pathlib.Path(folder), []
        self.socket = f"{folder}/mpd/socket"
        self.environment = os.environ | {
            "XDG_RUNTIME_DIR": str(folder), "XDG_CONFIG_HOME": f"{folder}/config", "XDG_STATE_HOME": f"{folder}/state",
            "XDG_CACHE_HOME": f"{folder}/cache", "HOME": str(folder), "MPD_HOST": self.socket, "LANG": "C.UTF-8",
            "DBUS_SESSION_BUS_ADDRESS": f"unix:path={folder}/bus"}
        self.environment.pop("MPD_PORT", None)
        self.music()
        (self.folder / "house.conf").write_text(
            f"[library]\nfolders = {folder}/music\nstate-directory = {folder}/library\n[mpd]\nbind = {self.socket}\n")

    def music(self):
        """Six songs of two albums, with tags."""
        for number in range(6):
            name, album = f"Song {number}", "First" if number < 3 else "Second"
            path = self.folder / "music" / album
            path.mkdir(parents=True, exist_ok=True)
            with wave.open(f"{self.folder}/raw.wav", "wb") as file:
                file.setnchannels(1)
                file.setsampwidth(2)
                file.setframerate(8000)
                file.writeframes(bytes(16000 * (30 + number)))
            tags = {"TITLE": name, "ARTIST": f"Artist {number % 2}", "ALBUM": album, "TRACKNUMBER": number + 1}
            subprocess.run(["flac", "--silent", "-f", "-o", path / f"{number}.flac", f"{self.folder}/raw.wav",
                            *[f"--tag={key}={value}" for key, value in tags.items()]], check=True)

    def start(self, *words, **options):
        log = open(f"{self.folder}/{pathlib.Path(words[0]).name}.log", "ab")
        process = subprocess.Popen(words, **{"env": self.environment, "stderr": log, "stdin": subprocess.DEVNULL,
                                             "stdout": log} | options)
        self.processes.append(process)
        return process

    def __enter__(self):
        try:
            self.begin()
        except BaseException:
            self.__exit__()
            raise
        return self

    def begin(self):
        common = ["--socket", f"{self.folder}/control.sock", "--config", f"{self.folder}/house.conf"]
        self.start(self.programs / "nowplayingd", *common, "--output", "null", "--state-directory", f"{self.folder}/daemon")
        self.start(self.programs / "nowplaying-library", *common)
        self.start(self.programs / "nowplaying-mpd", *common)
        self.start("dbus-daemon", "--session", "--nofork", "--nopidfile", f"--address=unix:path={self.folder}/bus")
        until(lambda: self.status().get("volume") == "100", "the daemon")
        until(lambda: len(self.client().find("base", "")) == 6 or None, "the library")

    def __exit__(self, *_):
        for process in reversed(self.processes):
            process.kill()
            process.wait()

    def client(self):
        client = mpd.MPDClient()
        client.timeout = PATIENCE
        client.connect(self.socket, None)
        return client

    def status(self):
        client = self.client()
        try:
            return client.status()
        finally:
            client.disconnect()

    def mpc(self, *words, fails=False):
        run = subprocess.run(["mpc", *words], env=self.environment, capture_output=True, text=True, timeout=PATIENCE)
        assert (run.returncode != 0) == fails and (fails or not run.stderr), f"mpc {words}: {run}"
        return run.stdout

    def fresh(self):
        """All six songs, stopped, every mode off."""
        client = self.client()
        client.clear()
        for mode in (client.repeat, client.random, client.single, client.consume):
            mode(0)
        client.setvol(100)
        client.add("")
        return client


def test_mpc(house):
    """Every verb of mpc."""
    house.fresh()
    lines = lambda *words: house.mpc(*words).splitlines()
    assert lines("playlist")[0] == "Artist 0 - Song 0" and len(lines("playlist")) == 6
    assert lines("ls") == ["First", "Second"] and lines("ls", "First")[0] == "First/0.flac"
    assert len(lines("listall")) == 6 and lines("list", "album") == ["First", "Second"]
    assert lines("find", "title", "Song 4") == ["Second/4.flac"] and len(lines("search", "title", "song")) == 6
    assert lines("find", "(Album == 'First')", )[2] == "First/2.flac"
    assert "[playing] #2/6" in house.mpc("play", "2")
    assert house.mpc("current") == "Artist 1 - Song 1\n" and house.mpc("queued") == "Artist 0 - Song 2\n"
    assert "[paused]" in house.mpc("pause") and "[playing]" in house.mpc("toggle")
    house.mpc("pause-if-playing")
    assert "#3/6" in house.mpc("next") and "#2/6" in house.mpc("prev") and "#1/6" in house.mpc("cdprev")
    assert "0:10/0:30" in house.mpc("seek", "10") and "0:15/0:30" in house.mpc("seek", "50%")
    assert "0:20/0:30" in house.mpc("seek", "+5")
    for verb, words in (("repeat", ("on", "off")), ("random", ("on", "off")), ("single", ("once", "on", "off")),
                        ("consume", ("on", "off"))):
        for word in words:
            assert f"{verb}: {word}" in house.mpc(verb, word), (verb, word)
    assert "volume: 50%" in house.mpc("volume", "50") and "volume: 45%" in house.mpc("volume", "-5")
    house.mpc("crossfade", "5")
    assert house.mpc("crossfade") == "crossfade: 5\n"
    house.mpc("replaygain", "album")
    assert house.mpc("replaygain") == "replay_gain_mode: album\n"
    assert "Output 1" in house.mpc("outputs") and house.mpc("enable", "1") and house.mpc("enable", "only", "1")
    house.mpc("disable", "1", fails=True)
    house.mpc("stop")
    house.mpc("move", "1", "6")
    assert lines("playlist")[5] == "Artist 0 - Song 0"
    house.mpc("del", "6")
    assert len(lines("playlist")) == 5
    house.mpc("insert", "First/0.flac")
    house.mpc("prio", "5", "1")
    house.mpc("shuffle")
    assert len(lines("playlist")) == 6
    house.mpc("play", "3")
    house.mpc("crop")
    assert len(lines("playlist")) == 1
    house.mpc("clear")
    house.mpc("findadd", "album", "Second")
    house.mpc("searchadd", "title", "song 0")
    assert len(lines("playlist")) == 4
    assert "#4/4" in house.mpc("searchplay", "title", "Song 0")
    house.mpc("save", "evening")
    assert lines("lsplaylists") == ["evening"] and len(lines("playlist", "evening")) == 4
    house.mpc("clear")
    house.mpc("load", "evening")
    assert len(lines("playlist")) == 4
    house.mpc("rm", "evening")
    assert lines("lsplaylists") == []
    assert re.search(r"Songs: +6\n", house.mpc("stats"))
    house.mpc("--wait", "update")
    house.mpc("sticker", "First/1.flac", "set", "mood", "calm")
    assert house.mpc("sticker", "First/1.flac", "get", "mood") == "mood=calm\n"
    assert "0.24.0" in house.mpc("version")
    house.mpc("channels")
    house.mpc("clearerror")
    waiting = house.start("mpc", "idle", "mixer", stdout=subprocess.PIPE)
    until(lambda: house.mpc("volume", "77") and waiting.poll() is not None, "the end of mpc idle")
    assert waiting.stdout.read() == b"mixer\n"
    house.mpc("add", "nothing/at/all", fails=True)


def test_python(house):
    """python-mpd2: typed answers, command lists, idle, binary answers and errors with their numbers."""
    client = house.fresh()
    assert client.mpd_version == "0.24.0"
    assert [song["title"] for song in client.playlistinfo()] == [f"Song {n}" for n in range(6)]
    number = client.addid("First/0.flac", 0)
    assert client.playlistid(number)[0]["pos"] == "0"
    client.deleteid(number)
    client.command_list_ok_begin()
    client.status()
    client.currentsong()
    client.playlistinfo("0:2")
    answers = client.command_list_end()
    assert answers[0]["playlistlength"] == "6" and len(answers[2]) == 2
    for call, code in ((lambda: client.deleteid(99999), 50), (lambda: client.play(77), 2), (lambda: client.seekcur(1), 55),
                       (lambda: client.albumart("First/0.flac"), 50), (lambda: client.playlistinfo("x"), 2)):
        try:
            call()
            raise AssertionError(f"no error {code}")
        except mpd.CommandError as error:
            assert error.errno.value == code, (error, code)
    assert client.readpicture("First/0.flac") == {}
    other = house.client()
    with concurrent.futures.ThreadPoolExecutor() as pool:
        changed = pool.submit(client.idle, "mixer", "options")
        other.repeat(1)
        assert changed.result(PATIENCE) == ["options"]
    assert sum(len(row["album"]) if isinstance(row["album"], list) else 1
               for row in client.list("album", "group", "artist")) == 4
    assert client.count("artist", "Artist 0")["songs"] == "3"
    assert client.stats()["songs"] == "6"
    client.subscribe("here")
    other.sendmessage("here", "a word")
    assert client.readmessages() == [{"channel": "here", "message": "a word"}]


def test_python_asyncio(house):
    """The client of python-mpd2 for asyncio, which enters `idle` by itself."""
    house.fresh()

    async def talk():
        client = mpd.asyncio.MPDClient()
        await client.connect(house.socket)
        assert (await client.status())["playlistlength"] == "6"
        seen = []

        async def watch():
            async for changed in client.idle():
                seen.extend(changed)
        task = asyncio.ensure_future(watch())
        for volume in range(30, 60):
            await client.setvol(volume)
            assert (await client.status())["volume"] == str(volume)
        for _ in range(500):
            if "mixer" in seen:
                break
            await asyncio.sleep(0.02)
        assert "mixer" in seen, seen
        task.cancel()
        client.disconnect()
    asyncio.run(asyncio.wait_for(talk(), PATIENCE))


class Terminal:
    """A program in a terminal of 100 × 30."""

    def __init__(self, house, *words):
        self.text = b""
        self.pid, self.descriptor = pty.fork()
        if self.pid == 0:
            os.execvpe(words[0], words, house.environment | {"TERM": "xterm"})
        fcntl.ioctl(self.descriptor, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 100, 0, 0))

    def shows(self, text):
        """Reads until the screen has had a text."""
        def look():
            if select.select([self.descriptor], [], [], 0.05)[0]:
                self.text += os.read(self.descriptor, 65536)
            return text.encode() in re.sub(rb"\x1b\[[0-9;?]*[A-Za-z]", b"", self.text)
        until(look, f"“{text}” on the screen")

    def press(self, keys):
        self.text = b""
        os.write(self.descriptor, keys.encode())

    def end(self):
        os.kill(self.pid, 9)
        os.waitpid(self.pid, 0)


def test_ncmpcpp(house):
    """ncmpcpp: the queue, the browser, the search engine, the library and the outputs."""
    client = house.fresh()
    terminal = Terminal(house, "ncmpcpp", "--quiet")
    try:
        terminal.shows("Song 5")
        client.play(0)
        terminal.shows("Playing:")
        terminal.press("2")
        terminal.shows("First")
        terminal.press("4")
        terminal.shows("Artist 1")
        terminal.press("7")
        terminal.shows("No sound")
        terminal.press("1p")
        until(lambda: house.status()["state"] == "pause", "the pause")
        terminal.press(">")
        until(lambda: house.status()["song"] == "1", "the next song")
        terminal.press("r")
        until(lambda: house.status()["repeat"] == "1", "the repeat mode")
    finally:
        terminal.end()


def test_mpdscribble(house):
    """mpdscribble writes what was heard into its journal."""
    client = house.fresh()
    journal = house.folder / "heard"
    (house.folder / "scribble.conf").write_text(
        f"log = -\nverbose = 2\n[file]\nfile = {journal}\n")
    house.start("mpdscribble", "--no-daemon", "--conf", f"{house.folder}/scribble.conf", "--host", house.socket)
    client.play(0)
    until(lambda: "Song 0" in (house.folder / "mpdscribble.log").read_text(), "the song in its log")
    client.next()
    until(lambda: "Song 1" in (house.folder / "mpdscribble.log").read_text(), "the next song in its log")


def test_mpdris2(house):
    """mpDris2 puts the player on D-Bus; playerctl drives it there."""
    client = house.fresh()
    client.play(0)
    house.start("mpDris2", "--host", house.socket, "--music-dir", f"{house.folder}/music")
    control = lambda *words: subprocess.run(["playerctl", "-p", "mpd", *words], env=house.environment, capture_output=True,
                                            text=True).stdout.strip()
    until(lambda: control("status") == "Playing", "the player on the bus")
    assert control("metadata", "title") == "Song 0"
    control("next")
    until(lambda: control("metadata", "title") == "Song 1", "the next song on the bus")
    control("pause")
    until(lambda: house.status()["state"] == "pause", "the pause")
    control("volume", "0.4")
    until(lambda: house.status()["volume"] == "40", "the volume")


def test_cantata(house):
    """Cantata without a screen: its own copy of the library, and its player on D-Bus."""
    client = house.fresh()
    client.play(0)
    settings = house.folder / "config" / "cantata"
    settings.mkdir(parents=True)
    (settings / "cantata.conf").write_text(
        f"[General]\nversion=2.5.0\nmpris=true\n[Connection]\nhost={house.socket}\nport=0\ndir={house.folder}/music/\n")
    house.start("cantata", env=house.environment | {"QT_QPA_PLATFORM": "offscreen", "XDG_DATA_HOME": f"{house.folder}/data"})
    control = lambda *words: subprocess.run(["playerctl", "-p", "cantata", *words], env=house.environment,
                                            capture_output=True, text=True).stdout.strip()
    until(lambda: control("status") == "Playing", "the player on the bus")
    until(lambda: control("metadata", "title") == "Song 0", "the song on the bus")
    control("next")
    until(lambda: control("metadata", "title") == "Song 1", "the next song on the bus")
    control("pause")
    until(lambda: house.status()["state"] == "pause", "the pause")

    def songs():
        for path in [*house.folder.rglob("*.sql"), *house.folder.rglob("*.sqlite")]:
            with contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as base, \
                    contextlib.suppress(sqlite3.Error):
                if found := base.execute("select count(*) from songs").fetchone()[0]:
                    return found
        return 0
    until(lambda: songs() == 6, "all songs in Cantata's copy of the library")
    # A change of another client is on the bus, too.
    client.clear()
    until(lambda: control("status") == "Stopped", "the end of playback on the bus")


def main():
    failed = 0
    wanted = sys.argv[2:]
    for name, test in [pair for pair in globals().items() if pair[0].startswith("test_")]:
        if wanted and name not in wanted:
            continue
        with tempfile.TemporaryDirectory(prefix="nowplaying-clients-") as folder:
            try:
                with House(sys.argv[1], folder) as house:
                    test(house)
                print(f"ok       {name}", flush=True)
            except Exception:
                failed += 1
                print(f"FAILED   {name}\n{traceback.format_exc()}", flush=True)
                for log in sorted(pathlib.Path(folder).glob("*.log")):
                    print(f"--- {log.name}: {log.read_text(errors='replace')[-600:]}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
