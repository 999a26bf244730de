"""Small files of three formats, encoded once, whose tags are written anew for each track: real files at the price of a copy."""
import base64
import pathlib
import random
import struct
import subprocess
import zlib

import numpy as np

from harness.code import RATE

SECONDS = (1, 2, 3, 5)
# What encoders and taggers leave free for later.
PADDING = {"flac": 4096, "mp3": 1024}
_REVERSED = bytes(int(f"{byte:08b}"[::-1], 2) for byte in range(256))


class Templates:
    """Encoders run once for each format and length; `folder` is for what they write."""

    def __init__(self, folder):
        folder = pathlib.Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        encoders = {
            "flac": lambda wave, path, _: ["flac", "--silent", "--force", "--no-padding", "-o", path, wave],
            # Some have no header that says their length.
            "mp3": lambda wave, path, number: ["lame", "--silent", "-b", "32", *(["-t"] if number == 0 else []), wave, path],
            "opus": lambda wave, path, _: ["opusenc", "--quiet", "--bitrate", "16", "--discard-comments", wave, path],
        }
        self.sound = {}
        for kind, command in encoders.items():
            for number, seconds in enumerate(SECONDS):
                wave, path = folder / "template.wav", folder / f"template.{kind}"
                _write_wave(wave, seconds)
                subprocess.run([str(word) for word in command(wave, path, number)], check=True)
                self.sound.setdefault(kind, []).append(_parts(kind, path.read_bytes()))
        self.pictures = [_picture(number) for number in range(4)]
        self.blocks = [_flac_picture(picture) for picture in self.pictures]
        self.texts = [base64.b64encode(block) for block in self.blocks]

    def file(self, kind, number, tags, picture=None):
        """The bytes of a file: `number` selects its sound; `tags`: [(Vorbis name, text)]; `picture`: number of one, or None."""
        sound = self.sound[kind][number % len(SECONDS)]
        return {"flac": self._flac, "mp3": self._mp3, "opus": self._opus}[kind](sound, tags, picture, number)

    def _flac(self, sound, tags, picture, _):
        stream, frames = sound
        blocks = [(0, stream), (4, _comments(tags))]
        if picture is not None:
            blocks.append((6, self.blocks[picture]))
        blocks.append((1, bytes(PADDING["flac"])))
        heads = (struct.pack(">I", (128 if place == len(blocks) - 1 else 0) << 24 | code << 24 | len(block)) + block
                 for place, (code, block) in enumerate(blocks))
        return b"fLaC" + b"".join(heads) + frames

    def _opus(self, sound, tags, picture, _):
        head, serial, rest = sound
        if picture is not None:
            tags = [*tags, ("METADATA_BLOCK_PICTURE", self.texts[picture])]
        body = b"OpusTags" + _comments(tags)
        lacing = b"\xff" * (len(body) // 255) + bytes([len(body) % 255])
        if len(lacing) > 255:
            raise ValueError("the tags do not fit into one page")
        page = b"OggS\0\0" + bytes(8) + serial + struct.pack("<II", 1, 0) + bytes([len(lacing)]) + lacing + body
        return b"".join((head, page[:22], struct.pack("<I", _ogg_sum(page)), page[26:], rest))

    def _mp3(self, sound, tags, picture, number):
        # Both versions that taggers write.
        version = 4 if number % 3 else 3
        frames = [_id3_frame(version, *field) for field in _id3_fields(tags, version)]
        if picture is not None:
            frames.append(_id3_frame(version, b"APIC", b"\0image/png\0\x03\0" + self.pictures[picture]))
        body = b"".join(frames) + bytes(PADDING["mp3"])
        return b"ID3" + bytes([version, 0, 0]) + _synchsafe(len(body)) + body + sound


def _write_wave(path, seconds):
    """A short tone and silence, which coders make small."""
    time = np.arange(RATE // 20) / RATE
    samples = np.zeros((seconds * RATE, 2), dtype="<i2")
    samples[:len(time)] = (np.sin(2 * np.pi * 440 * time) * 3000)[:, None]
    data = samples.tobytes()
    head = struct.pack("<4sI4s4sIHHIIHH4sI", b"RIFF", 36 + len(data), b"WAVE", b"fmt ", 16, 1, 2, RATE, RATE * 4, 4, 16,
                       b"data", len(data))
    path.write_bytes(head + data)


def _parts(kind, data):
    """What of an encoded file stays in each copy of it."""
    if kind == "mp3":
        return data
    if kind == "flac":
        place, stream = 4, None
        while True:
            head, = struct.unpack_from(">I", data, place)
            code, length = head >> 24 & 127, head & 0xFFFFFF
            if code == 0:
                stream = data[place + 4:place + 4 + length]
            place += 4 + length
            if head >> 31:
                return stream, data[place:]
    ends, place = [], 0
    while place < len(data):
        count = data[place + 26]
        place += 27 + count + sum(data[place + 27:place + 27 + count])
        ends.append(place)
    return data[:ends[0]], data[14:18], data[ends[1]:]


def _comments(tags):
    """A block of Vorbis comments."""
    texts = [name.encode() + b"=" + (text if isinstance(text, bytes) else text.encode()) for name, text in tags]
    fields = b"".join(struct.pack("<I", len(text)) + text for text in texts)
    return struct.pack("<I", 9) + b"templates" + struct.pack("<I", len(texts)) + fields


def _picture(number):
    """A PNG of 12 KB that no two pictures share."""
    side = 64
    rows = random.Random(number).randbytes(side * side * 3)
    lines = b"".join(b"\0" + rows[row * side * 3:(row + 1) * side * 3] for row in range(side))
    chunks = ((b"IHDR", struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)), (b"IDAT", zlib.compress(lines)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body)) for name, body in chunks)


