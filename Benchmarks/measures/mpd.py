"""nowplaying-mpd beside MPD itself: states, questions to a library, and the clock. The same clients ask both."""
import select
import socket
import time

from harness.bridge import Bridge, Server
from harness.lines import until
from harness.median import median
from harness.process import Window, memory
from measures import mpd_clock, mpd_library

ASKED, PIPELINED, IDLE, SONGS, RESTING = 2000, 20_000, 500, 1000, 20
# Commands of which idle clients hear.
TURNS = 30


def run(bench):
    ours, theirs = Bridge.name, "mpd"
    found = {ours: _figures(bench, Bridge(bench.folder(), None, bench.program))}
    if theirs in bench.players:
        found[theirs] = _figures(bench, Server(bench.folder()))
    for name, figures in mpd_library.run(bench).items():
        found[name] |= figures
    for name, figures in mpd_clock.run(bench).items():
        found[name] |= figures
    bench.note("mpd", found)
    other = found.get(theirs, {})

    def row(what, unit, target=None, times=None, least=False):
        """`times`: the target in multiples of MPD's figure."""
        if times is not None and what in other:
            target = round(times * float(other[what]), 2)
        return bench.row(what, found[ours][what], unit, target, least, {theirs: other[what]} if what in other else None)
    return [
        row("status, p50", "µs", times=1), row("pipelined status", "a second", times=3, least=True),
        row(f"idle to changed, the last of {IDLE} clients", "ms", times=1),
        row(f"memory with {RESTING} clients and {SONGS} items queued", "MB", 8),
        row(f"wakeups a minute, paused, {RESTING} clients in idle", "", 0),
        row(f"listallinfo of {bench.files} songs", "s", times=3), row("first line of listallinfo", "ms", 10),
        row("memory while a reader of listallinfo stands still", "MB"),
        row("search with at most 100 hits, p50", "ms", times=0.3),
        row("elapsed against the recording, p95", "ms", 2),
    ]


class Client:
    """One connection; answers are read up to `OK`."""

    def __init__(self, path):
        self.socket, self.rest = socket.socket(socket.AF_UNIX), b""
        self.socket.settimeout(60)
        self.socket.connect(str(path))
        self.read(b"\n")

    def read(self, end=b"OK\n"):
        while not self.rest.endswith(end):
            part = self.socket.recv(1 << 16)
            if not part:
                raise ConnectionError("the server has ended the connection")
            self.rest += part
        answer, self.rest = self.rest, b""
        return answer

    def ask(self, *lines):
        self.socket.sendall("".join(line + "\n" for line in lines).encode())
        return self.read()


def _figures(bench, player):
    file, path = bench.material.music(), player.path
    with player:
        player.add([file] * SONGS)
        player.call("play 0")
        client = Client(path)
        times = []
        for _ in range(ASKED):
            begun = time.monotonic()
            client.ask("status")
            times.append(1e6 * (time.monotonic() - begun))
        found = {"status, p50": median(times), "pipelined status": _pipelined(path)}
        found[f"idle to changed, the last of {IDLE} clients"] = _changed(client, path)
        client.ask("pause 1")
        _settle(client)
        # Nobody else is connected: a client that neither asks nor waits is left after a minute, which is a wakeup.
        client.socket.close()
        player.connection.close()
        resting = [Client(path) for _ in range(RESTING)]
        for other in resting:
            other.socket.sendall(b"idle\n")
        time.sleep(2)
        window = Window(player.pid)
        time.sleep(bench.window)
        done = window.done()
        found[f"wakeups a minute, paused, {RESTING} clients in idle"] = done["switches"] * 60 / done["seconds"]
        found[f"memory with {RESTING} clients and {SONGS} items queued"] = memory(player.pid)["pss"] / 2**20
        return found


def _settle(client):
    """Returns when the lengths of all items are known: nowplayingd reads them after it has added the items."""
    until(lambda: client.ask("playlistinfo").count(b"\nduration: ") >= SONGS, "the lengths of all items", 300, 0.5)


def _pipelined(path):
    """Answers a second, where the requests never run out."""
    connection = socket.socket(socket.AF_UNIX)
    connection.connect(str(path))
    connection.recv(100)
    connection.setblocking(False)
    requests, answers, tail = b"status\n" * PIPELINED, 0, b""
    begun = time.monotonic()
    while answers < PIPELINED:
        readable, writable, _ = select.select([connection], [connection] if requests else [], [], 60)
        if writable:
            requests = requests[connection.send(requests[:1 << 16]):]
        if readable:
            part = tail + connection.recv(1 << 20)
            answers += part.count(b"\nOK\n")
            tail = part[-3:]
    return PIPELINED / (time.monotonic() - begun)


def _changed(client, path):
    """Median of the milliseconds from a command to the last client that has its line."""
    waiting, times = [Client(path) for _ in range(IDLE)], []
    for turn in range(TURNS + 1):
        for other in waiting:
            other.socket.sendall(b"idle mixer\n")
        time.sleep(0.5)
        begun = time.monotonic()
        client.socket.sendall(f"setvol {50 + turn}\n".encode())
        for other in waiting:
            other.read()
        times.append(1000 * (time.monotonic() - begun))
        client.read()
    return median(times[1:])
