"""What each format costs while it plays, against the program that its makers have for it, and how soon it is heard."""
import json
import subprocess
import time

import numpy as np

from harness.daemon import Connection, Daemon
from harness.floor import Pacat, decoding as runs_of
from harness.process import Window, memory, worked
from harness.sound import SoundServer

SECONDS = 300
# Name, ending, coder, decoder, sampling rate.
FORMATS = [
    ("FLAC", "flac", ["flac", "--silent", "--force", "-o", "OUT", "IN"], ["flac", "-d", "-s", "-c", "IN"], 44_100),
    ("FLAC 24/96", "flac", ["flac", "--silent", "--force", "-o", "OUT", "IN"], ["flac", "-d", "-s", "-c", "IN"], 96_000),
    ("MP3", "mp3", ["lame", "--quiet", "-V", "2", "IN", "OUT"], ["mpg123", "-q", "-s", "IN"], 44_100),
    ("Ogg Vorbis", "ogg", ["oggenc", "-Q", "-q", "5", "-o", "OUT", "IN"], ["oggdec", "-Q", "-R", "-o", "-", "IN"], 44_100),
    ("Opus", "opus", ["opusenc", "--quiet", "--bitrate", "128", "IN", "OUT"],
     ["opusdec", "--quiet", "--force-wav", "IN", "-"], 48_000),
]


def run(bench):
    rows, notes = [], {}
    with SoundServer(bench.folder()) as server:
        sending = _sending(server, bench.window)
        for name, ending, coder, decoder, rate in FORMATS:
            path = _file(bench, name, ending, coder, rate)
            decoding = _decoding([str(path) if word == "IN" else word for word in decoder])
            with Daemon(bench.program, bench.folder(), server) as daemon:
                before = memory(daemon.pid)["pss"]
                sound, tags = _first(daemon, path)
                time.sleep(5)
                # From one refill to another: a refill decodes up to 4 s at once.
                worked(daemon.pid)
                window = Window(daemon.pid)
                time.sleep(bench.window)
                worked(daemon.pid)
                playing = window.done()
            notes[name] = playing | {"decoder": decoding, "pacat": sending, "pss before": before,
                                     "sound": sound, "tags": tags}
            what, against = f"{decoder[0]} and pacat", decoding + sending
            if name == "MP3":
                # The one that plays by itself is held against as a player.
                what, against = "mpg123 playing", _playing(bench, path)
            ratio = playing["cpu_per_minute"] / against
            rows += [
                bench.row(f"{name}: CPU of 60 s against {what}", ratio, "×", 1.3),
                bench.row(f"{name}: context switches a second", playing["switches_per_second"], "", 1.5),
                bench.row(f"{name}: proportional memory", playing["pss"] / 2**20, "MB", 9),
                bench.row(f"{name}: to tags and first sound, p50", sound * 1e3, "ms", 30),
            ]
    bench.note("formats", notes)
    return rows


def _playing(bench, path):
    """CPU seconds of mpg123 in a minute of playing into a sound server of its own."""
    with SoundServer(bench.folder()) as server:
        player = subprocess.Popen(["mpg123", "-q", "-o", "pulse", str(path)], env=server.environment(),
                                  stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(5)
        window = Window(player.pid)
        time.sleep(bench.window)
        used = window.done()["cpu_per_minute"]
        player.terminate()
        player.wait()
    return used


def _first(daemon, path, trials=15):
    """From the command to the instant at which the first sample is audible, as the state says, and until that came."""
    sound, tags = [], []
    follower = Connection(daemon.path)
    follower.call("nowPlaying.subscribe")
    for _ in range(trials):
        daemon.call("stop")
        daemon.call("queue.clear")
        while follower.readable():
            follower.line()
        sent = time.monotonic()
        daemon.connection.socket.sendall(daemon.connection.request("queue.add", items=[str(path)], play=True))
        while True:
            state = json.loads(follower.line())["params"]
            if state["anchor"]["rate"] == 1:
                break
        tags.append(time.monotonic() - sent)
        daemon.connection.line()
        sound.append(state["anchor"]["monotonic"] - sent)
    follower.close()
    return float(np.median(sound)), float(np.median(tags))


def _file(bench, name, ending, coder, rate):
    def make(part):
        wave = part.with_suffix(".wav.in")
        depth = ["-sample_fmt", "s32", "-c:a", "pcm_s24le"] if "24" in name else []
        subprocess.run(["ffmpeg", "-v", "error", "-y", "-i", str(bench.material.music()), "-t", str(SECONDS), "-ar", str(rate),
                        *depth, "-map_metadata", "-1", "-f", "wav", str(wave)], check=True)
        subprocess.run([str(wave) if word == "IN" else str(part) if word == "OUT" else word for word in coder], check=True)
        wave.unlink()

    return bench.material._made(f"format-{name.replace('/', '-').replace(' ', '-')}.{ending}", make)


def _decoding(command):
    """CPU seconds that the program takes for a minute of the file, the best of three."""
    return min(runs_of(command)) * 60 / SECONDS


def _sending(server, seconds):
    with Pacat(server, latency=2000) as pacat:
        time.sleep(3)
        window = Window(pacat.process.pid)
        time.sleep(seconds)
        return window.done()["cpu_per_minute"]
