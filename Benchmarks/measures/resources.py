"""Wakeups, CPU and memory while it plays, is paused and idle."""
import resource
import subprocess
import time

from harness.player import Daemon
from harness.process import Window, memory
from harness.sound import RATE, SoundServer


def run(bench):
    music = bench.material.music()
    decoding = _decoder(music)
    with SoundServer(bench.folder()) as server, Daemon(bench.program, bench.folder(), server) as daemon:
        time.sleep(1)
        idle = _window(daemon, bench.window)
        daemon.load(music)
        daemon.call("play")
        time.sleep(5)
        playing = _window(daemon, bench.window)
        daemon.call("pause")
        time.sleep(1)
        paused = _window(daemon, bench.window)
        daemon.call("play")
        with _Competitor(server):
            time.sleep(5)
            beside = _window(daemon, bench.window)
        daemon.call("stop")
        before, after = _many(bench, daemon)
    with SoundServer(bench.folder()) as server, _Competitor(server, latency=2000) as pacat:
        time.sleep(3)
        window = Window(pacat.process.pid)
        time.sleep(bench.window)
        sending = window.done()["cpu_per_minute"]
    bench.note("resources", {"idle": idle, "playing": playing, "paused": paused, "beside a 50 ms client": beside,
                             "flac -d": decoding, "pacat": sending, "pss before": before, "pss after": after})
    return [
        bench.row("voluntary context switches a second, playing", playing["switches_per_second"], "", 1.5),
        bench.row("the same beside a client of 50 ms latency", beside["switches_per_second"], "", 1.5),
        bench.row("the same, paused", paused["switches_per_second"], "", 0),
        bench.row("the same, idle", idle["switches_per_second"], "", 0),
        bench.row("CPU of 60 s of playing, against flac -d and pacat", playing["cpu_per_minute"] / (decoding + sending), "×", 1.2),
        bench.row("proportional memory, playing", playing["pss"] / 2**20, "MB", 9),
        bench.row(f"the same after {bench.items} items more", after / 2**20, "MB", 9),
    ]


def _window(daemon, seconds):
    window = Window(daemon.pid)
    time.sleep(seconds)
    return window.done()


def _decoder(path):
    """CPU seconds that `flac -d` takes for a minute of this file of ten, the best of three."""
    best = None
    for _ in range(3):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(["flac", "--decode", "--silent", "--stdout", str(path)], stdout=subprocess.DEVNULL, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        best = used if best is None else min(best, used)
    return best / 10


class _Competitor:
    """Another client of the sink, which plays silence."""

    def __init__(self, server, latency=50):
        self.server, self.latency = server, latency

    def __enter__(self):
        self.process = subprocess.Popen(
            ["pacat", "--playback", f"--latency-msec={self.latency}", "--raw", "--format=s16le", f"--rate={RATE}",
             "--channels=2", "/dev/zero"], env=self.server.environment(), stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()


def _many(bench, daemon):
    """Memory while the first of many items plays, and after skipping through all of them."""
    items = [str(bench.material.short())] * bench.items
    daemon.call("queue.clear")
    daemon.call("queue.add", items=items)
    daemon.call("play", index=0)
    time.sleep(1)
    before = memory(daemon.pid)["pss"]
    for _ in range(bench.items - 1):
        daemon.call("nextTrack")
    time.sleep(0.5)
    after = memory(daemon.pid)["pss"]
    daemon.call("stop")
    return before, after
