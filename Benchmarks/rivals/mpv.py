"""mpv over its JSON socket."""
import json

from harness.lines import Lines, until
from harness.player import Player


class MPV(Player):
    """Without a window, without the user's configuration, gapless."""

    name, resolution = "mpv", 1e-6

    def __init__(self, folder, server):
        super().__init__(folder, server)
        self.path, self.number = self.folder / "socket", 0

    def command(self):
        return ["mpv", "--no-video", "--no-config", "--no-terminal", "--ao=pulse", "--idle", "--gapless-audio=yes",
                f"--input-ipc-server={self.path}"]

    def connect(self):
        connection = Lines(self.path)
        connection.send(self.request("get_property", "pause"))
        connection.line()
        return connection

    def request(self, *words):
        self.number += 1
        return json.dumps({"command": words, "request_id": self.number}).encode() + b"\n"

    def read(self):
        while "event" in (answer := json.loads(self.connection.line())):
            pass
        return answer

    def call(self, *words):
        self.connection.send(self.request(*words))
        answer = self.read()
        if answer["error"] != "success":
            raise RuntimeError(f"{words}: {answer['error']}")
        return answer.get("data")

    def get(self, name):
        """None while there is none."""
        try:
            return self.call("get_property", name)
        except RuntimeError:
            return None

    def load(self, *paths):
        self.pause()
        self.call("loadfile", str(paths[0]), "replace")
        for path in paths[1:]:
            self.call("loadfile", str(path), "append")
        until(lambda: self.get("path") == str(paths[0]) and self.get("time-pos") is not None
              and self.get("audio-params/samplerate"), f"sound of {paths[0]}", 20, 0.005)

    def play(self):
        self.call("set_property", "pause", False)

    def pause(self):
        self.call("set_property", "pause", True)

    def seek(self, seconds):
        self.call("seek", seconds, "absolute+exact")

    def next(self):
        self.call("playlist-next")

    def ask_position(self):
        return self.call("get_property", "time-pos")

    def query(self):
        return self.request("get_property", "time-pos")

    def answer(self):
        self.read()

    def add(self, paths):
        """It reads a list of names, and opens none of the files."""
        self.connection.socket.settimeout(300)
        names = self.folder / "names.m3u"
        names.write_text("\n".join(paths) + "\n")
        count = self.length() + len(paths)
        self.call("loadlist", str(names), "append")
        until(lambda: self.length() >= count, "the list", 300)

    def length(self):
        return self.call("get_property", "playlist-count")

    def broadcast(self):
        pause, play = (json.dumps({"command": ["set_property", "pause", value]}) + "\n" for value in (True, False))
        return pause, play, ('"property-change"', "", json.dumps({"command": ["observe_property", 1, "pause"]}) + r"\n")
