#!/usr/bin/env python3
"""Makes a folder of 200 files of every format, with tags that are hard to answer rightly.

usage: make_music.py FOLDER [FORMAT…]     files of these formats have one artist
"""
import os
import random
import subprocess
import sys

import mutagen
from mutagen.flac import FLAC, Picture
from mutagen.id3 import APIC, ID3, TXXX
from mutagen.mp4 import MP4, MP4FreeForm

FORMATS = ["flac", "mp3", "ogg", "opus", "m4a", "wav", "aiff", "wv"]
ARTISTS = ["Björk", "Sigur Rós", "AC/DC", "Miles Davis", "The \"Quoted\"", "It's", "Ärzte", "STRASSE", "straße",
           "東京事変", "Back\\slash", "Anna", "anna", "Zoë  Two Spaces"]
ALBUMS = ["Homogenic", "( )", "Back in Black", "Kind of Blue", "A & B", "ALBUM 1999", "Ünïcödé", "12", "A"]
GENRES = ["Jazz", "Rock", "Post-Rock", "jazz", "Électro", "J-Pop"]


def sound(path, seconds, rate, channels, bits):
    """Noise in the format of the suffix."""
    suffix = path.rsplit(".", 1)[1]
    options = {
        "flac": ["-sample_fmt", "s16" if bits == 16 else "s32"], "mp3": ["-c:a", "libmp3lame", "-b:a", "96k"],
        "ogg": ["-c:a", "libvorbis"], "opus": ["-c:a", "libopus"], "m4a": ["-c:a", "aac"],
        "wav": ["-c:a", f"pcm_s{bits}le"], "aiff": ["-c:a", f"pcm_s{bits}be"], "wv": ["-c:a", "wavpack"],
    }[suffix]
    subprocess.run(
        ["ffmpeg", "-nostdin", "-v", "error", "-y", "-f", "lavfi", "-i",
         f"anoisesrc=d={seconds}:r={rate}:a=0.1:seed={abs(hash(path)) % 10000}",
         "-ac", str(channels), "-ar", str(rate), "-map_metadata", "-1", "-fflags", "+bitexact", *options, path],
        check=True)


def tag(path, tags, cover):
    """Writes tags by the names of Vorbis comments; a list is several values."""
    suffix = path.rsplit(".", 1)[1]
    if suffix in ("flac", "ogg", "opus"):
        file = mutagen.File(path)
        for name, value in tags.items():
            file[name] = value
        if cover and suffix == "flac":
            picture = Picture()
            picture.data, picture.type, picture.mime = cover, 3, "image/png"
            picture.width = picture.height = 8
            picture.depth = 24
            file.add_picture(picture)
        file.save()
    elif suffix in ("mp3", "wav", "aiff"):
        easy = {"artist": "TPE1", "album": "TALB", "title": "TIT2", "genre": "TCON", "date": "TDRC",
                "albumartist": "TPE2", "tracknumber": "TRCK", "discnumber": "TPOS", "composer": "TCOM",
                "artistsort": "TSOP", "label": "TPUB"}
        if suffix == "mp3":
            file = ID3()
        else:
            holder = mutagen.File(path)
            if holder.tags is None:
                holder.add_tags()
            file = holder.tags
        for name, value in tags.items():
            values = value if isinstance(value, list) else [value]
            if name in easy:
                frame = getattr(mutagen.id3, easy[name])
                file.add(frame(encoding=3, text=values))
            elif name == "musicbrainz_albumid":
                file.add(TXXX(encoding=3, desc="MusicBrainz Album Id", text=values))
        if cover:
            file.add(APIC(encoding=3, mime="image/png", type=3, desc="", data=cover))
        if suffix == "mp3":
            file.save(path)
        else:
            holder.save()
    elif suffix == "m4a":
        file = MP4(path)
        names = {"artist": "©ART", "album": "©alb", "title": "©nam", "genre": "©gen", "date": "©day",
                 "albumartist": "aART", "composer": "©wrt", "artistsort": "soar"}
        for name, value in tags.items():
            values = value if isinstance(value, list) else [value]
            if name in names:
                file[names[name]] = values[:1]
            elif name == "tracknumber":
                file["trkn"] = [(int(str(values[0]).split("/")[0]), 0)]
            elif name == "discnumber":
                file["disk"] = [(int(str(values[0]).split("/")[0]), 0)]
            elif name == "musicbrainz_albumid":
                file["----:com.apple.iTunes:MusicBrainz Album Id"] = [MP4FreeForm(v.encode()) for v in values]
        file.save()
    elif suffix == "wv":
        file = mutagen.File(path)
        if file.tags is None:
            file.add_tags()
        names = {"tracknumber": "Track", "discnumber": "Disc", "date": "Year", "albumartist": "Album Artist"}
        for name, value in tags.items():
            file[names.get(name, name.title())] = value
        file.save()


