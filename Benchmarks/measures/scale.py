"""A long queue, and many subscribers."""
import os
import shutil
import socket
import subprocess
import sys
import time

from harness.median import median
from harness.process import memory

ENTRIES, SUBSCRIBERS, EVENTS = 100_000, 500, 40
# As many as the daemon takes, but for two that command.
MOST = 4094
LISTED = 1_000_000
# Asks one state after the other, and prints the longest answer in milliseconds when its input ends.
ASKER = """
import select, socket, sys, time
daemon = socket.socket(socket.AF_UNIX); daemon.connect(sys.argv[1]); longest = 0
while not select.select([sys.stdin], [], [], 0)[0]:
    begun = time.monotonic(); daemon.sendall(b'{"jsonrpc":"2.0","id":1,"method":"nowPlaying.get"}\\n'); piece = b""
    while not piece.endswith(b"\\n"): piece += daemon.recv(65536)
    longest = max(longest, time.monotonic() - begun); time.sleep(0.0005)
print(longest * 1e3)
"""
# MPD opens every file that it is given by name, so that it has a tenth, and its time counts ten times.
FEWER = {"mpd": 10}


def run(bench):
    paths = _links(bench)
    # Where they have no number, the table says why.
    for name, why in (("mopidy", f"is not given {ENTRIES} entries: it looks every name up by itself"),
                      ("cmus", "reports no pause to its clients")):
        if name in bench.players:
            bench.remark(f"{name} {why}.")
    queues = bench.in_turn("scale, queue", lambda player, server: _queue(player, paths),
                           players=[name for name in bench.players if name != "mopidy"])
    reached = bench.in_turn("scale, subscribers", lambda player, server: _subscribers(bench, player),
                            players=[name for name, kind in bench.players.items() if getattr(kind, "tells", True)])
    small = bench.in_turn("scale, subscribers to the state alone", lambda player, server: _subscribers(
        bench, player, fields=["state"]), players=["nowplayingd"])
    most = bench.in_turn("scale, most subscribers", lambda player, server: _subscribers(bench, player, MOST), players=["nowplayingd"])
    listed = bench.in_turn("scale, list", lambda player, server: _listed(bench, player), players=["nowplayingd"])
    queue, last = ({name: results[0] for name, results in found.items()} for found in (queues, reached))
    listed, most, small = ({name: results[0] for name, results in found.items()} for found in (listed, most, small))
    lasts = {name: median(found["last ms"]) for name, found in last.items()}
    rivals = [float(span) for name, span in lasts.items() if name != "nowplayingd"]
    bench.note("scale", {"queue": queue, "subscribers": last, "small": small, "most": most, "list": listed})
    return [
        *bench.rows(f"{LISTED} entries from one file", {n: f["seconds"] for n, f in listed.items()}, "s", 4),
        *bench.rows("the longest that another client waits meanwhile", {n: f["longest ms"] for n, f in listed.items()}, "ms", 5),
        *bench.rows("memory of each", {n: f["bytes"] for n, f in listed.items()}, "bytes", 150),
        *bench.rows(f"{ENTRIES} queue entries", {n: f["seconds"] for n, f in queue.items()}, "s", 0.3),
        *bench.rows("memory of each", {n: f["bytes"] for n, f in queue.items()}, "bytes", 150),
        *bench.rows(f"{SUBSCRIBERS} subscribers get a pause or play, the last, p50", lasts, "ms",
                    round(min(rivals), 2) if rivals else None),
        *bench.rows(f"{SUBSCRIBERS} subscribers to the field state get it, the last, p50",
                    {n: median(f["last ms"]) for n, f in small.items()}, "ms", round(min(rivals), 2) if rivals else None),
        *bench.rows(f"{MOST} subscribers get it, the last, p50", {n: median(f["last ms"]) for n, f in most.items()}, "ms",
                    round(8.2 * float(lasts["nowplayingd"]), 2) if "nowplayingd" in lasts else None)]


def _links(bench):
    """Names of one short file and of its copies."""
    source, folder = bench.material.short(), bench.material.folder / "names"
    paths = []
    for number in range(ENTRIES):
        path = folder / f"{number // 1000:03}" / f"track {number:06}.flac"
        if number % 1000 == 0:
            path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists():
            try:
                os.link(source, path)
            except OSError:  # ext4 takes 65,000 links of a file
                source = shutil.copyfile(source, folder / f"copy {number}.flac")
                os.link(source, path)
        paths.append(str(path.absolute()))
    return paths


def _queue(player, paths):
    """Time until all are in the queue, and growth of the memory of its own, an entry."""
    share = FEWER.get(player.name, 1)
    paths = paths[:len(paths) // share]
    # Until what the start needed was given back.
    time.sleep(1)
    before, begun = memory(player.pid)["uss"], time.monotonic()
    player.add(paths)
    seconds = time.monotonic() - begun
    if (length := player.length()) < len(paths):
        raise RuntimeError(f"{length} of {len(paths)} entries are in the queue")
    time.sleep(1)
    return {"seconds": seconds * share, "entries": len(paths), "bytes": (memory(player.pid)["uss"] - before) / len(paths)}


def _listed(bench, player):
    """Time until a list is in the queue, growth of the memory, and the longest answer of others meanwhile."""
    folder = bench.folder()
    folder.mkdir(parents=True)
    # One file under a name as long as usual ones.
    link, name = folder / f"{'track' * 8}.flac", folder / "list"
    link.symlink_to(bench.material.short())
    name.write_text(f'"{link}"\n' * LISTED)
    time.sleep(1)
    before = memory(player.pid)["uss"]
    asker = subprocess.Popen([sys.executable, "-c", ASKER, str(player.path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    time.sleep(0.5)
    begun = time.monotonic()
    with open(name, "rb") as file:
        request = player.connection.request("queue.add", list={"descriptor": 0})
        socket.send_fds(player.connection.socket, [request], [file.fileno()])
        player.connection.line()
    seconds = time.monotonic() - begun
    time.sleep(1)
    longest = float(asker.communicate()[0])
    if (length := player.length()) < LISTED:
        raise RuntimeError(f"{length} of {LISTED} entries are in the queue")
    return {"seconds": seconds, "longest ms": longest, "bytes": (memory(player.pid)["uss"] - before) / LISTED}


def _subscribers(bench, player, count=SUBSCRIBERS, **parameters):
    """Milliseconds from the command to the first and to the last subscriber's event, pause and play in turn: a program in C
    reads them all. `parameters`: of the subscriptions."""
    player.load(bench.material.first())
    player.play()
    time.sleep(0.5)
    program = bench.compiled("subscribers")
    pause, play, words = player.broadcast(**parameters)
    begun = memory(player.pid)["uss"]
    readers = subprocess.Popen([program, player.path, str(count), *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        if readers.stdout.readline() != "ready\n":
            raise RuntimeError(f"{count} subscribers cannot connect")
        size = (memory(player.pid)["uss"] - begun) / count
        spans = []
        for number in range(EVENTS):
            readers.stdin.write(play if number % 2 else pause)
            readers.stdin.flush()
            spans.append([int(word) / 1e6 for word in readers.stdout.readline().split()[:3]])
    finally:
        readers.kill()
        readers.wait()
    return dict(zip(("first ms", "last ms", "answer ms"), map(list, zip(*spans)))) | {"bytes": size}
