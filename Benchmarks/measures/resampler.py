"""What a change of the sample rate costs while music plays through the mixer, against sox with the same filter."""
import os
import resource
import subprocess
import threading
import time

import numpy as np

from harness.daemon import Daemon
from harness.process import Window

RATE, TARGET = 44_100, 48_000
# Seconds of sound that sox converts at once.
SECONDS = 100


class Piped(Daemon):
    """The daemon with a FIFO, whose samples a thread reads and drops."""

    def __init__(self, program, folder, rate):
        super().__init__(program, folder)
        self.rate, self.pipe = rate, self.folder / "pipe"

    def command(self):
        if not self.pipe.exists():
            os.mkfifo(self.pipe)
            threading.Thread(target=self._read, daemon=True).start()
        return super().command()[:-1] + [f"pipe:{self.pipe},{self.rate}:16:2"]

    def _read(self):
        with open(self.pipe, "rb", buffering=0) as pipe:
            while pipe.read(65536):
                pass


def run(bench):
    folder = bench.folder()
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "noise.wav"
    subprocess.run(["sox", "-n", "-r", str(RATE), "-b", "16", "-c", "2", path, "synth", str(bench.window + 60), "pinknoise",
                    "vol", "0.3"], check=True)
    # The same sound with and without another rate, at the same time: what else happens costs both.
    with Piped(bench.program, bench.folder(), RATE) as exact, Piped(bench.program, bench.folder(), TARGET) as changed:
        for daemon in (exact, changed):
            daemon.load(path)
            daemon.play()
        time.sleep(5)
        windows = [Window(daemon.pid) for daemon in (exact, changed)]
        theirs = []
        while len(theirs) < 5:
            time.sleep(bench.window / 5)
            theirs.append(_sox(path, bench.window + 60, True) - _sox(path, bench.window + 60, False))
        plain, resampled = (window.done()["cpu_per_minute"] for window in windows)
    own, sox = resampled - plain, float(np.median(theirs))
    bench.note("resampler", {"plain": plain, "resampled": resampled, "sox": theirs})
    return [bench.row("44.1 to 48 kHz: CPU of 60 s against sox rate -v", own / sox, "×", 1.5)]


def _sox(path, length, changes):
    """CPU seconds of sox for a minute of sound."""
    seconds = min(SECONDS, length)
    words = ["sox", path, "-t", "raw", "-e", "signed", "-b", "16", "/dev/null", "trim", "0", str(seconds)]
    before = _children()
    subprocess.run(words + (["rate", "-v", str(TARGET)] if changes else []), check=True)
    return (_children() - before) * 60 / seconds


def _children():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
