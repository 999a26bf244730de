"""The library: scans beside MPD, a million tracks through the socket, and sound while a scan runs."""
import os
import subprocess

from harness.collection import Collection
from measures import library_questions, library_scans, library_sound


def run(bench):
    program = bench.program.parent / "nowplaying-library"
    memory = bench.memory_folder()
    collection = Collection(memory / "Music", bench.folder(), bench.files).write()
    rows = library_scans.run(bench, program, collection)
    rows += library_questions.run(bench, program, _maker(bench), memory / "million")
    return rows + (library_sound.run(bench, program, collection) if bench.minutes > 0 else [])


def _maker(bench):
    """The program that makes databases of generated libraries."""
    root = bench.program.parent.parent
    environment = dict(os.environ, NOWPLAYING_LIBRARY_BENCHMARK="1")
    subprocess.run(["Scripts/build", "librarybenchmark"], cwd=root, env=environment, check=True)
    return root / ".build/release/librarybenchmark"
