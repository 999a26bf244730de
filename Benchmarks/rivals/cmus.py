"""cmus over its socket; it draws its screen into a terminal that a thread empties, which is part of its cost."""
import fcntl
import os
import pty
import struct
import subprocess
import termios
import threading

from harness.lines import Lines, until
from harness.player import Player


class Cmus(Player):
    """Its position is in whole seconds, and it reports nothing to its clients."""

    name, resolution, tells = "cmus", 1.0, False

    def __init__(self, folder, server):
        super().__init__(folder, server)
        self.path, self.home = self.folder / "socket", self.folder / "home"

    def prepare(self):
        self.home.mkdir(exist_ok=True)
        (self.home / "rc").write_text("set mpris=false\nset output_plugin=pulse\nset softvol=false\nset resume=false\n"
                                      "set replaygain=disabled\n")

    def command(self):
        return ["cmus", "--listen", self.path]

    def environment(self):
        return super().environment() | {"CMUS_HOME": str(self.home), "TERM": "xterm"}

    def spawn(self):
        (self.folder / "log").touch()
        screen, terminal = pty.openpty()
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
        process = subprocess.Popen(list(map(str, self.command())), stdin=terminal, stdout=terminal, stderr=terminal,
                                   env=self.environment(), cwd=self.folder, start_new_session=True)
        os.close(terminal)
        threading.Thread(target=self._watch, args=[screen], daemon=True).start()
        return process

    @staticmethod
    def _watch(screen):
        try:
            while os.read(screen, 65_536):
                pass
        except OSError:
            pass
        os.close(screen)

    def connect(self):
        connection = Lines(self.path)
        connection.send(self.query())
        self.read(connection)
        return connection

    @staticmethod
    def read(connection):
        """The lines of an answer, up to the empty one."""
        lines = []
        while line := connection.line():
            lines.append(line.decode(errors="replace"))
        return lines

    def call(self, text):
        self.connection.send(text.encode() + b"\n")
        return self.read(self.connection)

    def status(self):
        fields = {}
        for line in self.call("status"):
            name, _, value = line.partition(" ")
            fields.setdefault(name, value)
        return fields

    def load(self, *paths):
        self.call("player-stop")
        self.call("clear -q")
        self.call(f"player-play {paths[0]}")
        for path in paths[1:]:
            self.call(f"add -q {path}")
        until(lambda: (self.status().get("status"), self.status().get("file")) == ("playing", str(paths[0])),
              f"sound of {paths[0]}", 20, 0.005)
        self.pause()
        until(lambda: self.status().get("status") == "paused", "the pause", 20, 0.005)
        self.call("seek 0")

    def play(self):
        self.call("player-play" if self.status()["status"] == "stopped" else "player-pause")

    def pause(self):
        if self.status()["status"] == "playing":
            self.call("player-pause")

    def seek(self, seconds):
        self.call(f"seek {int(seconds)}")

    def next(self):
        self.call("player-next")

    def ask_position(self):
        return float(self.status()["position"])

    def query(self):
        return b"status\n"

    def answer(self):
        self.read(self.connection)

    def add(self, paths):
        """A thread of its own reads the tags of every file."""
        self.connection.socket.settimeout(300)
        names = self.folder / "names.m3u"
        names.write_text("\n".join(paths) + "\n")
        self.call(f"add -q {names}")
        until(lambda: self.length() >= len(paths), "the list", 300, 0.25)

    def length(self):
        connection = Lines(self.path)
        connection.send(b"save -q -\n")
        count = len(self.read(connection))
        connection.close()
        return count