def _flac_picture(picture):
    return struct.pack(">II9sIIIIII", 3, 9, b"image/png", 0, 64, 64, 24, 0, len(picture)) + picture


def _ogg_sum(page):
    """The checksum of a page. That of zlib takes the bits in the other order, and begins and ends with ones."""
    return int(f"{zlib.crc32(page.translate(_REVERSED), 0xFFFFFFFF) ^ 0xFFFFFFFF:032b}"[::-1], 2)


# The frame of each tag; what has none of its own is a TXXX with a name.
_FRAMES = {"TITLE": b"TIT2", "ARTIST": b"TPE1", "ALBUMARTIST": b"TPE2", "ALBUM": b"TALB", "COMPOSER": b"TCOM",
           "GENRE": b"TCON", "LABEL": b"TPUB", "ARTISTSORT": b"TSOP"}
_NAMES = {"MUSICBRAINZ_ALBUMID": "MusicBrainz Album Id", "MUSICBRAINZ_ARTISTID": "MusicBrainz Artist Id",
          "MUSICBRAINZ_ALBUMARTISTID": "MusicBrainz Album Artist Id"}


def _id3_fields(tags, version):
    """(frame, bytes) of tags by their Vorbis names."""
    texts = dict(tags)
    for name, text in tags:
        if name in _FRAMES:
            yield _FRAMES[name], _id3_text(text, version)
        elif name in _NAMES:
            yield b"TXXX", _id3_text(_NAMES[name] + "\0" + text, version)
        elif name == "DATE":
            yield (b"TDRC", _id3_text(text, version)) if version == 4 else (b"TYER", _id3_text(text[:4], version))
        elif name == "TRACKNUMBER":
            yield b"TRCK", _id3_text(f"{text}/{texts['TRACKTOTAL']}", version)
        elif name == "DISCNUMBER":
            yield b"TPOS", _id3_text(f"{text}/{texts['DISCTOTAL']}", version)
        elif name == "MUSICBRAINZ_TRACKID":
            yield b"UFID", b"http://musicbrainz.org\0" + text.encode()


def _id3_text(text, version):
    if text.isascii():
        return b"\0" + text.encode()
    if version == 4:
        return b"\x03" + text.encode()
    return b"\x01" + b"\0\0".join(b"\xff\xfe" + part.encode("utf-16-le") for part in text.split("\0"))


def _id3_frame(version, name, body):
    return name + (_synchsafe(len(body)) if version == 4 else struct.pack(">I", len(body))) + b"\0\0" + body


def _synchsafe(number):
    return bytes(number >> shift & 127 for shift in (21, 14, 7, 0))
