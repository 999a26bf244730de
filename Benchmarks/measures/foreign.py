"""What a format costs that a confined child decodes: the child against ffmpeg, the daemon against itself with FLAC."""
import json
import pathlib
import subprocess
import time

import numpy as np

from harness.daemon import Connection, Daemon
from harness.floor import decoding
from harness.process import Window, cpu, memory, voluntary
from harness.sound import SoundServer
from harness.station import Station
from measures.formats import _first

SECONDS = 300
# Name, ending, coder, container, type and bytes a second of a station.
STATIONS = [("MP3", "station.mp3", ["-c:a", "libmp3lame", "-b:a", "128k", "-write_xing", "0"], "mp3", "audio/mpeg", 16000),
            ("AAC", "station.aac", ["-c:a", "aac", "-b:a", "96k"], "adts", "audio/aac", 12000)]
# Name, ending, FFmpeg's coder.
FORMATS = [("AAC", "m4a", ["-c:a", "aac", "-b:a", "192k"]), ("ALAC", "alac.m4a", ["-c:a", "alac"])]


def run(bench):
    rows, notes = [], {}
    flac = _file(bench, "flac", ["-c:a", "flac"])
    with SoundServer(bench.folder()) as server:
        with Daemon(bench.program, bench.folder(), server) as daemon:
            own = _playing(bench, daemon, flac)
        for name, ending, coder in FORMATS:
            path = _file(bench, ending, coder)
            ffmpeg = min(decoding(["ffmpeg", "-v", "error", "-i", str(path), "-map", "0:a", "-f", "f32le", "-"])) * 60 / SECONDS
            with Daemon(bench.program, bench.folder(), server) as daemon:
                sound, tags = _first(daemon, path)
                playing = _playing(bench, daemon, path)
                following = _next(daemon, path)
            notes[name] = playing | {"ffmpeg": ffmpeg, "sound": sound, "tags": tags, "next": following}
            rows += [
                bench.row(f"{name}: to tags and first sound, p50", sound * 1e3, "ms", 120),
                bench.row(f"{name}: skip to the next item to sound, p50", following * 1e3, "ms", 120),
                bench.row(f"{name}: CPU of the child against ffmpeg", playing["child"] / ffmpeg, "×", 1.15),
                bench.row(f"{name}: memory of the daemon, more than with FLAC", (playing["pss"] - own["pss"]) / 2**20, "MB", 1),
                bench.row(f"{name}: context switches of the daemon a second", playing["switches_per_second"], "", 1.5),
                bench.row(f"{name}: context switches of the child a second", playing["child_switches"], "", 5),
            ]
        for name, ending, coder, form, kind, rate in STATIONS:
            audio = _file(bench, ending, coder, form).read_bytes()
            with Daemon(bench.program, bench.folder(), server) as daemon, Station(audio, rate, kind) as station:
                playing = _playing(bench, daemon, station.url)
            notes[f"{name} station"] = playing
            rows += [
                bench.row(f"Station, {name}: context switches of the daemon a second", playing["switches_per_second"], "", 5),
                bench.row(f"Station, {name}: context switches of the child a second", playing["child_switches"], "", 5),
            ]
    bench.note("foreign", notes | {"FLAC": own})
    return rows


def _playing(bench, daemon, path):
    """What the daemon and its child use while they play; `child`: CPU seconds in a minute of playing."""
    if str(path).startswith("http"):
        daemon.call("play", uri=path)
    else:
        daemon.load(path)
        daemon.play()
    time.sleep(10)
    children = _children(daemon.pid)
    window, used = Window(daemon.pid), sum(map(cpu, children))
    switches = [voluntary(child) for child in children]
    begun = time.monotonic()
    time.sleep(bench.window)
    seconds = time.monotonic() - begun
    switches = sum(sum(voluntary(child).values()) - sum(old.values()) for child, old in zip(children, switches))
    return window.done() | {"child": (sum(map(cpu, children)) - used) * 60 / seconds, "pss": memory(daemon.pid)["pss"],
                            "child_switches": switches / seconds}


def _children(pid):
    """The processes that any of its threads started."""
    tasks = pathlib.Path(f"/proc/{pid}/task").iterdir()
    return [int(child) for task in tasks for child in (task / "children").read_text().split()]


def _next(daemon, path, trials=15):
    """From `nextTrack` in the middle of an item to the next one's first sound, by what the state says."""
    found = []
    follower = Connection(daemon.path)
    follower.call("nowPlaying.subscribe")
    for _ in range(trials):
        daemon.load(path, path)
        daemon.play()
        time.sleep(1)
        while follower.readable():
            follower.line()
        sent = time.monotonic()
        daemon.connection.socket.sendall(daemon.connection.request("nextTrack"))
        while True:
            state = json.loads(follower.line())["params"]
            if state["cause"] == "track" and state["anchor"]["rate"] == 1:
                break
        found.append(state["anchor"]["monotonic"] - sent)
        daemon.connection.line()
    follower.close()
    return float(np.median(found))


def _file(bench, ending, coder, form=None):
    def make(part):
        subprocess.run(["ffmpeg", "-v", "error", "-y", "-i", str(bench.material.music()), "-t", str(SECONDS),
                        "-map_metadata", "-1", *coder, "-f", form or ("flac" if ending == "flac" else "ipod"), str(part)], check=True)

    return bench.material._made(f"foreign.{ending}", make)
