"""Proxies in front of nowplaying-web, by the recipes of its manual: nginx, Caddy and ssh; and TLS by a certificate."""

import asyncio
import contextlib
import http.client
import io
import json
import pathlib
import re
import shutil
import socket
import ssl
import subprocess
import threading
import warnings
import wave

from browser import NotTested, until
from wsproto import ConnectionType, WSConnection
from wsproto.events import AcceptConnection, RejectConnection, Request, TextMessage

MANUAL = pathlib.Path(__file__).resolve().parents[2] / "etc/man/nowplaying-web.1"


def recipe(start):
    """The block of the manual that begins with this line."""
    for block in re.findall(r"^\.Bd -literal.*?\n(.*?)^\.Ed", MANUAL.read_text(), re.M | re.S):
        if block.startswith(start):
            return block.replace("\\&", "").replace("\\(aq", "'")
    raise AssertionError(f"the manual has no block that starts with {start!r}")


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def certificate(folder):
    """A certificate of localhost, signed by itself."""
    names = folder / "localhost.pem", folder / "localhost.key"
    if not names[0].exists():
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
             "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-out", names[0], "-keyout", names[1]],
            check=True,
            capture_output=True,
        )  # fmt: skip
    return names


class Door:
    """A path to nowplaying-web: its port, with TLS or without, its base path, and the token of a device."""

    def __init__(self, port, trust=None, base=""):
        self.port, self.base, self.token = port, base, None
        self.context = ssl.create_default_context(cafile=trust) if trust else None
        self.origin = f"http{'s' if trust else ''}://localhost:{port}"

    def ask(self, method, path, body=None, **headers):
        kind = http.client.HTTPSConnection if self.context else http.client.HTTPConnection
        connection = kind("localhost", self.port, timeout=20, **({"context": self.context} if self.context else {}))
        headers = {name.replace("_", "-"): value for name, value in headers.items()}
        if self.token:
            headers["Authorization"] = f"Bearer {self.token}"
        connection.request(method, self.base + path, body, headers)
        return connection.getresponse()

    def call(self, method, **params):
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
        answer = self.ask("POST", "/rpc", body, Content_Type="application/json")
        return answer.status, answer.read()

    def connect(self):
        plain = socket.create_connection(("localhost", self.port), timeout=20)
        return self.context.wrap_socket(plain, server_hostname="localhost") if self.context else plain

    def socket(self):
        """Opens a WebSocket, and calls a method on it; None: it is refused."""
        with self.connect() as peer:
            protocol = WSConnection(ConnectionType.CLIENT)
            headers = [("Authorization", f"Bearer {self.token}")] if self.token else []
            peer.sendall(
                protocol.send(Request(host=f"localhost:{self.port}", target=f"{self.base}/rpc", extra_headers=[("Origin", self.origin), *headers]))
            )
            text = ""
            while data := peer.recv(65536):
                protocol.receive_data(data)
                for event in protocol.events():
                    if isinstance(event, RejectConnection):
                        return None
                    if isinstance(event, AcceptConnection):
                        line = '{"jsonrpc":"2.0","id":1,"method":"clock.now"}'
                        peer.sendall(protocol.send(TextMessage(data=line)))
                    if isinstance(event, TextMessage):
                        text += event.data
                        if event.message_finished:
                            return json.loads(text)["result"]
        return None

    def first_event(self):
        """The first event of a stream that does not end."""
        with self.connect() as peer:
            token = f"Authorization: Bearer {self.token}\r\n" if self.token else ""
            peer.sendall(f"GET {self.base}/events HTTP/1.1\r\nHost: localhost:{self.port}\r\n{token}\r\n".encode())
            data = b""
            while b"\ndata: {" not in data and (more := peer.recv(65536)):
                data += more
        return data


def sound(seconds):
    """A WAV file."""
    data = io.BytesIO()
    with wave.open(data, "wb") as file:
        file.setnchannels(2)
        file.setsampwidth(4)
        file.setframerate(96000)
        file.writeframes(bytes(round(768000 * seconds)))
    return data.getvalue()


def pair(house, door):
    """Pairs a device by this path."""
    code = house.web_call("pair.begin", role="control")["code"]
    body = json.dumps({"code": code, "name": "a device"})
    answer = door.ask("POST", "/pair", body, Content_Type="application/json")
    assert answer.status == 200, answer.read()
    door.token = json.loads(answer.read())["token"]


def all_works(house, door, pairs=True):
    """Page, calls, WebSocket, events and a sound of 2 MB. A path that needs a token refuses requests without one."""
    assert until(lambda: door.ask("GET", "/").read().startswith(b"<!doctype html>"), "the page")
    if pairs:
        assert door.call("play")[0] == 401 and door.socket() is None and door.ask("GET", "/events").status == 401
        pair(house, door)
    status, body = door.call("hello")
    assert status == 200 and json.loads(body)["result"]["role"] == "control", body
    assert door.socket()["received"] > 0
    assert b"\ndata: {" in door.first_event()
    answer = door.ask("POST", "/announce?wait", sound(2.7), Content_Type="audio/wav")
    body = answer.read()
    assert answer.status == 200, body


@contextlib.contextmanager
def running(house, *words, **options):
    process = house.start(*words, **options)
    try:
        yield process
    finally:
        process.terminate()
        process.wait()
        house.processes.remove(process)


