"""nowplayingd as a process, and a connection to it."""
import json
import pathlib
import time

from harness.lines import Lines, until
from harness.player import Player


class Connection(Lines):
    """JSON-RPC lines over the control socket."""

    def __init__(self, path, timeout=60):
        super().__init__(path, timeout)
        self.number = 0

    def request(self, method, **parameters):
        """The bytes of a request."""
        self.number += 1
        return json.dumps({"jsonrpc": "2.0", "id": self.number, "method": method, "params": parameters}).encode() + b"\n"

    def call(self, method, **parameters):
        self.send(self.request(method, **parameters))
        answer = json.loads(self.line())
        if "error" in answer:
            raise RuntimeError(f"{method} {parameters}: {answer['error']}")
        return answer["result"]


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


class Daemon(Player):
    """`with Daemon(program, folder, server) as daemon:`; without a server it plays into nothing."""

    name, resolution = "nowplayingd", 1e-6

    def __init__(self, program, folder, server=None):
        super().__init__(folder, server)
        self.program, self.path = pathlib.Path(program), self.folder / "control.sock"
        self.follower = None

    def command(self):
        return [self.program, "--socket", self.path, "--state-directory", self.folder / "state",
                "--output", "pulse" if self.server else "null"]

    def connect(self):
        connection = Connection(self.path)
        connection.call("nowPlaying.get")
        return connection

    def __exit__(self, *_):
        if self.follower:
            self.follower.connection.close()
        super().__exit__()

    def call(self, method, **parameters):
        return self.connection.call(method, **parameters)

    def load(self, *paths):
        self.call("stop")
        self.call("queue.clear")
        ids = self.call("queue.add", items=[str(path) for path in paths])["ids"]
        self.call("play", itemId=ids[0])
        until(lambda: self.call("nowPlaying.get")["anchor"]["rate"] == 1, f"sound of {paths[0]}", 10, 0.005)
        self.call("pause")
        self.call("changePlaybackPosition", position=0)

    def play(self):
        self.call("play")

    def pause(self):
        self.call("pause")

    def seek(self, seconds):
        self.call("changePlaybackPosition", position=seconds)

    def next(self):
        self.call("nextTrack")

    def follow(self):
        self.follower = self.follower or Follower(self.path)
        return self.follower

    def position(self):
        self.follow()
        return self.follower.position()

    def query(self):
        return self.connection.request("nowPlaying.get")

    def add(self, paths):
        for start in range(0, len(paths), 1000):
            self.call("queue.add", items=paths[start:start + 1000])

    def length(self):
        return self.call("nowPlaying.get")["queue"]["count"]

    def broadcast(self, **parameters):
        """`parameters`: of the subscription."""
        lines = (("pause", {}), ("play", {}), ("nowPlaying.subscribe", parameters))
        pause, play, subscribe = (json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": members})
                                  for method, members in lines)
        return pause + "\n", play + "\n", ("nowPlaying.changed", "", subscribe + r"\n")
