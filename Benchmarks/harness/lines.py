"""A connection on which both sides speak in lines."""
import select
import socket
import time


class Lines:
    """A Unix socket, blocking."""

    def __init__(self, path, timeout=60):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(timeout)
        try:
            self.socket.connect(str(path))
        except OSError:
            self.socket.close()
            raise
        self.buffer = b""

    def send(self, data):
        self.socket.sendall(data)

    def line(self):
        while b"\n" not in self.buffer:
            if not (piece := self.socket.recv(65_536)):
                raise ConnectionError("the player closed the connection")
            self.buffer += piece
        line, _, self.buffer = self.buffer.partition(b"\n")
        return line

    def readable(self):
        return b"\n" in self.buffer or bool(select.select([self.socket], [], [], 0)[0])

    def close(self):
        self.socket.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def until(condition, what, seconds=60, pause=0.01):
    """Waits for something that is bound to happen."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise RuntimeError(f"{what} did not happen within {seconds} s")
        time.sleep(pause)
