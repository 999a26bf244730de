"""Seek and position of the page beside a recording of the sound: each sample encodes its own position in the item."""

import array
import contextlib
import os
import pathlib
import subprocess
import wave

from browser import until
from controls import state

RATE = 8000
# Frames that have one value; the first value, as silence has 0.
STEP, FIRST = 16, 1000
SECONDS = 50
VALUE = "Number(document.querySelector('.scrub-range').value)"


class SoundServer:
    """A private PulseAudio with a sink that plays into nothing, and a recording of it."""

    def __init__(self, folder):
        self.address, self.path = f"unix:{folder}/sound.sock", pathlib.Path(folder, "heard.raw")
        environment = os.environ | {"HOME": str(folder), "XDG_RUNTIME_DIR": str(folder), "PULSE_SERVER": self.address}
        # The monitor has its own rate and channels, so that samples stay unchanged.
        modules = [
            f"module-null-sink sink_name=box rate={RATE} channels=1 format=s16le",
            f"module-native-protocol-unix socket={folder}/sound.sock",
        ]
        words = ["pulseaudio", "-n", "--daemonize=no", "--use-pid-file=no", "--exit-idle-time=-1", "--disable-shm=yes"]
        self.processes = []
        with open(pathlib.Path(folder, "pulseaudio.log"), "wb") as log:
            options = {"env": environment, "stderr": log, "stdin": subprocess.DEVNULL}
            self.processes.append(subprocess.Popen(words + [f"--load={one}" for one in modules], stdout=log, **options))
            ready = lambda: subprocess.run(["pactl", "info"], env=environment, capture_output=True).returncode == 0
            until(ready, "the sound server")
            # The recorder sets the length of the sink's blocks; a block is recorded before it is audible.
            recorder = ["parec", "--device=box.monitor", "--format=s16le", f"--rate={RATE}", "--channels=1", "--latency-msec=2"]
            with open(self.path, "wb") as file:
                self.processes.append(subprocess.Popen(recorder, stdout=file, **options))

    def close(self):
        for process in reversed(self.processes):
            process.kill()
            process.wait()

    def runs(self):
        """Places of the first and last sample of each piece of sound between silences, in seconds of the item. The last is
        open while the sound lasts."""
        data = self.path.read_bytes()
        samples = array.array("h", data[: len(data) // 2 * 2])
        found, index = [], 0
        while index < len(samples):
            if samples[index] == 0:
                index += 1
                continue
            begin = index
            while index < len(samples) and samples[index] != 0:
                index += 1
            found.append((place(samples, begin, 1), place(samples, index - 1, -1), index < len(samples)))
        return found

    def piece(self, count):
        """The latest of `count` pieces, when it has ended."""
        def ended():
            found = self.runs()
            return len(found) >= count and found[count - 1][2] and found

        found = until(ended, f"the end of piece {count} of the sound")
        assert len(found) == count, found
        return found[-1][:2]


def place(samples, index, way):
    """Seconds of a sample by the distance to the next change of the value."""
    value, count = samples[index], 0
    while 0 <= index < len(samples) and samples[index] == value:
        index, count = index + way, count + 1
    frame = (value - FIRST) * STEP + (STEP - count if way > 0 else count - 1)
    return frame / RATE


def ramp(path):
    """An item whose samples count up."""
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(RATE)
        file.writeframes(array.array("h", [FIRST + frame // STEP for frame in range(RATE * SECONDS)]).tobytes())
    return str(path)


@contextlib.contextmanager
def sounding(house):
    """The daemon plays into a sound server, whose recording is the value."""
    sound = SoundServer(house.folder)
    house.environment["PULSE_SERVER"] = sound.address
    restart(house, "pulse")
    try:
        yield sound
    finally:
        sound.close()
        del house.environment["PULSE_SERVER"]
        restart(house, "null")


def restart(house, output):
    house.end(house.daemon)
    house.output = output
    house.begin_daemon()
    until(lambda: house.call("hello"), "the daemon")


def listen(house, page, sound):
    """Pause, seek and play by the page; returns the largest distances of its position and of its seek."""
    house.call("queue.clear")
    house.call("volume.set", volume=1, muted=False)
    house.call("queue.add", items=[ramp(house.folder / "ramp.wav")], play=True)
    far, missed, target = [], [], 0
    for count, goal in ((1, SECONDS / 2), (2, 0), (3, None)):
        page.until("document.querySelector('.play-button')?.ariaLabel === 'Pause'")
        until(lambda: len(sound.runs()) == count, "sound")
        size = sound.path.stat().st_size
        until(lambda: sound.path.stat().st_size > size + 2 * RATE, "a second of sound")
        page.click(".play-button")
        state(house, "state", "paused")
        page.until("document.querySelector('.play-button').ariaLabel === 'Play'")
        first, last = sound.piece(count)
        missed.append(abs(first - target))
        far.append(abs(last - page.run(VALUE)))
        if goal is None:
            break
        # The middle by the pointer, the beginning by a key.
        if goal > 0:
            page.click(".scrub-range")
        else:
            page.keys(".scrub-range", "Home")
        until(lambda: abs(house.state["anchor"]["elapsed"] - goal) < 1, "the seek")
        page.until(f"Math.abs({VALUE} - {goal}) < 1 && document.querySelector('.is-busy') === null")
        target = page.run(VALUE)
        page.click(".play-button")
    print(f"   position: {1000 * max(far):.1f} ms beside the recording, seek: {1000 * max(missed):.1f} ms")
    return max(far), max(missed)


class Keys:
    """A tab of Chromium with the calls of a browser behind WebDriver."""

    def __init__(self, tab):
        self.run, self.until, self.click, self.tab = tab.run, tab.until, tab.click, tab

    def keys(self, selector, key):
        self.run(f"document.querySelector({selector!r}).focus()")
        self.tab.key(key, {"Home": 36}[key])


def test_heard(house, browser):
    """The sound stops at the page's position, and begins at the target of the page's seek."""
    with sounding(house) as sound:
        house.fresh()
        tab = browser.tab(f"{house.address}/")
        far, missed = listen(house, Keys(tab), sound)
        tab.close()
    assert far <= 0.005 and missed <= 0.005, (far, missed)
