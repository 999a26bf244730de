"""nowplaying-library as a process, and a connection to it."""
import json
import pathlib
import subprocess
import time

from harness.daemon import Connection
from harness.lines import until


class Library:
    """`with Library(program, folder, music) as library:` has answered once; `startup` is how long that took from exec,
    `began` the time of the exec in seconds since 1970.

    `music`: folders of the library. `daemon`: path of a daemon's socket; without one it serves alone. A database that lies in
    `folder`/state is taken over.
    """

    def __init__(self, program, folder, *music, daemon=None):
        self.program, self.folder = pathlib.Path(program), pathlib.Path(folder)
        self.music, self.daemon = music, daemon or self.folder / "none.sock"
        self.path, self.database = self.folder / "library.sock", self.folder / "state" / "tracks.db"

    def __enter__(self):
        (self.folder / "state").mkdir(parents=True, exist_ok=True)
        folders = "\n ".join(map(str, self.music))
        (self.folder / "library.conf").write_text(
            f"[access]\nmedia-roots = {folders}\n[library]\nfolders = {folders}\nsocket = {self.path}\n"
            f"state-directory = {self.folder}/state\nscan-interval = 604800\n")
        self.began, begun = time.time(), time.monotonic()
        with open(self.folder / "log", "ab") as log:
            self.process = subprocess.Popen(
                [str(self.program), "--config", f"{self.folder}/library.conf", "--socket", str(self.daemon)],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        self.pid = self.process.pid
        while True:
            try:
                self.connection = Connection(self.path, timeout=600)
                break
            except OSError:
                if self.process.poll() is not None or time.monotonic() > begun + 20:
                    self.__exit__()
                    raise RuntimeError(f"nowplaying-library did not start: {self.last_words()}") from None
                time.sleep(0.0002)
        self.call("library.query", limit=1)
        self.startup = time.monotonic() - begun
        return self

    def __exit__(self, *_):
        if hasattr(self, "connection"):
            self.connection.close()
        self.process.terminate()
        self.process.wait()

    def last_words(self):
        lines = (self.folder / "log").read_text(errors="replace").strip().splitlines()
        return lines[-1] if lines else "it said nothing"

    def call(self, method, **parameters):
        return self.connection.call(method, **parameters)

    def answer(self, method, **parameters):
        """The bytes of an answer: what a client makes of them is not measured."""
        self.connection.send(self.connection.request(method, **parameters))
        line = self.connection.line()
        if b'"error"' in line[:200]:
            raise RuntimeError(f"{method} {parameters}: {line[:500].decode(errors='replace')}")
        return line

    def pages(self, method, **parameters):
        """Seconds that each page took, and the bytes of all of them."""
        seconds, size, after = [], 0, {}
        while True:
            begun = time.monotonic()
            line = self.answer(method, **parameters, **after)
            seconds.append(time.monotonic() - begun)
            size += len(line)
            place = line.rfind(b'"next":"')
            if place < 0:
                return seconds, size
            after = {"after": json.loads(line[place + 7:line.index(b'"', place + 8) + 1])}

    def finished(self, beyond=None, seconds=600):
        """What the last scan found, once one has ended later than `beyond`, the end of one before it."""
        until(lambda: (self.call("library.status")["lastScan"] or {"finished": beyond})["finished"] != beyond,
              "the end of the scan", seconds, 0.05)
        return self.call("library.status")["lastScan"]


def used(pid):
    """CPU seconds of a process and of its children that have ended."""
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:15])) / 100
