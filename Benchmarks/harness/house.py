"""What drives the daemon from outside: a broker, a bus, and the bridges to them."""
import contextlib
import os
import pathlib
import resource
import socket
import subprocess

from harness.lines import until


def free_port():
    with socket.socket() as any_port:
        any_port.bind(("127.0.0.1", 0))
        return any_port.getsockname()[1]


@contextlib.contextmanager
def program(words, **options):
    """A process that ends with the block."""
    silent = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    process = subprocess.Popen([str(word) for word in words], **silent | options)
    try:
        yield process
    finally:
        process.terminate()
        process.wait()


class Broker:
    """mosquitto on a port of its own; `with Broker(folder) as broker:`."""

    def __init__(self, folder):
        self.folder, self.port = pathlib.Path(folder), free_port()

    def start(self):
        self.process = subprocess.Popen(["mosquitto", "-c", str(self.folder / "broker.conf")],
                                        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        until(self._answers, "the broker")

    def kill(self):
        self.process.kill()
        self.process.wait()

    def _answers(self):
        with socket.socket() as attempt:
            return attempt.connect_ex(("127.0.0.1", self.port)) == 0

    def __enter__(self):
        self.folder.mkdir(parents=True, exist_ok=True)
        # As it comes it insists on signs of life, of which one every 18 hours will do.
        (self.folder / "broker.conf").write_text(
            f"listener {self.port} 127.0.0.1\nallow_anonymous true\nuser root\n"
            "max_connections -1\nmax_queued_messages 0\n")
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 65_536), hard))
        self.start()
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()


class Topics:
    """A subscriber of the broker that counts messages, and knows the last one of each topic."""

    def __init__(self, broker, *topics):
        words = ["mosquitto_sub", "-h", "127.0.0.1", "-p", str(broker.port), "-k", "65535", "-F", "%t %p"]
        for topic in topics:
            words += ["-t", topic]
        self.process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
        os.set_blocking(self.process.stdout.fileno(), False)
        self.buffer, self.count, self.last = b"", 0, {}

    def take(self):
        """Reads what has come."""
        while True:
            try:
                piece = os.read(self.process.stdout.fileno(), 1 << 20)
            except BlockingIOError:
                return self
            if not piece:
                return self
            *lines, self.buffer = (self.buffer + piece).split(b"\n")
            for line in lines:
                topic, _, payload = line.partition(b" ")
                self.count += 1
                self.last[topic.decode()] = payload

    def number(self, topic, payload):
        """How many boxes say so."""
        self.take()
        return sum(name.endswith("/" + topic) and value == payload for name, value in self.last.items())

    def close(self):
        self.process.terminate()
        self.process.wait()
        self.process.stdout.close()
