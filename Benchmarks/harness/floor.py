"""The least that playing can cost: `flac -d`, and `pacat` with what it decoded."""
import resource
import subprocess

from harness.sound import RATE


def decoding(command, runs=3):
    """CPU seconds of a decoder, each run."""
    used = []
    for _ in range(runs):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        used.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return used


class Pacat:
    """A client of the sink that plays silence; `with Pacat(server) as pacat:`."""

    def __init__(self, server, latency=50):
        self.server, self.latency = server, latency

    def __enter__(self):
        self.process = subprocess.Popen(
            ["pacat", "--playback", f"--latency-msec={self.latency}", "--raw", "--format=s16le", f"--rate={RATE}",
             "--channels=2", "/dev/zero"], env=self.server.environment(), stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()
