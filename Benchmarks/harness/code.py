"""Sound that says where it is: every frame of it holds its own number.

The left sample is the frame number modulo 65521, sent through a fixed permutation (so that it is noise, which no
coder can shrink); the right one is minus one minus the quotient. Silence has no negative right sample, so it is never
taken for code. Unique for 13 hours at 44.1 kHz, exact as long as the samples arrive unchanged.
"""
import pathlib
import subprocess
import wave

import numpy as np

RATE = 44_100
MODULUS = 65_521
# Frame numbers from here on belong to the recorder's calibration.
CALIBRATION = 32_000 * MODULUS

_forward = (np.random.default_rng(20_26).permutation(MODULUS) - MODULUS // 2).astype(np.int16)
_backward = np.full(65_536, -1, dtype=np.int64)
_backward[_forward.astype(np.int64) + 32_768] = np.arange(MODULUS)


def frames(start, count):
    """`count` frames of code from frame number `start`, 16 bit stereo."""
    number = np.arange(start, start + count, dtype=np.int64)
    return np.stack([_forward[number % MODULUS], (-1 - number // MODULUS).astype(np.int16)], axis=1)


def numbers(pcm):
    """The frame number that each recorded frame holds, -1 where there is none."""
    remainder = _backward[pcm[:, 0].astype(np.int64) + 32_768]
    number = remainder + MODULUS * (-1 - pcm[:, 1].astype(np.int64))
    number[(remainder < 0) | (pcm[:, 1] >= 0)] = -1
    follows = np.zeros(len(number), dtype=bool)
    follows[1:] = (number[1:] == number[:-1] + 1) & (number[:-1] >= 0)
    # A frame counts when one of its neighbours agrees.
    agrees = follows.copy()
    agrees[:-1] |= follows[1:]
    number[~agrees] = -1
    return number


def write_flac(path, blocks, *options):
    """Encodes blocks of 16 bit stereo frames."""
    encoder = subprocess.Popen(
        ["flac", "--silent", "--force", "--force-raw-format", "--endian=little", "--sign=signed", "--channels=2",
         "--bps=16", f"--sample-rate={RATE}", *options, "-o", str(path), "-"], stdin=subprocess.PIPE)
    for block in blocks:
        encoder.stdin.write(block.astype("<i2").tobytes())
    encoder.stdin.close()
    if encoder.wait():
        raise RuntimeError(f"flac could not write {path}")


def coded(start, seconds, piece=30):
    """Blocks of code."""
    for second in range(0, seconds, piece):
        yield frames(start + second * RATE, min(piece, seconds - second) * RATE)


def music(seconds, piece=30):
    """Blocks that a coder shrinks as it does music: two voices over soft noise."""
    random = np.random.default_rng(3)
    for second in range(0, seconds, piece):
        count = min(piece, seconds - second) * RATE
        time = np.arange(count) / RATE
        noise = np.cumsum(random.standard_normal((count, 2)), axis=0)
        noise -= np.linspace(noise[0], noise[-1], count)
        voices = np.stack([np.sin(2 * np.pi * 220 * time), np.sin(2 * np.pi * 331 * time)], axis=1)
        hiss = random.standard_normal((count, 2)) * 300
        yield np.clip(voices * 6000 + noise * 20 + hiss, -32_000, 32_000)


class Material:
    """Files that measures play, each made when it is first wanted and kept in `folder`."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)

    def _made(self, name, make):
        path = self.folder / name
        if not path.exists():
            part = path.with_suffix(".part")
            make(part)
            part.rename(path)
        # Into the page cache: what a disk takes is not what is measured here.
        with open(path, "rb", buffering=0) as file:
            while file.read(1 << 24):
                pass
        return path

    def first(self):
        """Ten minutes of code from frame 0."""
        return self._made("first.flac", lambda path: write_flac(path, coded(0, 600), "-2"))

    def second(self):
        """The ten minutes of code after `first`."""
        return self._made("second.flac", lambda path: write_flac(path, coded(600 * RATE, 600), "-2"))

    def music(self):
        """Ten minutes that cost a decoder what music costs."""
        return self._made("music.flac", lambda path: write_flac(path, music(600), "-5"))

    def long(self, table=False):
        """Ten hours of code (3 GB), with or without a seek table."""
        def make(path):
            write_flac(path, coded(0, 36_000), "-0", "--no-seektable")
            if table:
                # flac makes none of what comes through a pipe: it does not know how long that will be.
                subprocess.run(["metaflac", "--add-seekpoint=10s", str(path)], check=True)

        return self._made("long-table.flac" if table else "long.flac", make)

    def pieces(self, count, seconds):
        """So many files, cut from one code."""
        return [self._made(f"piece-{seconds}-{number}.flac", lambda path, number=number: write_flac(
            path, coded(number * seconds * RATE, seconds), "-2")) for number in range(count)]

    def clip(self, kind="wav"):
        """Half a second of code, as a doorbell is."""
        def make(path):
            if kind == "flac":
                return write_flac(path, [frames(0, RATE // 2)], "-2")
            with wave.open(str(path), "wb") as file:
                file.setparams((2, 2, RATE, 0, "NONE", ""))
                file.writeframes(frames(0, RATE // 2).astype("<i2").tobytes())
        return self._made(f"clip.{kind}", make)

    def silence(self):
        """Ten minutes of silence: what is said over it is recorded as it is."""
        return self._made("silence.flac", lambda path: write_flac(path, (frames(0, 30 * RATE) * 0 for _ in range(20)), "-2"))

    def short(self):
        """Three seconds of code."""
        return self._made("short.flac", lambda path: write_flac(path, coded(0, 3), "-2"))
