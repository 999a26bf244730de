"""The daemon, the library, the web bridge, the MPD bridge and a private PulseAudio in a temporary folder, and a client at each
door. For kills.py."""
import json
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time

SONGS = 40
SECONDS = 7200
# A door that answers later than this is shut.
PATIENCE = 20.0


class Gone(Exception):
    """The other end has gone, or does not answer."""


class Lines:
    """A connection of lines."""

    def __init__(self, place):
        family = socket.AF_INET if isinstance(place, tuple) else socket.AF_UNIX
        self.socket = socket.socket(family, socket.SOCK_STREAM)
        self.socket.settimeout(PATIENCE)
        self.buffer = b""
        try:
            self.socket.connect(place)
        except OSError as error:
            raise Gone(str(error)) from error

    def send(self, data):
        try:
            self.socket.sendall(data)
        except OSError as error:
            raise Gone(str(error)) from error

    def more(self):
        try:
            got = self.socket.recv(65536)
        except OSError as error:
            raise Gone(str(error)) from error
        if not got:
            raise Gone("closed")
        self.buffer += got

    def line(self):
        while b"\n" not in self.buffer:
            self.more()
        line, self.buffer = self.buffer.split(b"\n", 1)
        return line.decode()

    def close(self):
        self.socket.close()


class RPC(Lines):
    """A client of a Unix socket of the daemon or the library."""

    def request(self, method, **parameters):
        self.send(json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": parameters}).encode() + b"\n")

    def answer(self):
        while True:
            message = json.loads(self.line())
            if "id" in message:
                return message

    def call(self, method, **parameters):
        self.request(method, **parameters)
        answer = self.answer()
        if "error" in answer:
            raise RuntimeError(f"{method}: {answer['error']}")
        return answer["result"]


class MPD(Lines):
    """A client of MPD's protocol."""

    def __init__(self, place):
        super().__init__(place)
        if not self.line().startswith("OK MPD"):
            raise Gone("no greeting")

    def answer(self):
        lines = [self.line()]
        while not lines[-1].startswith(("OK", "ACK")):
            lines.append(self.line())
        return lines

    def ask(self, line):
        self.send(line.encode() + b"\n")
        return self.answer()


class Web(Lines):
    """A client of the web bridge with one request."""

    def request(self, method, **parameters):
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": parameters}).encode()
        head = f"POST /rpc HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        self.send(head.encode() + body)

    def answer(self):
        while b"\r\n\r\n" not in self.buffer:
            self.more()
        head, rest = self.buffer.split(b"\r\n\r\n", 1)
        fields = dict(line.split(b": ", 1) for line in head.split(b"\r\n")[1:])
        length = int({name.lower(): value for name, value in fields.items()}.get(b"content-length", b"0"))
        self.buffer = rest
        while len(self.buffer) < length:
            self.more()
        if not head.split(b" ", 2)[1] == b"200":
            raise Gone(head.split(b"\r\n")[0].decode())
        return json.loads(self.buffer[:length])


def free_port():
    """A port of this machine that nobody uses."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class House:
    """The five programs, with a client at each door."""

    def __init__(self, programs):
        self.programs = os.path.abspath(programs)
        self.folder = tempfile.mkdtemp(prefix="kills-")
        self.port = free_port()
        self.processes = {}
        self.music = self.path("music")
        os.mkdir(self.music)
        for number in range(SONGS):
            self.silence(os.path.join(self.music, f"{number:02}.wav"))
        with open(self.path("house.conf"), "w", encoding="utf-8") as file:
            file.write(
                f"[playback]\nresume = paused\n[access]\nmedia-roots = {self.music}\n[library]\nfolders = {self.music}\n"
                f"state-directory = {self.path('library')}\n[web]\nbind = 127.0.0.1:{self.port}\n"
                f"state-directory = {self.path('web')}\n[mpd]\nbind = {self.path('mpd.sock')}\n")
        self.environment = {
            name: value for name, value in os.environ.items()
            if not name.startswith(("PULSE_", "NOWPLAYING_", "NOTIFY_", "LISTEN_"))}
        self.environment.update(
            HOME=self.folder, XDG_RUNTIME_DIR=self.folder, XDG_CONFIG_HOME=self.path("config"),
            XDG_CACHE_HOME=self.path("cache"), XDG_STATE_HOME=self.path("states"),
            PULSE_SERVER="unix:" + self.path("pulse.sock"))
        for program in ("sound", "daemon", "library", "mpd", "web"):
            self.start(program)

    def path(self, name):
        return os.path.join(self.folder, name)

    def silence(self, path):
        size = 8000 * 2 * SECONDS
        head = b"RIFF" + (36 + size).to_bytes(4, "little") + b"WAVEfmt " + (16).to_bytes(4, "little")
        head += (1).to_bytes(2, "little") + (1).to_bytes(2, "little") + (8000).to_bytes(4, "little")
        head += (16000).to_bytes(4, "little") + (2).to_bytes(2, "little") + (16).to_bytes(2, "little")
        with open(path, "wb") as file:
            file.write(head + b"data" + size.to_bytes(4, "little"))
            file.truncate(44 + size)

    def command(self, program):
        usual = ["--socket", self.path("control.sock"), "--config", self.path("house.conf")]
        if program == "sound":
            return [
                "pulseaudio", "-n", "--daemonize=no", "--exit-idle-time=-1", "--use-pid-file=no", "--disable-shm=yes",
                "-L", "module-null-sink sink_name=s format=s16le rate=44100 channels=2",
                "-L", f"module-native-protocol-unix socket={self.path('pulse.sock')} auth-anonymous=1"]
        if program == "daemon":
            return [f"{self.programs}/nowplayingd", *usual, "--state-directory", self.path("state")]
        return [f"{self.programs}/nowplaying-{program}", *usual]

    def start(self, program):
        if program == "sound" and os.path.exists(self.path("pulse.sock")):
            os.unlink(self.path("pulse.sock"))
        with open(self.path(program + ".log"), "ab") as log:
            self.processes[program] = subprocess.Popen(
                self.command(program), env=self.environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def kill(self, program):
        """Kills a program; raises if it has ended by itself."""
        process = self.processes[program]
        process.send_signal(signal.SIGKILL)
        # A process that had ended before keeps its own status.
        if process.wait() != -signal.SIGKILL:
            raise RuntimeError(self.last_words(program))

    def number(self, program):
        """The process id of a program."""
        return self.processes[program].pid

    def waited(self, program):
        """Seconds for which the threads of a program were ready to run and had no processor: sound is late by them."""
        seconds = 0.0
        place = f"/proc/{self.processes[program].pid}/task"
        for thread in os.listdir(place) if os.path.isdir(place) else []:
            try:
                with open(f"{place}/{thread}/schedstat", encoding="ascii") as file:
                    seconds += int(file.read().split()[1]) / 1e9
            except (OSError, IndexError):
                pass
        return seconds

    def last_words(self, program):
        with open(self.path(program + ".log"), encoding="utf-8", errors="replace") as log:
            # What it said before the report of its crash has the reason of an abort.
            before, mark, report = log.read().partition("*** Signal")
        said = before[-1500:] + (mark + report)[:1500]
        return f"{program} ended with status {self.processes[program].returncode}: {said!r}"

    def ended(self):
        """The programs that have ended by themselves, with their status and last words. A program that crashes prints where, and
        answers nothing meanwhile, so that all of them get time for their end."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end and all(process.poll() is None for process in self.processes.values()):
            time.sleep(0.05)
        return [self.last_words(program) for program, process in self.processes.items() if process.poll() is not None]

    def conditions(self):
        """The state of each program that runs: of the process, and the calls in which its threads wait."""
        words = []
        for program, process in self.processes.items():
            waits = []
            place = f"/proc/{process.pid}/task"
            for thread in sorted(os.listdir(place), key=int) if os.path.isdir(place) else []:
                try:
                    with open(f"{place}/{thread}/stat", encoding="utf-8", errors="replace") as stat:
                        state = stat.read().rsplit(") ", 1)[1][0]
                    with open(f"{place}/{thread}/wchan", encoding="ascii") as wait:
                        waits.append(state + " " + wait.read())
                except OSError:
                    pass
            words.append(f"{program} {process.pid}: " + (", ".join(waits[:12]) or "gone"))
        return "; ".join(words)

    def end(self):
        for program in ("web", "mpd", "library", "daemon", "sound"):
            process = self.processes.get(program)
            if process and process.poll() is None:
                process.send_signal(signal.SIGTERM)
                try:
                    process.wait(10)
                except subprocess.TimeoutExpired:
                    process.kill()
                    process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    # The doors.

    def control(self):
        return RPC(self.path("control.sock"))

    def library(self):
        return RPC(self.path("library.sock"))

    def mpd(self):
        return MPD(self.path("mpd.sock"))

    def web(self):
        return Web(("127.0.0.1", self.port))

    def open_doors(self):
        """Seconds until each door answers for the daemon behind it; raises if one stays shut."""
        begin = time.monotonic()
        for name, attempt in (
                ("control socket", lambda: self.control().call("nowPlaying.get")),
                ("library", self.ask_library), ("MPD", self.ask_mpd), ("web", self.ask_web),
                ("sound server", self.ask_sound)):
            while True:
                try:
                    attempt()
                    break
                except (Gone, RuntimeError, ValueError) as error:
                    if time.monotonic() - begin > PATIENCE:
                        raise RuntimeError(f"the door “{name}” stays shut: {error}") from error
                    time.sleep(0.01)
        return time.monotonic() - begin

    def ask_library(self):
        status = self.library().call("library.status")
        if status.get("tracks") != SONGS:
            raise Gone(f"{status.get('tracks')} tracks")

    def ask_mpd(self):
        if not any(line.startswith("volume: ") for line in self.mpd().ask("status")):
            raise Gone("no daemon behind it")

    def ask_web(self):
        web = self.web()
        web.request("nowPlaying.get")
        if "result" not in web.answer():
            raise Gone("no daemon behind it")

    def ask_sound(self):
        probe = socket.socket(socket.AF_UNIX)
        try:
            probe.connect(self.path("pulse.sock"))
        except OSError as error:
            raise Gone(str(error)) from error
        finally:
            probe.close()
