"""nowplaying-mpd and Debian's mpd over one folder of music, for comparisons."""
import os
import shutil
import socket
import subprocess
import sys
import time


class Server:
    """One connection, made anew when the server has closed it."""

    def __init__(self, port):
        self.port = port
        self.connect()

    def connect(self):
        self.socket = socket.create_connection(("127.0.0.1", self.port))
        self.socket.settimeout(20)
        self.file = self.socket.makefile("rb")
        self.greeting = self.file.readline()

    def ask(self, lines):
        """The lines of the answer; `<closed>` at the end of the connection."""
        answer = []
        try:
            self.socket.sendall(b"".join(line.encode("utf-8", "surrogateescape") + b"\n" for line in lines))
            while True:
                line = self.file.readline()
                if not line:
                    break
                line = line.rstrip(b"\n").decode("utf-8", "surrogateescape")
                answer.append(line)
                if line.startswith("binary: "):
                    self.file.read(int(line[8:]) + 1)
                if line == "OK" or line.startswith("ACK "):
                    return answer
        except (ConnectionError, BrokenPipeError):
            pass
        self.connect()
        return answer + ["<closed>"]

    def ids(self):
        return [line[4:] for line in self.ask(["plchangesposid 0"]) if line.startswith("Id: ")]


def house(folder, programs, music):
    """Starts both servers; the processes, the ports, and a function that starts MPD again if it has died."""
    def write(name, text):
        path = os.path.join(folder, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    os.makedirs(os.path.join(folder, "mpd", "playlists"))
    ports = []
    for _ in range(2):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            ports.append(probe.getsockname()[1])
    daemon = write("daemon.conf", f"[access]\nmedia-roots = {music}\n[library]\nfolders = {music}\n"
                   f"state-directory = {folder}/library\nscan-interval = 604800\n")
    bridge = write("bridge.conf", f"[mpd]\nbind = 127.0.0.1:{ports[0]}\n")
    rival = write("mpd.conf", f'music_directory "{music}"\nplaylist_directory "{folder}/mpd/playlists"\n'
                  f'db_file "{folder}/mpd/db"\nsticker_file "{folder}/mpd/stickers"\nbind_to_address "127.0.0.1"\n'
                  f'port "{ports[1]}"\naudio_output {{\n type "null"\n name "null"\n}}\n')
    environment = dict(os.environ, HOME=folder, XDG_RUNTIME_DIR=folder, XDG_STATE_HOME=folder + "/state",
                       XDG_CONFIG_HOME=folder + "/config", XDG_CACHE_HOME=folder + "/cache")
    for name in ("state", "cache", "config"):
        os.makedirs(os.path.join(folder, name), exist_ok=True)
    control = folder + "/control.sock"
    log = open(os.path.join(folder, "log"), "wb")

    def start(*words):
        return subprocess.Popen(words, env=environment, stdout=log, stderr=log)

    processes = [start(programs + "/nowplayingd", "--socket", control, "--state-directory", folder + "/daemon",
                       "--output", "null", "--config", daemon)]
    wait(lambda: os.path.exists(control), "daemon", log.name)
    processes.append(start(programs + "/nowplaying-library", "--socket", control, "--config", daemon))
    processes.append(start(programs + "/nowplaying-mpd", "--socket", control, "--config", bridge))
    if shutil.which("mpd"):
        processes.append(start("mpd", "--no-daemon", rival))

    def answers(port):
        wait(lambda: socket.create_connection(("127.0.0.1", port)).close() is None, f"port {port}", log.name)

    def revive():
        try:
            processes[3].wait(10)
        except subprocess.TimeoutExpired:
            return False
        processes[3] = start("mpd", "--no-daemon", rival)
        answers(ports[1])
        return True

    for port in ports[:len(processes) - 2]:
        answers(port)
    return processes, ports, revive


def wait(condition, what, log):
    """Until a condition holds that may fail by an OSError at first."""
    end = time.monotonic() + 60
    while time.monotonic() < end:
        try:
            if condition():
                return
        except OSError:
            pass
        time.sleep(0.1)
    with open(log, encoding="utf-8", errors="replace") as file:
        print(file.read()[-4000:])
    sys.exit(f"no {what} within a minute")


def scanned(server):
    def done():
        lines = server.ask(["stats"])
        return "songs: 200" in lines and not any(l.startswith("updating") for l in server.ask(["status"]))
    return done
