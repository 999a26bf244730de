"""Questions to a library through MPD's protocol: the whole of it, and searches with few hits."""
import random
import shutil
import socket
import statistics
import time

from harness.bridge import Bridge, Server
from harness.collection import Collection
from harness.lines import until
from harness.process import memory

SEARCHES, MOST_HITS, WHOLE = 40, 100, 5


def run(bench):
    folder = bench.memory_folder()
    Collection(folder / "Music", bench.folder(), bench.files).write()
    players = {Bridge.name: Bridge(bench.folder(), None, bench.program, folder / "Music")}
    if "mpd" in bench.players:
        players["mpd"] = Server(bench.folder(), folder / "Music")
    found, titles = {}, None
    for name, player in players.items():
        with player:
            until(lambda player=player: _is_ready(player, bench.files), f"the library of {name}", 900, 0.5)
            found[name] = _listing(bench, player)
            # Both are asked for the same titles.
            titles = titles or _titles(player.path)
            found[name]["search with at most 100 hits, p50"] = statistics.median(_search(player.path, titles))
    shutil.rmtree(folder, ignore_errors=True)
    return found


def _is_ready(player, files):
    return int(player.call("stats").get("songs", 0)) == files and "updating_db" not in player.call("status")


def _connect(path):
    connection = socket.socket(socket.AF_UNIX)
    connection.settimeout(120)
    connection.connect(str(path))
    connection.recv(100)
    return connection


def _answer(connection, request, take=None):
    """Seconds to the first bytes and to the end of an answer; `take` gets its parts."""
    begun, first, tail = time.monotonic(), None, b""
    connection.sendall(request + b"\n")
    while not tail.endswith(b"\nOK\n") and tail != b"OK\n":
        part = connection.recv(1 << 20)
        if not part or part.startswith(b"ACK "):
            raise RuntimeError(f"{request}: {part[:200]}")
        first = first or time.monotonic() - begun
        tail = (tail + part)[-4:]
        if take:
            take(part)
    return first, time.monotonic() - begun


def _listing(bench, player):
    with _connect(player.path) as connection:
        turns = [_answer(connection, b"listallinfo") for _ in range(WHOLE)]
    with _connect(player.path) as slow:
        slow.sendall(b"listallinfo\n")
        slow.recv(1 << 16)
        time.sleep(2)
        size = memory(player.pid)["pss"] / 2**20
    return {f"listallinfo of {bench.files} songs": statistics.median(whole for _, whole in turns),
            "first line of listallinfo": 1e3 * statistics.median(first for first, _ in turns),
            "memory while a reader of listallinfo stands still": size}


def _titles(path):
    """Titles that few songs have."""
    parts = []
    with _connect(path) as connection:
        _answer(connection, b"list title", parts.append)
        lines = b"".join(parts).decode(errors="replace").splitlines()
        values = [line[7:] for line in lines if line.startswith("Title: ") and len(line) > 10]
        random.Random(1).shuffle(values)
        found = []
        for value in values:
            hits = []
            _answer(connection, _request(value), hits.append)
            if 0 < b"".join(hits).count(b"file: ") <= MOST_HITS:
                found.append(value)
            if len(found) == SEARCHES:
                return found
    raise RuntimeError("too few titles with few hits")


def _request(title):
    quoted = title.replace("\\", "\\\\").replace('"', '\\"')
    return f'search title "{quoted}"'.encode()


def _search(path, titles):
    """Milliseconds of each search."""
    with _connect(path) as connection:
        return [1e3 * _answer(connection, _request(title))[1] for title in titles]
