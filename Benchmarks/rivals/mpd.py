"""MPD over its own protocol."""
import time

from harness.lines import Lines, until
from harness.player import Player


def quoted(path):
    return '"file://' + str(path).replace("\\", "\\\\").replace('"', '\\"') + '"'


class MPD(Player):
    """Without a database: what it plays it is given by name, which it does for clients on a Unix socket only."""

    name = "mpd"

    def __init__(self, folder, server):
        super().__init__(folder, server)
        self.path = self.folder / "socket"

    def prepare(self):
        (self.folder / "music").mkdir(exist_ok=True)
        (self.folder / "mpd.conf").write_text(f"""
music_directory "{self.folder}/music"
db_file "{self.folder}/database"
log_file "{self.folder}/mpd.log"
bind_to_address "{self.path}"
zeroconf_enabled "no"
max_connections "2000"
connection_timeout "86400"
max_playlist_length "200000"
max_command_list_size "131072"
max_output_buffer_size "65536"
audio_output {{
  type "pulse"
  name "bench"
  server "unix:{self.server.socket}"
}}
""")

    def command(self):
        return ["mpd", "--no-daemon", self.folder / "mpd.conf"]

    def open(self):
        connection = Lines(self.path)
        if not connection.line().startswith(b"OK MPD"):
            raise ConnectionError("it does not greet as MPD does")
        return connection

    def connect(self):
        connection = self.open()
        connection.send(self.query())
        self.read(connection)
        return connection

    @staticmethod
    def read(connection):
        """The fields of an answer."""
        fields = {}
        while (line := connection.line()) != b"OK":
            if line.startswith(b"ACK"):
                raise RuntimeError(line.decode(errors="replace"))
            name, _, value = line.decode(errors="replace").partition(": ")
            fields[name] = value
        return fields

    def call(self, text):
        self.connection.send(text.encode() + b"\n")
        return self.read(self.connection)

    def load(self, *paths):
        self.call("clear")
        for path in paths:
            self.call(f"add {quoted(path)}")
        self.call("play 0")
        until(lambda: float(self.call("status").get("elapsed", 0)) > 0, f"sound of {paths[0]}", 20, 0.005)
        self.call("pause 1")
        self.call("seekcur 0")

    def play(self):
        self.call("pause 0")

    def pause(self):
        self.call("pause 1")

    def seek(self, seconds):
        self.call(f"seekcur {seconds}")

    def next(self):
        self.call("next")

    def ask_position(self):
        return float(self.call("status")["elapsed"])

    def query(self):
        return b"status\n"

    def answer(self):
        self.read(self.connection)

    def add(self, paths):
        self.connection.socket.settimeout(300)
        lines = [f"add {quoted(path)}\n" for path in paths]
        self.connection.send("".join(["command_list_begin\n", *lines, "command_list_end\n"]).encode())
        self.read(self.connection)

    def length(self):
        return int(self.call("status")["playlistlength"])

    def broadcast(self):
        return "pause 1\n", "pause 0\n", ("changed: player", r"idle player\n", "")


class Scanner(MPD):
    """MPD with a database of its own of the files in `music`, and an output that plays into nothing.

    It begins with a scan; `scanned`: seconds from exec to the end of it.
    """

    def __init__(self, folder, music):
        super().__init__(folder, None)
        self.music = music

    def prepare(self):
        (self.folder / "mpd.conf").write_text(f"""
music_directory "{self.music}"
db_file "{self.folder}/database"
log_file "{self.folder}/mpd.log"
bind_to_address "{self.path}"
zeroconf_enabled "no"
audio_output {{
  type "null"
  name "bench"
}}
""")

    def __enter__(self):
        begun = time.monotonic()
        super().__enter__()
        self._wait()
        self.scanned = time.monotonic() - begun
        return self

    def _wait(self):
        until(lambda: "updating_db" not in self.call("status"), "the end of MPD's scan", 600, 0.02)

    def update(self):
        """Seconds that a scan of all files takes."""
        begun = time.monotonic()
        self.call("update")
        self._wait()
        return time.monotonic() - begun

    def songs(self):
        return int(self.call("stats")["songs"])
