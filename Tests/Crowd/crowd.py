#!/usr/bin/env python3
"""A crowd of clients of one user that makes a server hold and do as much as it can, until it is ended.

usage: crowd.py SOCKET DEED COUNT [FILE]

It writes “full” as soon as each client has sent what the kernel takes, and goes on: a client whose connection was closed
connects again. FILE is one that the deeds name or hand over."""
import array
import json
import os
import selectors
import socket
import sys
import time


def line(method, **parameters):
    return json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": parameters}).encode() + b"\n"


def batch(count, method, **parameters):
    steps = [{"jsonrpc": "2.0", "id": number, "method": method, "params": parameters} for number in range(count)]
    return json.dumps(steps).encode() + b"\n"


def deeds(path):
    """Bytes that a client repeats, True if it reads, True if open files go along."""
    name = {"uri": {"matches": "(a|b|ab)+c" + "x" * 200}}
    return {
        # Both programs.
        "connections": (b"", False, False),
        "storm": (b"", False, False),
        "answers": (line("rpc.discover") * 50, False, False),
        "batches": (batch(1000, "rpc.discover"), False, False),
        "unfinished": (b"x" * (250 << 10), False, False),
        "files": (b"{", False, True),
        "flood": (line("hello") * 200, True, False),
        # The daemon.
        "followers": (line("nowPlaying.subscribe") + line("nowPlaying.get") * 5, False, False),
        "requests": (line("queue.add", items=[path + "/none"] * 3000), False, False),
        "states": (batch(1000, "nowPlaying.get"), True, False),
        "queues": (batch(200, "queue.list", limit=1000), False, False),
        "sessions": (line("session.create", name=f"s{os.getuid()}", external=True), True, False),
        "items": (line("queue.add", items=[path] * 500), True, False),
        "announcements": (line("announce", uri=path), True, False),
        # The library.
        "watchers": (line("library.subscribe") + line("library.status") * 5, False, False),
        "filters": (line("library.query", filter={"any": [name] * 190}, limit=1000), True, False),
        "pages": (line("library.query", limit=1000), False, False),
        "counts": (line("library.count", filter={"not": {"any": [name] * 150}}), False, False),
        "lists": (line("lists.get", name="Long", limit=10000), False, False),
        "updates": (line("library.update"), True, False),
    }


class Client:
    def __init__(self, crowd):
        self.crowd = crowd
        self.socket = None
        self.unsent = b""

    def connect(self):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.setblocking(False)
        try:
            self.socket.connect(self.crowd.path)
        except OSError:
            self.socket.close()
            self.socket = None
            return False
        self.unsent = b""
        self.sent_once = False
        events = selectors.EVENT_READ if self.crowd.reads or not self.crowd.bytes else 0
        events |= selectors.EVENT_WRITE if self.crowd.bytes else 0
        self.crowd.selector.register(self.socket, events, self)
        return True

    def gone(self):
        self.crowd.selector.unregister(self.socket)
        self.socket.close()
        self.socket = None
        self.crowd.lost.append(self)

    def happened(self, events):
        try:
            if events & selectors.EVENT_READ and not self.socket.recv(1 << 16):
                return self.gone()
            if events & selectors.EVENT_WRITE:
                self.send()
        except BlockingIOError:
            pass
        except OSError:
            self.gone()
        return None

    def send(self):
        if self.crowd.file >= 0:
            # Each file belongs to a line of its own, which does not end.
            rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [self.crowd.file] * 16))]
            self.socket.sendmsg([self.crowd.bytes], rights)
            return self.crowd.done(self)
        if not self.unsent:
            self.unsent = self.crowd.bytes
        self.unsent = self.unsent[self.socket.send(self.unsent):]
        return self.crowd.done(self)


class Crowd:
    def __init__(self, path, deed, count, file):
        self.path = path
        self.bytes, self.reads, hands = deeds(file)[deed]
        self.file = os.open(file, os.O_RDONLY) if hands else -1
        self.selector = selectors.DefaultSelector()
        self.lost = [Client(self) for _ in range(count)]
        self.count = count
        self.ready = set()
        # Clients that end their connections as soon as they are made.
        self.leaves = deed == "storm"
        self.is_full = False

    def done(self, client):
        self.ready.add(client)

    def run(self):
        begin = time.monotonic()
        while True:
            # Those that were turned away come again, but not more often than a client would.
            again, self.lost = self.lost[:20], self.lost[20:]
            for client in again:
                if client.connect():
                    if not self.bytes:
                        self.done(client)
                    if self.leaves:
                        client.gone()
                else:
                    self.lost.append(client)
            for key, events in self.selector.select(0.02):
                key.data.happened(events)
            # As many as the server takes have done their deed, or it lets nobody in for a while.
            if not self.is_full and (len(self.ready) >= self.count or time.monotonic() - begin > 3):
                self.is_full = True
                print("full", flush=True)


if __name__ == "__main__":
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    os.setpriority(os.PRIO_PROCESS, 0, 10)
    Crowd(sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4] if len(sys.argv) > 4 else "").run()