@contextlib.contextmanager
def behind(house):
    """nowplaying-web with an address for proxies, which is returned."""
    house.end(house.web)
    port = free_port()
    house.begin_web(more=f"proxy-bind = localhost:{port}\naddress = https://localhost\n")
    try:
        yield port
    finally:
        house.end(house.web)
        house.begin_web()


def test_nginx(house):
    """nginx with TLS, by the recipe of the manual."""
    if shutil.which("nginx", path="/usr/sbin:/usr/bin") is None:
        raise NotTested("nginx is not installed")
    chain, key = certificate(house.folder)
    with behind(house) as port:
        outside = free_port()
        settings = house.folder / "nginx.conf"
        paths = "".join(f"{name}_temp_path {house.folder}/nginx-{name};" for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
        settings.write_text(
            f"daemon off; master_process off; pid {house.folder}/nginx.pid; error_log stderr; events {{}}\n"
            f"http {{ access_log off; {paths}\n"
            + recipe("map $http_upgrade")
            + f"server {{ listen 127.0.0.1:{outside} ssl; ssl_certificate {chain}; ssl_certificate_key {key};\n"
            + recipe("location / {").replace("localhost:8089", f"localhost:{port}")
            + "}}\n"
        )
        with running(house, "/usr/sbin/nginx", "-p", house.folder, "-c", settings):
            all_works(house, Door(outside, chain))


def test_caddy(house):
    """Caddy with TLS, by the recipe of the manual."""
    if shutil.which("caddy") is None:
        raise NotTested("Caddy is not installed")
    chain, key = certificate(house.folder)
    with behind(house) as port:
        outside = free_port()
        settings = house.folder / "Caddyfile"
        site = recipe("music.example.org {").replace("localhost:8089", f"localhost:{port}")
        settings.write_text(
            "{\n admin off\n auto_https disable_redirects\n}\n"
            + site.replace("music.example.org {", f"https://localhost:{outside} {{\n    tls {chain} {key}")
        )
        with running(house, "caddy", "run", "--adapter", "caddyfile", "--config", settings):
            all_works(house, Door(outside, chain))


def test_ssh(house):
    """A port that ssh forwards: its user has rights, without a token."""
    with warnings.catch_warnings():
        # Its library warns about old ciphers.
        warnings.simplefilter("ignore")
        try:
            import asyncssh
        except ImportError:
            raise NotTested("python3-asyncssh is not installed") from None

    class Server(asyncssh.SSHServer):
        def begin_auth(self, username):
            return False

        def connection_requested(self, *_):
            return True

    ready, loop = threading.Event(), asyncio.new_event_loop()

    async def serve():
        server = await asyncssh.listen("127.0.0.1", 0, server_factory=Server, server_host_keys=[asyncssh.generate_private_key("ssh-ed25519")])
        serve.port = server.sockets[0].getsockname()[1]
        ready.set()

    threading.Thread(target=lambda: (loop.run_until_complete(serve()), loop.run_forever()), daemon=True).start()
    assert ready.wait(20)
    outside = free_port()
    words = ["-N", "-o", "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile=/dev/null", "-F", "none", "-o", "LogLevel=ERROR"]
    with running(house, "ssh", *words, "-p", serve.port, "-L", f"{outside}:localhost:{house.port}", "nobody@127.0.0.1"):
        # The forwarded port shows the page of localhost, as on the machine itself.
        all_works(house, Door(outside), pairs=False)
    loop.call_soon_threadsafe(loop.stop)


def test_certificate(house):
    """TLS by a certificate of the configuration, and by another one after a reload; open connections stay."""
    chain, key = certificate(house.folder)
    house.end(house.web)
    house.begin_web(more=f"certificate = {chain}\nkey = {key}\n")
    try:
        door = Door(house.port, chain)
        all_works(house, door, pairs=False)
        # The answer to an invalid request also comes from nowplaying-web, and it detects a NUL.
        for line, words in (
            (b"nothing", b"this is no valid request of HTTP/1.1"),
            (b"X: a\0b", b"the value of a header has a control character"),
        ):
            with door.connect() as peer:
                peer.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n" + line + b"\r\n\r\n")
                data = b""
                while more := peer.recv(65536):
                    data += more
            assert data.startswith(b"HTTP/1.1 400 ") and data.endswith(b"\r\n\r\n" + words + b"\n"), data
        descriptors = lambda: len(list(pathlib.Path(f"/proc/{house.web.pid}/fd").iterdir()))
        before = until(lambda: all(descriptors() == descriptors() for _ in range(20)) and descriptors(), "rest")
        with door.connect() as events:
            events.sendall(f"GET /events HTTP/1.1\r\nHost: localhost:{house.port}\r\n\r\n".encode())
            assert events.recv(65536).startswith(b"HTTP/1.1 200")
            for _ in range(3):
                for name in (chain, key):
                    name.unlink()
                certificate(house.folder)
                house.web.send_signal(1)
                until(lambda: Door(house.port, chain).call("hello")[0] == 200, "the new certificate")
            # The connection with the first certificate lasts.
            house.call("volume.set", volume=0.33)
            data = b""
            while b'"volume":0.33' not in data:
                data += events.recv(65536)
        until(lambda: descriptors() <= before, "the end of the servers with older certificates", 60)
    finally:
        house.end(house.web)
        house.begin_web()
