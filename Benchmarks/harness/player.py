"""nowplayingd as a process, and a connection to it."""
import json
import pathlib
import select
import socket
import subprocess
import time


class Connection:
    """JSON-RPC lines over the control socket."""

    def __init__(self, path, timeout=60):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(timeout)
        try:
            self.socket.connect(str(path))
        except OSError:
            self.socket.close()
            raise
        self.buffer = b""
        self.number = 0

    def line(self):
        while b"\n" not in self.buffer:
            if not (piece := self.socket.recv(65_536)):
                raise ConnectionError("the daemon closed the connection")
            self.buffer += piece
        line, _, self.buffer = self.buffer.partition(b"\n")
        return line

    def request(self, method, **parameters):
        """The bytes of a request."""
        self.number += 1
        return json.dumps({"jsonrpc": "2.0", "id": self.number, "method": method, "params": parameters}).encode() + b"\n"

    def call(self, method, **parameters):
        self.socket.sendall(self.request(method, **parameters))
        answer = json.loads(self.line())
        if "error" in answer:
            raise RuntimeError(f"{method} {parameters}: {answer['error']}")
        return answer["result"]

    def readable(self):
        return b"\n" in self.buffer or bool(select.select([self.socket], [], [], 0)[0])

    def close(self):
        self.socket.close()


class Follower:
    """What a subscriber knows: the last state, and the position that follows from it. Asks for nothing, ever."""

    def __init__(self, path):
        self.connection = Connection(path)
        self.state = self.connection.call("nowPlaying.subscribe")
        self.causes = []

    def take(self):
        """Reads what has come."""
        while self.connection.readable():
            self.state = json.loads(self.connection.line())["params"]
            self.causes.append(self.state["cause"])
        return self.state

    def position(self):
        """(instant, position then)"""
        state = self.take()
        now, anchor = time.monotonic(), state["anchor"]
        moved = anchor["rate"] * (1 + anchor["skew"]) * max(0.0, now - anchor["monotonic"])
        return now, max(0.0, min(anchor["elapsed"] + moved, state["item"]["duration"]))


class Daemon:
    """`with Daemon(program, folder, server) as daemon:`"""

    def __init__(self, program, folder, server=None):
        self.program, self.folder, self.server = program, pathlib.Path(folder), server
        self.path = self.folder / "control.sock"

    def spawn(self):
        self.folder.mkdir(parents=True, exist_ok=True)
        output = ["--output", "pulse" if self.server else "null"]
        self.process = subprocess.Popen(
            [str(self.program), "--socket", str(self.path), "--state-directory", str(self.folder / "state"), *output],
            env=self.server.environment() if self.server else None, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.pid = self.process.pid

    def __enter__(self):
        """Returns with the first answer; `startup` is how long it took from exec."""
        begun = time.monotonic()
        self.spawn()
        while True:
            try:
                self.connection = Connection(self.path)
                self.connection.call("nowPlaying.get")
                break
            except OSError:
                if self.process.poll() is not None or time.monotonic() > begun + 20:
                    self.process.kill()
                    raise RuntimeError("the daemon did not start") from None
                time.sleep(0.0002)
        self.startup = time.monotonic() - begun
        return self

    def __exit__(self, *_):
        self.connection.close()
        self.process.terminate()
        self.process.wait()

    def call(self, method, **parameters):
        return self.connection.call(method, **parameters)

    def load(self, *paths):
        """These files as the queue, paused at the beginning of the first, the sound server's stream open."""
        self.call("stop")
        self.call("queue.clear")
        ids = self.call("queue.add", items=[str(path) for path in paths])["ids"]
        self.call("play", itemId=ids[0])
        end = time.monotonic() + 10
        while self.call("nowPlaying.get")["anchor"]["rate"] != 1:
            if time.monotonic() > end:
                raise RuntimeError(f"{paths[0]} does not play")
            time.sleep(0.005)
        self.call("pause")
        self.call("changePlaybackPosition", position=0)
