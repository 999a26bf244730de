"""nowplaying-mpd with a daemon and a library of its own, as a player that speaks MPD's protocol."""
import contextlib
import pathlib

from harness.daemon import Daemon
from harness.house import program
from rivals.mpd import MPD


class Bridge(MPD):
    """`with Bridge(folder, server, daemon) as player:`; `daemon`: path of nowplayingd. Its process is the bridge's.

    Without a sound server it plays into nothing. `music`: a folder for the library; without one there is no library.
    """

    name = "nowplaying-mpd"

    def __init__(self, folder, server, daemon, music=None):
        super().__init__(folder, server)
        self.programs, self.music, self.others = pathlib.Path(daemon).parent, music, contextlib.ExitStack()

    def prepare(self):
        control, settings = self.folder / "control.sock", self.folder / "house.conf"
        library = f"[library]\nfolders = {self.music}\nstate-directory = {self.folder}/library\n" if self.music else ""
        settings.write_text(f"[mpd]\nbind = {self.path}\n{library}")
        self.words = ["--socket", control, "--config", settings]
        output = ["--output", "pulse" if self.server else "null", "--state-directory", self.folder / "state"]
        options = {"env": self.environment(), "cwd": self.folder}
        self.others.enter_context(program([self.programs / Daemon.name, *self.words, *output], **options))
        if self.music:
            self.others.enter_context(program([self.programs / "nowplaying-library", *self.words], **options))

    def command(self):
        return [self.programs / self.name, *self.words]

    def connect(self):
        """The bridge answers before it knows the daemon."""
        connection = self.open()
        connection.send(self.query())
        if "volume" not in self.read(connection):
            connection.close()
            raise ConnectionError("the bridge does not know the daemon yet")
        return connection

    def environment(self):
        return super().environment() or {"HOME": str(self.folder), "XDG_RUNTIME_DIR": str(self.folder)}

    def __exit__(self, *arguments):
        try:
            super().__exit__(*arguments)
        finally:
            self.others.close()


class Server(MPD):
    """MPD with a database of `music` (None: an empty one), an output that plays into nothing, and answers of any length."""

    def __init__(self, folder, music=None):
        super().__init__(folder, None)
        self.music = music

    def prepare(self):
        (self.folder / "nothing").mkdir(exist_ok=True)
        (self.folder / "mpd.conf").write_text(
            f'music_directory "{self.music or self.folder / "nothing"}"\ndb_file "{self.folder}/database"\n'
            f'bind_to_address "{self.path}"\nzeroconf_enabled "no"\nmax_connections "2000"\n'
            'max_command_list_size "131072"\nmax_output_buffer_size "1048576"\nconnection_timeout "86400"\n'
            'audio_output {\n type "null"\n name "none"\n mixer_type "software"\n}\n')
