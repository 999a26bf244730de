"""What every player has to do to be measured: the same words for all of them, ours included."""
import pathlib
import subprocess
import time


class Player:
    """`with Kind(folder, server) as player:` is a process that has answered once.

    Paths are absolute, times are seconds; each call returns when the player has acknowledged it, not when it is heard.
    """

    name = "?"
    # Whether it can tell others of a pause by itself, and how fine its position is.
    tells, resolution = True, 0.001

    def __init__(self, folder, server=None):
        self.folder, self.server = pathlib.Path(folder), server
        self.connection = None

    def prepare(self):
        """Writes what has to be there before the start."""

    def command(self):
        """The words that start it."""
        raise NotImplementedError

    def connect(self):
        """A connection on which it has answered; OSError while it is not that far."""
        raise NotImplementedError

    def environment(self):
        return self.server.environment() if self.server else None

    def spawn(self):
        """The process; what it says goes to a file."""
        with open(self.folder / "log", "wb") as log:
            return subprocess.Popen(list(map(str, self.command())), env=self.environment(), cwd=self.folder,
                                    stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def __enter__(self):
        """Returns with the first answer; `startup` is how long it took from exec."""
        self.folder.mkdir(parents=True, exist_ok=True)
        self.prepare()
        begun = time.monotonic()
        self.process = self.spawn()
        self.pid = self.process.pid
        while True:
            try:
                self.connection = self.connect()
                break
            except OSError:
                if self.process.poll() is not None or time.monotonic() > begun + 20:
                    self.__exit__()
                    raise RuntimeError(f"{self.name} did not start: {self.last_words()}") from None
                time.sleep(0.0002)
        self.startup = time.monotonic() - begun
        return self

    def __exit__(self, *_):
        if self.connection:
            self.connection.close()
        self.process.terminate()
        try:
            self.process.wait(5)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def last_words(self):
        lines = (self.folder / "log").read_text(errors="replace").strip().splitlines()
        return lines[-1] if lines else "it said nothing"

    def load(self, *paths):
        """These files as the queue, paused at the beginning of the first, the sound server's stream open."""
        raise NotImplementedError

    def play(self):
        """From the pause, or from the beginning of what is loaded."""
        raise NotImplementedError

    def pause(self):
        raise NotImplementedError

    def seek(self, seconds):
        raise NotImplementedError

    def next(self):
        raise NotImplementedError

    def follow(self):
        """What has to be before a position is known; a follower, if there is one that counts what it hears."""

    def position(self):
        """(instant, position then)"""
        begun = time.monotonic()
        position = self.ask_position()
        return (begun + time.monotonic()) / 2, position

    def ask_position(self):
        raise NotImplementedError

    def query(self):
        """The bytes of a cheap question about the state."""
        raise NotImplementedError

    def answer(self):
        """Reads the answer to one such question."""
        self.connection.line()

    def add(self, paths):
        """Appends all; returns when they are in the queue."""
        raise NotImplementedError

    def length(self):
        """Entries in the queue."""
        raise NotImplementedError

    def broadcast(self):
        """The lines that pause and play, and for subscribers: text of each event, request before each event, first request."""
        raise NotImplementedError