def main():
    top, single = sys.argv[1], sys.argv[2:]
    os.makedirs(top, exist_ok=True)
    rng = random.Random(24)
    cover = subprocess.run(
        ["ffmpeg", "-nostdin", "-v", "error", "-f", "lavfi", "-i", "color=red:s=8x8:d=0.1", "-frames:v", "1", "-f",
         "image2pipe", "-c:v", "png", "-"], check=True, capture_output=True).stdout
    for number in range(200):
        suffix = FORMATS[number % len(FORMATS)]
        artist = rng.choice(ARTISTS)
        album = rng.choice(ALBUMS)
        tags = {}
        if number % 11:
            tags["title"] = f"Song {number}" if number % 7 else rng.choice(["Title", "title", "Ünder", "a  b", "x:y"])
        if number % 13:
            tags["artist"] = artist if number % 9 else [artist, rng.choice(ARTISTS) + " feat."]
            if suffix in single and number % 9 == 0:
                del tags["artist"][1:]
        if number % 5:
            tags["album"] = album
        if number % 3 == 0:
            tags["albumartist"] = rng.choice(ARTISTS)
        if number % 4:
            tags["genre"] = rng.choice(GENRES)
        if number % 6:
            tags["date"] = rng.choice(["1999", "1959-08-17", "2004", "1984-01"])
        tags["tracknumber"] = str(number % 17 + 1)
        if number % 8 == 1:
            tags["discnumber"] = str(number % 2 + 1)
        if number % 10 == 3:
            tags["composer"] = "J. S. Bach"
        if number % 10 == 4:
            tags["artistsort"] = "Sorted, " + artist
        if number % 12 == 5:
            tags["musicbrainz_albumid"] = "0a1b2c3d-0000-4000-8000-%012d" % (number % 3)
        folder = [artist.replace("/", "_"), album] if number % 4 else [rng.choice(["Various", "deep/er/still", ""])]
        place = os.path.join(top, *folder)
        os.makedirs(place, exist_ok=True)
        name = rng.choice(["%03d", "%03d song", "%03d 'q' \"d\"", "%03d ünï", "%03d-x"]) % number + "." + suffix
        path = os.path.join(place, name)
        rate, channels = rng.choice([(44100, 2), (48000, 2), (44100, 1)])
        if suffix == "opus":
            rate = 48000
        sound(path, rng.choice([0.4, 1.0, 1.5, 2.25]), rate, channels, rng.choice([16, 24]))
        tag(path, tags, cover if number % 8 in (0, 1) and number % 3 else None)
        if number == 40:
            os.rename(path, os.path.join(os.fsencode(place), b"caf\xe9." + suffix.encode()))
        if number in (16, 21):
            with open(os.path.join(place, "cover.png"), "wb") as file:
                file.write(cover)
        os.utime(place, (1_500_000_000, 1_500_000_000))
    for root, _, files in os.walk(os.fsencode(top)):
        for file in sorted(files):
            os.utime(os.path.join(root, file), (1_600_000_000 + len(file), 1_600_000_000 + len(file)))
    with open(os.path.join(top, "list one.m3u"), "w", encoding="utf-8") as file:
        names = sorted(os.path.relpath(os.path.join(root, name), top)
                       for root, _, files in os.walk(top) for name in files if name.endswith("flac"))
        file.write("\n".join(names[:5]) + "\n")


main()
