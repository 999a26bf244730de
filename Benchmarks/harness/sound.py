"""A private PulseAudio with one null sink, and a recorder on what that sink plays."""
import ctypes
import os
import pathlib
import socket
import subprocess
import threading
import time

import numpy as np

from . import code

RATE, FRAME = code.RATE, 4


class SoundServer:
    """PulseAudio in a folder of its own; `with SoundServer(folder) as server:`."""

    def __init__(self, folder, options=""):
        self.folder = pathlib.Path(folder)
        self.options = options
        self.socket = self.folder / "native"

    def environment(self):
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("PULSE_", "XDG_", "DBUS_", "NOWPLAYING_"))}
        kept.pop("DISPLAY", None)
        return kept | {"HOME": str(self.folder), "XDG_RUNTIME_DIR": str(self.folder),
                       "XDG_CONFIG_HOME": str(self.folder), "PULSE_SERVER": f"unix:{self.socket}"}

    def __enter__(self):
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        environment = self.environment()
        del environment["PULSE_SERVER"]
        self.process = subprocess.Popen(
            ["pulseaudio", "-n", "--daemonize=no", "--exit-idle-time=-1", "--use-pid-file=no",
             f"--load=module-null-sink sink_name=ear rate={RATE} format=s16le channels=2 {self.options}",
             f"--load=module-native-protocol-unix socket={self.socket} auth-anonymous=1"],
            env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        end = time.monotonic() + 10
        while time.monotonic() < end:
            with socket.socket(socket.AF_UNIX) as attempt:
                try:
                    attempt.connect(str(self.socket))
                    return self
                except OSError:
                    time.sleep(0.01)
        self.__exit__()
        raise RuntimeError("the private PulseAudio did not start")

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()


class Calibrator:
    """Plays code through libpulse-simple and asks when it will be heard."""

    class Specification(ctypes.Structure):
        _fields_ = [("format", ctypes.c_int), ("rate", ctypes.c_uint32), ("channels", ctypes.c_uint8)]

    class Lengths(ctypes.Structure):
        _fields_ = [(name, ctypes.c_uint32) for name in ("maximum", "target", "prebuffer", "minimum", "fragment")]

    def __init__(self, server):
        self.library = ctypes.CDLL("libpulse-simple.so.0")
        pointer, text = ctypes.c_void_p, ctypes.c_char_p
        self.library.pa_simple_new.restype = pointer
        self.library.pa_simple_new.argtypes = [text, text, ctypes.c_int, text, text, pointer, pointer, pointer, pointer]
        self.library.pa_simple_get_latency.restype = ctypes.c_uint64
        self.library.pa_simple_get_latency.argtypes = [pointer, pointer]
        self.library.pa_simple_write.argtypes = [pointer, text, ctypes.c_size_t, pointer]
        self.library.pa_simple_drain.argtypes = [pointer, pointer]
        self.library.pa_simple_free.argtypes = [pointer]
        unset = 2 ** 32 - 1
        lengths = self.Lengths(unset, RATE * FRAME // 20, unset, unset, unset)
        self.stream = self.library.pa_simple_new(
            f"unix:{server.socket}".encode(), b"calibration", 1, None, b"calibration",
            ctypes.byref(self.Specification(3, RATE, 2)), None, ctypes.byref(lengths), None)
        if not self.stream:
            raise RuntimeError("the calibration stream could not be opened")

    def play(self, seconds):
        """[(instant, frame number that is heard then)]"""
        said, step = [], RATE // 50
        for start in range(0, int(seconds * RATE), step):
            block = code.frames(code.CALIBRATION + start, step).tobytes()
            self.library.pa_simple_write(self.stream, block, len(block), None)
            latency = self.library.pa_simple_get_latency(self.stream, None) / 1e6
            said.append((time.monotonic() + latency, code.CALIBRATION + start + step))
        self.library.pa_simple_drain(self.stream, None)
        self.library.pa_simple_free(self.stream)
        # The first readings come while the stream starts.
        return said[10:]


class Recording:
    """What the sink plays, each frame with its number and its instant, once `with recording:` has ended.

    The instant of a frame is a line under the times at which its block arrived, which no scheduling can make too
    early; how far that line is off is calibrated with the server's own word for a stream of known content.
    """

    def __init__(self, server):
        self.process = subprocess.Popen(
            ["parec", "--device=ear.monitor", "--latency-msec=5", "--raw", "--format=s16le", f"--rate={RATE}",
             "--channels=2"], env=server.environment(), stdout=subprocess.PIPE, stdin=subprocess.DEVNULL)
        self.blocks, self.arrivals, self.size = [], [], 0
        self.thread = threading.Thread(target=self._read)
        self.thread.start()
        # The source needs its time to settle.
        end = time.monotonic() + 20
        while self.size < 5 * RATE * FRAME // 2:
            if time.monotonic() > end or self.process.poll() is not None:
                self.process.kill()
                raise RuntimeError("nothing could be recorded from the sound server")
            time.sleep(0.05)
        self.said = Calibrator(server).play(0.8)

    def _read(self):
        while block := os.read(self.process.stdout.fileno(), 65_536):
            now = time.monotonic()
            self.blocks.append(block)
            self.size += len(block)
            self.arrivals.append((self.size // FRAME, now))

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        time.sleep(0.1)
        self.process.terminate()
        self.process.wait()
        self.thread.join()
        self.process.stdout.close()
        if kind is None:
            self._finish()

    def _finish(self):
        whole = b"".join(self.blocks)
        self.pcm = np.frombuffer(whole[:len(whole) // FRAME * FRAME], dtype="<i2").reshape(-1, 2)
        self.numbers = code.numbers(self.pcm)
        self._fit()
        own = np.flatnonzero(self.numbers >= code.CALIBRATION)
        place = dict(zip(self.numbers[own].tolist(), own.tolist()))
        off = [self.instant(place[number - 50]) - (instant - 50 / RATE)
               for instant, number in self.said if number - 50 in place]
        if not off:
            raise RuntimeError("the calibration was not recorded")
        self.first -= float(np.median(off))
        self.spread = float(np.ptp(off))
        self.numbers[own] = -1

    def _fit(self):
        frame, instant = np.array(self.arrivals).T
        late = instant - frame / RATE
        group = ((instant - instant[0]) / 0.5).astype(int)
        best = np.array([np.flatnonzero(group == g)[late[group == g].argmin()] for g in np.unique(group)])
        x, y = frame[best], instant[best]
        used = np.ones(len(x), dtype=bool)
        for _ in range(5):
            self.period, self.first = np.polyfit(x[used], y[used], 1)
            rest = y - (self.first + self.period * x)
            used = rest <= np.median(rest) + 0.0002

    def instant(self, index):
        """When the frame with this index in the recording was heard."""
        return self.first + index * self.period

    def index(self, instant):
        """Which frame of the recording was heard at this instant."""
        return int(round((instant - self.first) / self.period))

    def span(self, start, end):
        """Range of indexes between two instants, within the recording."""
        low, high = max(0, self.index(start)), min(len(self.numbers), self.index(end))
        return low, max(low, high)
