"""Scans of a folder of small files that lie in memory, by the library and by MPD in turn."""
import subprocess
import time

import numpy as np

from harness.daemon import Daemon
from harness.library import Library, used
from harness.lines import until
from rivals.mpd import Scanner

ROUNDS, CHANGES = 3, 20


def run(bench, program, collection):
    found = {"nowplayingd": [], "mpd": []}
    for number in range(ROUNDS):
        # Each is the first to go as often as the other, or nearly so.
        for name in list(found) if number % 2 == 0 else reversed(list(found)):
            if name == "mpd" and "mpd" not in bench.players:
                continue
            scan = _ours if name == "nowplayingd" else _mpd
            found[name].append(scan(bench, program, collection))
    found = {name: rounds for name, rounds in found.items() if rounds}
    changes = _changes(bench, program, collection)
    share = _share(bench, program, collection)
    bench.note("library, scans", {"files": collection.count, "rounds": found, "changed s": changes, "share": share})

    def each(figure):
        return {name: float(np.median([one[figure] for one in rounds])) for name, rounds in found.items() if figure in rounds[0]}

    rate = {name: collection.count / seconds for name, seconds in each("first").items()}
    rows = bench.rows(f"first scan of {collection.count} files", each("first"), "s", None)
    if "mpd" in found:
        rows.append(bench.row("the same against MPD", each("first")["nowplayingd"] / each("first")["mpd"], "×", 2.5))
    rows += bench.rows("files a second", rate, "", 6000, least=True)
    rows += bench.rows("CPU of the first scan, with all processes", each("first CPU"), "s", None)
    rows += bench.rows("unchanged rescan", each("again"), "s", each("again").get("mpd"))
    rows += bench.rows("CPU of the rescan", each("again CPU"), "s", None)
    rows.append(bench.row("database after the first scan, of a million such files",
                          each("size")["nowplayingd"] / collection.count, "MB", None))
    rows.append(bench.row(f"changed files found, the slowest of {CHANGES}", max(changes), "s", 2))
    rows.append(bench.row("processors that a first scan takes while music plays", share, "", 0.26))
    return rows


def _ours(bench, program, collection):
    with Library(program, bench.folder(), collection.folder) as library:
        first = library.finished()
        seconds, spent = first["finished"] - library.began, used(library.pid)
        if first["files"] != collection.count or first["faults"]:
            raise RuntimeError(f"a scan of {collection.count} files found {first}")
        size = library.database.stat().st_size
        begun = time.time()
        library.call("library.update")
        again = library.finished(first["finished"])
        if again["added"] or again["changed"] or again["missing"]:
            raise RuntimeError(f"a scan of unchanged files found {again}")
        # The identities of the files are computed after each scan, too.
        return {"first": seconds, "first CPU": spent, "again": again["finished"] - begun,
                "again CPU": used(library.pid) - spent, "size": size}


def _mpd(bench, _, collection):
    with Scanner(bench.folder(), collection.folder) as scanner:
        first, spent = scanner.scanned, used(scanner.pid)
        if scanner.songs() != collection.count:
            raise RuntimeError(f"MPD found {scanner.songs()} of {collection.count} files")
        again = scanner.update()
        return {"first": first, "first CPU": spent, "again": again, "again CPU": used(scanner.pid) - spent}


def _changes(bench, program, collection):
    """Seconds from the end of a change of a file until a client gets its new title."""
    found = []
    chance, templates = collection.chance, collection.templates
    with Library(program, bench.folder(), collection.folder) as library:
        library.finished()
        for number in range(CHANGES):
            path, title = chance.choice(collection.paths), f"Changed {number}"
            with open(path, "wb") as file:
                file.write(templates.file(path.rpartition(".")[2], 0, [
                    ("TITLE", title), ("TRACKNUMBER", "1"), ("TRACKTOTAL", "1")]))
            begun = time.monotonic()
            until(lambda: library.call("library.get", uris=[path], fields=["title"])["rows"][0]["title"] == title,
                  "the new title", 20, 0.01)
            found.append(time.monotonic() - begun)
            time.sleep(chance.random())
    return found


def _share(bench, program, collection):
    """Processors that a scan takes which nobody asked for, while the daemon plays."""
    with Daemon(bench.program, bench.folder()) as daemon:
        daemon.load(bench.material.music())
        daemon.play()
        with Library(program, bench.folder(), collection.folder, daemon=daemon.path) as library:
            until(lambda: library.call("library.status")["daemon"]["state"] == "playing", "the daemon's playing", 10)
            before, begun, share = _all(library.pid), time.monotonic(), None
            while time.monotonic() < begun + 10:
                time.sleep(1)
                spent, seconds = _all(library.pid) - before, time.monotonic() - begun
                if not library.call("library.status")["scan"]:
                    break
                share = spent / seconds
            if share is None:
                raise RuntimeError("the scan ended before its time was taken")
            return share


def _all(pid):
    """CPU seconds of a process and of its children, ended or not."""
    listed = subprocess.run(["ps", "--ppid", str(pid), "-o", "pid="], capture_output=True, text=True).stdout.split()
    return used(pid) + sum(used(child) for child in listed)
