"""The database of the library with a million generated tracks: its size, memory and times."""
import os
import subprocess
import time

import numpy as np

TRACKS, ARTISTS, STARTS = 1_000_000, 80_000, 20
TARGETS = {
    "database": 450, "memory at rest": 8, "memory at rest afterwards": 8,
    **{f"search of {letters} letters, p50": 5 for letters in (1, 2, 3, 8)},
    **{f"search of {letters} letters, p99": 25 for letters in (1, 2, 3, 8)},
    "search of an artist's and a title's word, p50": 5, "search of an artist's and a title's word, p99": 25,
    "all pages of the artists": 60, "one album, p50": 1,
    "filter of three tests, genre, year and length, p50": 10, "filter of three tests, artist, title and codec, p50": 10,
    f"walk of {TRACKS} rows": 12, "walk, last pages to first": 1.2, "memory while walking": 48,
}


def run(bench):
    root = bench.program.parent.parent
    environment = dict(os.environ, NOWPLAYING_LIBRARY_BENCHMARK="1")
    subprocess.run(["Scripts/build", "librarybenchmark"], cwd=root, env=environment, check=True)
    program = root / ".build/release/librarybenchmark"
    folder = bench.folder()
    folder.mkdir(parents=True)
    database = folder / "library.db"
    found = _figures([program, "make", database, str(TRACKS), str(ARTISTS)])
    found |= _figures([program, "measure", database])
    starts = []
    for _ in range(STARTS):
        begun = time.monotonic()
        subprocess.run([program, "first", database], check=True, stdout=subprocess.DEVNULL)
        starts.append(1000 * (time.monotonic() - begun))
    found["start to the first answer, p50"] = (np.median(starts), "ms")
    bench.note("library", {name: value for name, (value, _) in found.items()})
    targets = TARGETS | {"start to the first answer, p50": 30}
    return [bench.row(name, value, unit, targets.get(name)) for name, (value, unit) in found.items()]


def _figures(arguments):
    """{name: (value, unit)} of the lines that the program prints."""
    lines = subprocess.run(arguments, check=True, capture_output=True, text=True).stdout.splitlines()
    parts = [line.split("\t") for line in lines]
    return {name: (float(value), unit) for name, value, unit in parts}
