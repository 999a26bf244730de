#!/usr/bin/env python3
"""Sends random lines to nowplaying-mpd and to mpd. Status 1 if ours ends, stops answering or grows.

usage: random_lines.py PROGRAMS [LINES [SEED]]    the folder of our programs; a million lines

Lines are requests of differential.py's script, whole and damaged, and bytes of every kind, on several connections at once.
"""
import os
import pathlib
import random
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time

import differential
from servers import Server, house, scanned, wait

BATCH, CONNECTIONS, MOST = 100, 8, 64 << 20
WORDS = ["{id}", "0:5", "-1", "4294967296", '"', "'", "\\", "(", ")", "(Artist == 'x')", "AND", "+0", "window", "sort", "group",
         "-Date", "position", "\x00", "\xff", "é", "9" * 40, "a" * 5000]


class Lines:
    """Random lines from a seed, in the script's own words."""

    def __init__(self, seed, script):
        self.random, self.script, self.answers = random.Random(seed), script, 0

    def line(self):
        found = self.any_line()
        # A line that begins with no letter ends the connection, as do `close` and a line after `idle`: few of them are sent.
        ends = not found[:1].islower() or found.startswith((b"close", b"idle", b"command_list", b"noidle"))
        return b"x" + found if ends and self.random.random() < 0.995 else found

    def any_line(self):
        chance = self.random.random()
        if chance < 0.1:
            return bytes(self.random.randrange(256) for _ in range(self.random.randrange(60))).replace(b"\n", b"")
        text = self.script.request().replace("{id}", str(self.random.randrange(300)))
        # A wrong password is answered late, an update takes long.
        if text.startswith(("password", "update", "kill")):
            text = "status"
        line = text.encode("utf-8", "surrogateescape")
        if chance < 0.6:
            return line
        if chance < 0.8:
            words = line.split(b" ")
            words.insert(self.random.randrange(len(words) + 1), self.random.choice(WORDS).encode("latin-1", "ignore"))
            return b" ".join(words).replace(b"\n", b"")
        damaged = bytearray(line)
        for _ in range(self.random.randrange(1, 4)):
            if damaged:
                damaged[self.random.randrange(len(damaged))] = self.random.randrange(256)
        return bytes(damaged).replace(b"\n", b"").replace(b"kill", b"")

    def batch(self):
        lines = [self.line() for _ in range(BATCH)]
        if self.random.random() < 0.3:
            lines.insert(0, self.random.choice([b"command_list_begin", b"command_list_ok_begin"]))
            lines.append(b"command_list_end")
        return b"\n".join(lines) + b"\n"


def talk(port, lines, count):
    """Sends so many batches, each on a connection of its own; reads the answers without a look at them."""
    for _ in range(count):
        batch = lines.batch()
        try:
            with socket.create_connection(("127.0.0.1", port), 5) as connection:
                reader = threading.Thread(target=drain, args=(connection, lines))
                reader.start()
                try:
                    connection.sendall(batch + b"noidle\ncommand_list_end\nnoidle\nclose\n")
                except OSError:
                    pass  # the server has ended the connection at one of the lines
                reader.join()
        except OSError as error:
            print(f"port {port}: {error}", flush=True)
            # Debian's mpd 0.24.4 ends after some lines; the rest would report the same.
            if isinstance(error, ConnectionRefusedError):
                return


def drain(connection, lines):
    """Counts the answers, roughly: a list has one for all of its lines."""
    try:
        while part := connection.recv(1 << 16):
            lines.answers += part.count(b"OK\n") + part.count(b"\nACK [") + part.startswith(b"ACK [")
    except OSError:
        pass


def answers(port):
    try:
        with socket.create_connection(("127.0.0.1", port), 30) as connection:
            connection.settimeout(30)
            connection.sendall(b"status\n")
            found = b""
            while not found.endswith(b"\nOK\n"):
                part = connection.recv(1 << 16)
                if not part:
                    return False
                found += part
            return True
    except OSError:
        return False


def size(pid):
    """Bytes of memory that a process alone has."""
    rows = pathlib.Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    return sum(int(row.split()[1]) << 10 for row in rows if row.startswith(("Private_Clean", "Private_Dirty")))


def main():
    programs = os.path.abspath(sys.argv[1])
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 1_000_000
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else 24
    folder, failed = tempfile.mkdtemp(prefix="mpd-lines-"), False
    music = os.path.join(folder, "music")
    subprocess.run([sys.executable, os.path.join(differential.HERE, "make_music.py"), music], check=True)
    processes, ports, _ = house(folder, programs, music)
    try:
        servers = {"nowplaying-mpd": (processes[2], ports[0])}
        if len(processes) > 3:
            servers["mpd"] = (processes[3], ports[1])
        wait(scanned(Server(ports[0])), "scan", os.path.join(folder, "log"))
        listed = Server(ports[0]).ask(["listall"])
        files = [line[6:] for line in listed if line.startswith("file: ")]
        folders = [line[11:] for line in listed if line.startswith("directory: ")]
        for name, (process, port) in servers.items():
            begun = time.monotonic()
            lines = [Lines(seed + number, differential.Script(seed + number, files, folders))
                     for number in range(CONNECTIONS)]
            talkers = [threading.Thread(target=talk, args=(port, part, count // BATCH // CONNECTIONS)) for part in lines]
            for talker in talkers:
                talker.start()
            for talker in talkers:
                talker.join()
            is_alive = process.poll() is None and answers(port)
            memory = size(process.pid) if is_alive else 0
            print(f"{name}: {count} lines in {time.monotonic() - begun:.0f} s, {sum(part.answers for part in lines)} answers, "
                  f"{'answers' if is_alive else f'ENDED with {process.poll()}'}, {memory >> 20} MiB of its own", flush=True)
            if name == "nowplaying-mpd":
                others = [other.poll() for other in processes[:2]]
                failed = not is_alive or memory > MOST or others != [None, None]
                if others != [None, None]:
                    print(f"nowplayingd and nowplaying-library ended with {others}")
    finally:
        for process in processes:
            process.terminate()
        for process in processes:
            process.wait()
        shutil.rmtree(folder, ignore_errors=True)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
