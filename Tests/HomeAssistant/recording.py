"""What a sink plays, frame by frame and second by second, for an hour and more: only marks of the recording are kept."""

from __future__ import annotations

from array import array
import os
import pathlib
import subprocess
import threading
import time
import wave

from harness import code
from harness.sound import FRAME, RATE, Calibrator, SoundServer
import numpy as np
from waits import ProcessorWaits

# Frames of a block that are read for its mark.
PROBE = 8
# Seconds in which one arrival at least is as quick as they get.
WINDOW = 10.0
PIECE = 30 * RATE

# The marks from and to which a calibration lasts, and its rows: an instant, and the number of the frame that is audible then.
Calibration = tuple[int, int, list[tuple[float, int]]]


def write_code(path: pathlib.Path, start: int, count: int) -> None:
    """Write frames that carry their numbers as a WAV file."""
    with wave.open(str(path), "wb") as file:
        file.setparams((2, 2, RATE, 0, "NONE", ""))
        for first in range(start, start + count, PIECE):
            file.writeframes(code.frames(first, min(PIECE, start + count - first)).astype("<i2").tobytes())


class Recording:
    """A recording of a sink that plays code. Each block of it has a mark: a frame, and the number that it carries."""

    def __init__(self, server: SoundServer, latency: int, waits: ProcessorWaits) -> None:
        """Begin to record; returns when the first calibration is done.

        `latency`, in milliseconds, sets the steps of the sink. A reading of `waits` is kept with each mark.
        """
        self._server, self._counter = server, waits
        words = ["parec", "--device=ear.monitor", f"--latency-msec={latency}", "--raw", "--format=s16le", f"--rate={RATE}"]
        self._process = subprocess.Popen(
            [*words, "--channels=2"], env=server.environment(), stdout=subprocess.PIPE, stdin=subprocess.DEVNULL
        )
        # Of each block: its mark, the frames up to its end, and when it arrived by both clocks.
        self._places, self._numbers, self._ends = array("q"), array("q"), array("q")
        self._arrivals, self._walls, self._waits = array("d"), array("d"), array("d")
        # Of each calibration: its first and last mark, and the instants of frames.
        self._said: list[Calibration] = []
        self._thread = threading.Thread(target=self._read)
        self._thread.start()
        # A source needs its time to settle.
        self._wait_for(5 * RATE // 2)
        self.calibrate()

    def _read(self) -> None:
        assert self._process.stdout is not None
        rest, end = b"", 0
        while block := os.read(self._process.stdout.fileno(), 65_536):
            now, wall = time.monotonic(), time.time()
            rest += block
            count = len(rest) // FRAME
            numbers = code.numbers(np.frombuffer(rest[: FRAME * min(count, PROBE)], dtype="<i2").reshape(-1, 2))
            found = np.flatnonzero(numbers >= 0)
            self._places.append(end + int(found[0]) if len(found) else end)
            self._numbers.append(int(numbers[found[0]]) if len(found) else -1)
            rest, end = rest[FRAME * count :], end + count
            self._arrivals.append(now)
            self._walls.append(wall)
            self._waits.append(self._counter.seconds())
            self._ends.append(end)

    def calibrate(self) -> None:
        """Play code, and keep the server's own word about the instant of each frame. Nothing else may play. It blocks."""
        first = len(self._ends)
        said = Calibrator(self._server).play(0.8)
        # The last of it is on its way through the recorder.
        self._wait_for(self._ends[-1] + RATE // 5)
        self._said.append((first, len(self._ends), said))

    def _wait_for(self, end: int) -> None:
        """Wait until this many frames have arrived."""
        while not self._ends or self._ends[-1] < end:
            assert self._process.poll() is None, "the recorder has ended"
            time.sleep(0.02)

    def close(self) -> None:
        """End the recording."""
        self._process.kill()
        self._process.wait()
        self._thread.join()
        assert self._process.stdout is not None
        self._process.stdout.close()

    def marks(self) -> Marks:
        """Return the marks of a recording that has ended."""
        columns = (self._places, self._numbers, self._ends, self._arrivals, self._walls, self._waits)
        return Marks(*(np.array(one) for one in columns), self._said)


class Marks:
    """The marks of a recording, with the instants at which they were audible.

    A block arrives a step before the end of it is audible, and later on a busy machine, but never earlier. So the quickest
    arrivals give the time, but for a constant, and the calibrations give the constant.
    """

    def __init__(
        self,
        places: np.ndarray,
        numbers: np.ndarray,
        ends: np.ndarray,
        arrivals: np.ndarray,
        walls: np.ndarray,
        waits: np.ndarray,
        said: list[Calibration],
    ) -> None:
        """Compute the instants."""
        line = np.polyfit(ends, arrivals, 1)
        late = arrivals - np.polyval(line, ends)
        window = ((arrivals - arrivals[0]) / WINDOW).astype(int)
        quickest = np.array([(at := np.flatnonzero(window == one))[late[at].argmin()] for one in np.unique(window)])
        instants = np.polyval(line, places) + np.interp(places, ends[quickest], late[quickest])
        # Seconds of the recording per second of the clock, less 1.
        self.skew = float(1 / np.polyfit(ends[quickest], arrivals[quickest], 1)[0] / RATE - 1) if len(quickest) > 1 else 0.0

        medians = []
        for first, last, rows in said:
            marked = np.flatnonzero(numbers[first:last] >= code.CALIBRATION) + first
            near = [marked[np.abs(numbers[marked] - number).argmin()] for _, number in rows]
            # The calibrator says when the frame after those that it has written so far will be audible.
            offsets = [
                instant - instants[mark] - (number - numbers[mark]) / RATE
                for mark, (instant, number) in zip(near, rows, strict=True)
            ]
            medians.append(float(np.median(offsets)))
        self.offset = float(np.mean(medians))
        # Seconds by which the calibrations differ: the instants are as good as this.
        self.spread = float(np.ptp(medians))

        own = np.flatnonzero((numbers >= 0) & (numbers < code.CALIBRATION))
        self.places, self.numbers = places[own], numbers[own]
        self.instants = instants[own] + self.offset
        self.walls = self.instants + np.interp(self.instants, arrivals, walls - arrivals)
        # Seconds that the processes had waited for a processor by the time of a mark.
        self.waits = np.interp(self.instants, arrivals, waits)
