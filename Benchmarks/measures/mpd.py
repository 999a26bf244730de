"""nowplaying-mpd beside MPD itself: the same clients, both playing into nothing."""
import contextlib
import os
import select
import socket
import statistics
import time

from harness.house import program
from harness.lines import until
from harness.process import Window, memory

ASKED, PIPELINED, IDLE, SONGS, RESTING = 2000, 20_000, 500, 1000, 20


class Client:
    """One connection; answers are read up to `OK`."""

    def __init__(self, path):
        self.socket, self.rest = socket.socket(socket.AF_UNIX), b""
        self.socket.settimeout(60)
        self.socket.connect(str(path))
        self.read(b"\n")

    def read(self, end=b"OK\n"):
        while not (self.rest.endswith(end)):
            part = self.socket.recv(1 << 16)
            if not part:
                raise ConnectionError("the server has ended the connection")
            self.rest += part
        answer, self.rest = self.rest, b""
        return answer

    def ask(self, *lines):
        self.socket.sendall("".join(line + "\n" for line in lines).encode())
        return self.read()


def run(bench):
    found = {}
    for name in ["nowplaying-mpd"] + [name for name in bench.players if name == "mpd"]:
        with contextlib.ExitStack() as stack:
            folder = bench.folder()
            folder.mkdir(parents=True)
            pid, path = (_ours if name == "nowplaying-mpd" else _mpd)(stack, bench, folder)
            until(lambda path=path: os.path.exists(path), f"the socket of {name}")
            until(lambda path=path: b"volume: " in Client(path).ask("status"), f"the player behind {name}")
            found[name] = _figures(bench, pid, path)
    bench.note("mpd", found)
    others = lambda what: {name: figures[what] for name, figures in found.items() if name == "mpd"}
    ours = found["nowplaying-mpd"]
    row = lambda what, unit, target, least=False: bench.row(what, ours[what], unit, target, least, others(what))
    return [
        row("status, p50", "µs", None), row("pipelined status", "a second", None, True),
        row(f"idle to changed, the last of {IDLE} clients", "ms", None),
        row(f"memory with {RESTING} clients and {SONGS} items queued", "MB", 8),
        row(f"wakeups a minute, paused, {RESTING} clients in idle", "", 0),
    ]


def _ours(stack, bench, folder):
    common = ["--socket", f"{folder}/control.sock", "--config", f"{folder}/house.conf"]
    (folder / "house.conf").write_text(f"[mpd]\nbind = {folder}/mpd.sock\n")
    environment = os.environ | {"XDG_RUNTIME_DIR": str(folder), "HOME": str(folder)}
    stack.enter_context(program([bench.program, *common, "--output", "null", "--state-directory", f"{folder}/state"],
                                env=environment))
    bridge = stack.enter_context(program([bench.program.parent / "nowplaying-mpd", *common], env=environment))
    return bridge.pid, f"{folder}/mpd.sock"


def _mpd(stack, bench, folder):
    (folder / "mpd.conf").write_text(
        f'music_directory "{folder}"\ndb_file "{folder}/db"\nbind_to_address "{folder}/mpd.sock"\nzeroconf_enabled "no"\n'
        'max_connections "2000"\naudio_output {\n type "null"\n name "none"\n mixer_type "software"\n}\n')
    process = stack.enter_context(program(["mpd", "--no-daemon", folder / "mpd.conf"]))
    return process.pid, f"{folder}/mpd.sock"


def _figures(bench, pid, path):
    file, client = bench.material.music(), Client(path)
    client.ask("command_list_begin", *[f'add "file://{file}"'] * SONGS, "command_list_end")
    client.ask("play 0")
    times = []
    for _ in range(ASKED):
        begun = time.monotonic()
        client.ask("status")
        times.append(1e6 * (time.monotonic() - begun))
    found = {"status, p50": statistics.median(times), "pipelined status": _pipelined(path)}
    found[f"idle to changed, the last of {IDLE} clients"] = _changed(client, path)
    client.ask("pause 1")
    resting = [Client(path) for _ in range(RESTING)]
    for other in resting:
        other.socket.sendall(b"idle\n")
    time.sleep(2)
    window = Window(pid)
    time.sleep(min(bench.window, 30))
    done = window.done()
    found[f"wakeups a minute, paused, {RESTING} clients in idle"] = done["switches"] * 60 / done["seconds"]
    found[f"memory with {RESTING} clients and {SONGS} items queued"] = memory(pid)["pss"] / 2**20
    return found


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
    for turn in range(9):
        for other in waiting:
            other.socket.sendall(b"idle mixer\n")
        time.sleep(0.5)
        begun = time.monotonic()
        client.socket.sendall(f"setvol {50 + turn}\n".encode())
        for other in waiting:
            other.read()
        times.append(1000 * (time.monotonic() - begun))
        client.read()
    return statistics.median(times[1:])
