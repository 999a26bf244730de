"""A library of a million tracks: its database, memory and start, and questions through its socket."""
import random
import shutil
import subprocess
import threading
import time

import numpy as np

from harness.daemon import Connection, Daemon
from harness.library import Library
from harness.lines import until
from harness.process import memory

STARTS, QUESTIONS, ADDED = 20, 300, 100_000


def run(bench, program, maker, folder):
    """`folder`: for the files of the tracks, in memory."""
    tracks, artists = bench.tracks, max(1, bench.tracks * 8 // 100)
    home = bench.folder()
    (home / "state").mkdir(parents=True)
    database, tagged = home / "state" / "tracks.db", home / "tagged.db"
    folder.mkdir(parents=True)
    # They share nothing but the processors, one each.
    making = subprocess.Popen([maker, "make", tagged, str(tracks), str(artists), "ids"], stdout=subprocess.DEVNULL)
    subprocess.run([maker, "make", database, str(tracks), str(artists), folder], check=True, stdout=subprocess.DEVNULL)
    if making.wait():
        raise RuntimeError("the database with MusicBrainz ids could not be made")
    sizes = [path.stat().st_size / 1e6 for path in (database, tagged)]
    tagged.unlink()
    with Daemon(bench.program, bench.folder()) as daemon:
        found = _measured(bench, program, home, folder / "Music", daemon)
    shutil.rmtree(folder, ignore_errors=True)
    found = {"database": (sizes[0], "MB", 450 * tracks / 1e6),
             "database with five MusicBrainz ids a track": (sizes[1], "MB", 1000 * tracks / 1e6), **found}
    bench.note("library, questions", {"tracks": tracks, **{what: value for what, (value, _, _) in found.items()}})
    return [bench.row(f"{tracks} tracks: {what}", value, unit, target) for what, (value, unit, target) in found.items()]


def _measured(bench, program, home, music, daemon):
    starts = []
    for _ in range(STARTS):
        with Library(program, home, music, daemon=daemon.path) as library:
            starts.append(library.startup * 1e3)
    found = {"start to the first answer, p50": (np.median(starts), "ms", 30)}
    with Library(program, home, music, daemon=daemon.path) as library:
        scan = library.finished()
        if scan["added"] or scan["changed"] or scan["missing"] or scan["files"] != bench.tracks:
            raise RuntimeError(f"the files are not those of the database: {scan}")
        found["unchanged rescan"] = (scan["seconds"], "s", None)
        # After the first scan the database is put in order.
        until(lambda: not library.call("library.status")["scan"], "the end of all work", 600, 1)
        found |= {"memory at rest": (_resting(library), "MB", 8)}
        texts = _texts(library)
        for letters in (1, 2, 3, 8):
            found |= _spread(f"search of {letters} letters", _searches(library, texts, letters), 5, 25)
        found |= _spread("search of an artist's and a title's word", _pairs(library, texts), 5, 25)
        values = [sum(library.pages("library.values", tag="artist", limit=1000)[0]) for _ in range(9)]
        found["all pages of the artists, p50"] = (np.median(values) * 1e3, "ms", 60)
        found |= _queries(library)
        found |= _walk(library, bench.tracks)
        with Connection(library.path, timeout=600) as foreign:
            foreign.call("hello", role="read")
            begun = time.monotonic()
            foreign.call("library.values", tag="artist", limit=1000)
            found["first page of the artists for another user"] = ((time.monotonic() - begun) * 1e3, "ms", None)
        begun = time.monotonic()
        added = library.call("library.add", filter={"duration": {"atLeast": 0}}, limit=min(ADDED, bench.tracks))
        found[f"{added['count']} tracks added to the queue"] = (time.monotonic() - begun, "s", None)
        found["memory at rest afterwards"] = (_resting(library), "MB", 8)
    return found


def _spread(what, seconds, median, worst):
    times = np.array(seconds) * 1e3
    return {f"{what}, p50": (np.percentile(times, 50), "ms", median), f"{what}, p99": (np.percentile(times, 99), "ms", worst)}


def _resting(library):
    """MB of a library that nobody asks anything; its readers rest two seconds after the last question."""
    least = []
    for _ in range(20):
        time.sleep(1)
        least.append(memory(library.pid)["pss"] / 1e6)
        if len(least) > 5 and abs(least[-1] - least[-4]) < 0.05:
            break
    return least[-1]


def _texts(library):
    """(title, artist, album) of tracks of the whole library."""
    rows = library.call("library.query", sort="random", seed=7, limit=4 * QUESTIONS, fields=["title", "artist", "album"])["rows"]
    return [[row[name] for name in ("title", "artist", "album") if name in row] for row in rows]


def _searches(library, texts, letters):
    """Pieces as people type them: beginnings of words, and for 3 and 8 letters any part."""
    chance, seconds = random.Random(letters), []
    for row in texts:
        text = chance.choice(row)
        start = 0 if letters < 3 else chance.randrange(max(1, len(text) - letters + 1))
        piece = text[start:start + letters]
        if len(piece) == letters and piece.strip() and len(seconds) < QUESTIONS:
            begun = time.monotonic()
            library.answer("library.search", text=piece)
            seconds.append(time.monotonic() - begun)
    return seconds


def _pairs(library, texts):
    """A word of a track's artist and one of its title, the latter as far as people type."""
    chance, seconds = random.Random(77), []
    for row in texts[:QUESTIONS]:
        words = f"{chance.choice(row[1].split())} {chance.choice(row[0].split())[:chance.randint(2, 7)]}"
        begun = time.monotonic()
        library.answer("library.search", text=words)
        seconds.append(time.monotonic() - begun)
    return seconds


def _queries(library):
    orders = (["artist", "album", "trackNumber"], ["title"], ["-added"], ["-date", "album"])
    rows = library.call("library.query", sort="random", seed=11, limit=200, fields=["albumId", "tags"])["rows"]
    albums, filters, own = [], [], []
    for number, row in enumerate(rows):
        tags, order = row["tags"], orders[number % 4]
        albums.append(_asked(library, {"albumId": {"is": row["albumId"]}}, ["discNumber", "trackNumber"]))
        filters.append(_asked(library, {"all": [
            {"genre": {"is": tags["genre"][0]}}, {"date": {"atLeast": tags["date"][0]}}, {"duration": {"atLeast": 180}}]}, order))
        own.append(_asked(library, {"all": [
            {"artist": {"is": tags["artist"][0]}}, {"title": {"contains": "love"}}, {"codec": {"is": "flac"}}]}, order))
    return {"one album, p50": (np.median(albums) * 1e3, "ms", 1),
            "filter of genre, date and length, sorted, 100 rows, p50": (np.median(filters) * 1e3, "ms", 10),
            "filter of artist, title and codec, sorted, p50": (np.median(own) * 1e3, "ms", 10)}


def _asked(library, condition, order):
    begun = time.monotonic()
    library.answer("library.query", filter=condition, sort=order, limit=100)
    return time.monotonic() - begun


def _walk(library, tracks):
    """All rows, 250 a page, and the most memory meanwhile."""
    sizes, done = [], threading.Event()

    def watch():
        while not done.wait(0.25):
            sizes.append(memory(library.pid)["pss"] / 1e6)

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        seconds, _ = library.pages("library.query", limit=250)
    finally:
        done.set()
        watcher.join()
    if len(seconds) != (tracks + 249) // 250:
        raise RuntimeError(f"{tracks} tracks came in {len(seconds)} pages")
    # Pages in turn, so that a busy moment meets both.
    first, last = np.median(seconds[1:41]), np.median(seconds[-41:-1])
    return {"walk of all rows in pages": (sum(seconds), "s", 12 * tracks / 1e6),
            "last pages against first ones": (last / first, "×", 1.2),
            "memory while it is walked": (max(sizes), "MB", 48)}
