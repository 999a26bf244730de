#!/usr/bin/env python3
"""Fills one bound of nowplaying-mpd from many connections, until it is killed.

usage: crowd.py SOCKET CONNECTIONS BOUND    BOUND: a key of BOUNDS

It prints "ready N" when N connections have a place and all of them have sent their first bytes.
"""
import os
import selectors
import signal
import socket
import sys

SLOW = r"(any =~ \"(?:.*.*.*.*)*[xy]$\")"
# Bytes of each connection, and True if it reads the answers and sends the bytes again.
BOUNDS = {
    "places": (b"ping\n", False),
    "line": (b"a" * 15_000, False),
    "list": (b"command_list_begin\n" + b"a\n" * 65_000, False),
    "long-list": (b"command_list_begin\n" + (b"add " + b"x" * 12_000 + b"\n") * 160, False),
    "turns": (b"command_list_ok_begin\n" + b"ping\n" * 5000 + b"command_list_end\n", True),
    "answers": (b"listallinfo\nplaylistinfo\nlist title group artist\n" * 8, False),
    "patterns": (b'find "' + SLOW.encode() + b'"\nplaylistfind "' + SLOW.encode() + b'"\n', True),
    "values": (b"list title group artist group album group genre\n", True),
    "pictures": (b"albumart folder/1.flac 0\nalbumart folder/1.flac 8192\n", True),
    "stickers": (b"sticker set Artist a b " + b"x" * 4000 + b"\nsticker find Artist \"\" b\nstickernames\n", True),
    "sorts": (b"playlistsearch title a sort title\n", True),
    "messages": (b"subscribe a\n" + b"sendmessage a " + b"x" * 15_000 + b"\n", True),
    "passwords": (b"password wrong\n", True),
}


def connect(path):
    """A connection that has a place; None: it was closed."""
    client = socket.socket(socket.AF_UNIX)
    client.connect(path)
    try:
        return client if client.recv(100).startswith(b"OK MPD") else None
    except ConnectionResetError:
        return None


class Client:
    """One connection. `repeats`: it reads the answers, and sends its bytes again after each; otherwise it reads nothing."""

    def __init__(self, connection, content, repeats):
        self.connection, self.content, self.repeats = connection, content, repeats
        self.left, self.answers = content, 0
        connection.setblocking(False)

    def send(self):
        """Sends bytes; False: the connection has ended."""
        try:
            while self.left:
                self.left = self.left[self.connection.send(self.left):]
        except BlockingIOError:
            pass
        except OSError:
            return False
        return True

    def receive(self):
        """Reads answers, and begins again after the last one; False: the connection has ended."""
        try:
            data = self.connection.recv(65_536)
        except BlockingIOError:
            return True
        except OSError:
            return False
        if not self.left and (b"\nOK\n" in b"\n" + data or b"ACK" in data):
            self.left = self.content
        return bool(data)


def main():
    # Clients on other machines take no processor of this one.
    os.setpriority(os.PRIO_PROCESS, 0, 10)
    path, count, bound = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    content, repeats = BOUNDS[bound]
    connections = [connection for connection in (connect(path) for _ in range(count)) if connection]
    clients = [Client(connection, content, repeats) for connection in connections]
    watch = selectors.DefaultSelector()
    for client in clients:
        if client.send() and (client.left or repeats):
            events = (selectors.EVENT_WRITE if client.left else 0) | (selectors.EVENT_READ if repeats else 0)
            watch.register(client.connection, events, client)
    print("ready", len(clients), flush=True)
    while True:
        if not watch.get_map():
            # The connections stay open.
            signal.pause()
        for key, events in watch.select():
            client = key.data
            goes_on = (not events & selectors.EVENT_READ or client.receive()) and client.send()
            wanted = (selectors.EVENT_WRITE if client.left else 0) | (selectors.EVENT_READ if repeats else 0)
            if not goes_on or not wanted:
                watch.unregister(client.connection)
            elif wanted != key.events:
                watch.modify(client.connection, wanted, client)


if __name__ == "__main__":
    main()
