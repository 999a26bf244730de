"""WebSocket frames: the case list of the Autobahn suite for servers without extensions, by its numbers.

Valid frames are made by wsproto, broken ones by hand; wsproto reads all that the server sends, and complains of whatever breaks
RFC 6455. The suite echoes; this server answers JSON-RPC, so that a text is a request whose answer shows that it arrived.
"""

import json
import socket

from texts import INVALID, VALID
from wsproto import ConnectionType, WSConnection
from wsproto.connection import ConnectionState
from wsproto.events import (
    AcceptConnection,
    CloseConnection,
    Ping,
    Pong,
    Request,
    TextMessage,
)
from wsproto.extensions import PerMessageDeflate

TEXT, BINARY, CLOSE, PING, PONG = 1, 2, 8, 9, 10
FINAL = 0x80


def frame(first, payload=b"", mask=b"\1\2\3\4"):
    """One frame of a client, by its first byte."""
    size = len(payload)
    if size < 126:
        head = bytes([first, 0x80 | size])
    elif size < 65536:
        head = bytes([first, 0x80 | 126]) + size.to_bytes(2, "big")
    else:
        head = bytes([first, 0x80 | 127]) + size.to_bytes(8, "big")
    return head + mask + bytes(byte ^ mask[index % 4] for index, byte in enumerate(payload))


def request(length=0, method="clock.now", number=1):
    """A request, with spaces up to a length in bytes."""
    text = json.dumps({"jsonrpc": "2.0", "id": number, "method": method}, ensure_ascii=False)
    return text + " " * (length - len(text.encode()))


class Peer:
    """A client whose reader is wsproto."""

    def __init__(self, house):
        self.socket = socket.create_connection(("localhost", house.port), timeout=10)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.protocol, self.found, self.text = WSConnection(ConnectionType.CLIENT), [], ""
        self.raw(self.protocol.send(Request(host=f"localhost:{house.port}", target="/rpc", subprotocols=["nowplaying.1"])))
        accepted = self.next()
        assert isinstance(accepted, AcceptConnection) and accepted.subprotocol == "nowplaying.1", accepted

    def raw(self, data, chop=None):
        for start in range(0, len(data), chop or len(data) or 1):
            self.socket.sendall(data[start : start + (chop or len(data))])

    def send(self, event, chop=None):
        self.raw(self.protocol.send(event), chop)

    def next(self):
        """The next event; a text as a whole. None: the connection has ended."""
        while True:
            while self.found:
                event = self.found.pop(0)
                if isinstance(event, TextMessage):
                    self.text += event.data
                    if not event.message_finished:
                        continue
                    event, self.text = TextMessage(data=self.text), ""
                return event
            try:
                data = self.socket.recv(65536)
            except ConnectionError:
                return None
            if not data:
                return None
            self.protocol.receive_data(data)
            self.found += self.protocol.events()

    def answer(self, number=1):
        event = self.next()
        assert isinstance(event, TextMessage), event
        value = json.loads(event.data)
        assert value["id"] == number, value
        return value

    def parse_error(self):
        event = self.next()
        assert isinstance(event, TextMessage) and json.loads(event.data)["error"]["code"] == -32700, event

    def pongs(self, *payloads):
        for payload in payloads:
            event = self.next()
            assert isinstance(event, Pong) and event.payload == payload, event

    def closed(self, code):
        """Checks that the server has closed with this code, and ends the connection."""
        event = self.next()
        while isinstance(event, (TextMessage, Pong)):
            event = self.next()
        assert isinstance(event, CloseConnection) and event.code == code, f"{event}, not {code}"
        if self.protocol.state == ConnectionState.REMOTE_CLOSING:
            self.raw(self.protocol.send(event.response()))
        assert self.next() is None

    def farewell(self):
        self.send(CloseConnection(code=1000))
        self.closed(1000)


def case(house, number, act):
    peer = Peer(house)
    try:
        act(peer)
    except Exception as error:
        raise AssertionError(f"case {number}: {error!r}") from error
    finally:
        peer.socket.close()
    return 1


def test_lengths_and_control_frames(house):
    """Autobahn 1 and 2: texts and pings of all lengths."""
    count = 0
    for number, (length, chop) in enumerate(
        [(0, None), (125, None), (126, None), (127, None), (128, None), (65535, None), (65536, None), (65536, 997)], 1
    ):
        data = request(length) if length else ""

        def text(peer):
            peer.send(TextMessage(data=data), chop)
            peer.answer() if data else peer.parse_error()
            peer.farewell()

        def binary(peer):
            peer.raw(frame(FINAL | BINARY, bytes(length)), chop)
            peer.closed(1003)

        count += case(house, f"1.1.{number}", text) + case(house, f"1.2.{number}", binary)
    for number, payload, chop in (
        (1, b"", None),
        (2, b"Hello", None),
        (3, bytes([0, 255, 254, 253, 252, 251, 0, 255]), None),
        (4, b"\xfe" * 125, None),
        (6, b"\xfe" * 125, 1),
    ):

        def ping(peer):
            peer.send(Ping(payload=payload), chop)
            peer.pongs(payload)
            peer.farewell()

        count += case(house, f"2.{number}", ping)
    count += case(house, "2.5", lambda peer: (peer.raw(frame(FINAL | PING, b"\xfe" * 126)), peer.closed(1002)))
    for number, payload in ((7, b""), (8, b"unsolicited"), (9, b"unsolicited")):

        def pong(peer):
            peer.send(Pong(payload=payload))
            peer.send(Ping(payload=b"ours"))
            peer.pongs(b"ours")
            peer.farewell()

        count += case(house, f"2.{number}", pong)
    for number, chop in ((10, None), (11, 1)):

        def many(peer):
            names = [b"ping %d" % index for index in range(10)]
            peer.raw(b"".join(frame(FINAL | PING, name) for name in names), chop)
            peer.pongs(*names)
            peer.farewell()

        count += case(house, f"2.{number}", many)
    print(f"   {count} cases")


def test_reserved(house):
    """Autobahn 3 and 4: reserved bits and opcodes, alone, after a valid text, and byte by byte."""
    count = 0
    for bits in range(1, 8):
        for kind in (TEXT, BINARY, PING, CLOSE):
            for chop in (None, 1):

                def reserved(peer):
                    peer.send(TextMessage(data=request()))
                    peer.answer()
                    peer.raw(frame(FINAL | bits << 4 | kind, b"" if kind == CLOSE else b"*"), chop)
                    peer.closed(1002)

                count += case(house, f"3.{bits}", reserved)
    for section, kinds in ((1, range(3, 8)), (2, range(11, 16))):
        for number, kind in enumerate(kinds, 1):
            for payload, chop in ((b"", None), (b"payload", None), (b"", 1), (b"payload", 1)):

                def opcode(peer):
                    peer.send(TextMessage(data=request()))
                    peer.answer()
                    peer.raw(frame(FINAL | kind, payload) + frame(FINAL | PING), chop)
                    peer.closed(1002)

                count += case(house, f"4.{section}.{number}", opcode)
    print(f"   {count} cases")


def test_fragments(house):
    """Autobahn 5: texts in parts, with pings between them, and parts without a start."""
    data = request().encode()
    half = len(data) // 2
    one, two = frame(TEXT, data[:half]), frame(FINAL, data[half:])
    ping, empty = frame(FINAL | PING, b"between"), frame(0)
    count = 0
    for number, kind in ((1, PING), (2, PONG)):

        def broken(peer):
            peer.raw(frame(kind, b"a") + frame(FINAL, b"b"))
            peer.closed(1002)

        count += case(house, f"5.{number}", broken)
    for number, parts, chop, pings in (
        ("3", [one, two], None, 0),
        ("4", [one + two], 1, 0),
        ("5", [one, two], 1, 0),
        ("6", [one, ping, two], None, 1),
        ("7", [one + ping + two], None, 1),
        ("8", [one, ping, two], 1, 1),
        ("19", [one, ping, empty, ping, two], None, 2),
        ("20", [one, empty, ping, empty, ping, empty, two], 1, 2),
    ):

        def text(peer):
            for part in parts:
                peer.raw(part, chop)
            peer.pongs(*[b"between"] * pings)
            peer.answer()
            peer.farewell()

        count += case(house, f"5.{number}", text)
    for number, bad, chop in (
        ("9", frame(FINAL, b"nothing") + frame(FINAL | TEXT, data), None),
        ("10", frame(FINAL, b"nothing") + frame(FINAL | TEXT, data), len(frame(FINAL, b"nothing"))),
        ("11", frame(FINAL, b"nothing") + frame(FINAL | TEXT, data), 1),
        ("12", frame(0, b"nothing") + frame(FINAL | TEXT, data), None),
        ("13", frame(0, b"nothing") + frame(FINAL | TEXT, data), len(frame(0, b"nothing"))),
        ("14", frame(0, b"nothing") + frame(FINAL | TEXT, data), 1),
        ("15", one + two + frame(0, b"nothing"), None),
        ("16", frame(0, b"nothing") + frame(TEXT, b"a") + frame(FINAL, b"b"), None),
        ("17", frame(FINAL, b"nothing") + frame(TEXT, b"a") + frame(FINAL, b"b"), None),
        ("18", one + frame(FINAL | TEXT, data), None),
    ):

        def bad_fragments(peer):
            peer.raw(bad, chop)
            peer.closed(1002)

        count += case(house, f"5.{number}", bad_fragments)
    print(f"   {count} cases")


def test_texts(house):
    """Autobahn 6: valid and invalid UTF-8, in one frame and in frames of one byte each."""
    count = 0
    for number, parts in enumerate(([b""], [b"", b"", b""], [b"", b" ", b""]), 1):

        def blank(peer):
            for index, part in enumerate(parts):
                peer.raw(frame((0 if index else TEXT) | (FINAL if index == len(parts) - 1 else 0), part))
            peer.parse_error()
            peer.farewell()

        count += case(house, f"6.1.{number}", blank)
    for number, text in enumerate(VALID):
        data = b'{"jsonrpc":"2.0","id":1,"method":"%s"}' % text
        parts = [data[index : index + 1] for index in range(len(data))]
        in_parts = b"".join(
            frame((0 if index else TEXT) | (FINAL if index == len(parts) - 1 else 0), part) for index, part in enumerate(parts)
        )

        def valid(peer):
            for sent in (frame(FINAL | TEXT, data), in_parts):
                peer.raw(sent)
                assert peer.answer()["error"]["code"] == -32601
            peer.farewell()

        count += case(house, f"6, valid {number}", valid)
    for number, text in enumerate(INVALID):
        for data in (text, b'{"jsonrpc":"2.0","id":1,"method":"' + text + b'"}'):
            whole = frame(FINAL | TEXT, data)
            parts = frame(TEXT, data[:-1]) + frame(0, data[-1:]) + frame(FINAL)
            for sent in (whole, parts):
                count += case(house, f"6, invalid {number}", lambda peer: (peer.raw(sent), peer.closed(1007)))
    # The server closes as soon as no continuation can make the bytes a text, before the rest of the frame or message.
    for number, parts in (
        ("6.4.1", [frame(TEXT, INVALID[1][:11]), frame(0, INVALID[1][11:15])]),
        ("6.4.2", [frame(TEXT, INVALID[1][:12]), frame(0, INVALID[1][12:13])]),
        ("6.4.3", [frame(FINAL | TEXT, INVALID[1])[: 6 + 15]]),
        ("6.4.4", [frame(FINAL | TEXT, INVALID[1])[: 6 + 13]]),
    ):
        count += case(house, number, lambda peer: ([peer.raw(part) for part in parts], peer.closed(1007)))
    print(f"   {count} cases")


def test_farewells(house):
    """Autobahn 7: closes with all codes; and messages beyond the limit."""
    count = 0
    for number, sent, code in (
        ("7.1.1", [frame(FINAL | TEXT, request().encode()), frame(FINAL | CLOSE, b"\3\xe8")], 1000),
        ("7.1.2", [frame(FINAL | CLOSE, b"\3\xe8") * 2], 1000),
        ("7.1.3", [frame(FINAL | CLOSE, b"\3\xe8") + frame(FINAL | PING, b"late")], 1000),
        ("7.1.4", [frame(FINAL | CLOSE, b"\3\xe8") + frame(FINAL | TEXT, request().encode())], 1000),
        ("7.1.6", [frame(FINAL | TEXT, request(256 << 10).encode()), frame(FINAL | CLOSE, b"\3\xe8") + frame(FINAL | PING)], 1000),
        ("7.1.5", [frame(TEXT, b"{") + frame(FINAL | CLOSE, b"\3\xe8") + frame(FINAL, b"}")], 1000),
        ("7.3.1", [frame(FINAL | CLOSE)], 1005),
        ("7.3.2", [frame(FINAL | CLOSE, b"\3")], 1002),
        ("7.3.3", [frame(FINAL | CLOSE, b"\3\xe8")], 1000),
        ("7.3.4", [frame(FINAL | CLOSE, b"\3\xe8Hello")], 1000),
        ("7.3.5", [frame(FINAL | CLOSE, b"\3\xe8" + b"*" * 123)], 1000),
        ("7.3.6", [frame(FINAL | CLOSE, b"\3\xe8" + b"*" * 124)], 1002),
        ("7.5.1", [frame(FINAL | CLOSE, b"\3\xe8" + INVALID[0])], 1007),
        *[
            (f"7.7, {code}", [frame(FINAL | CLOSE, code.to_bytes(2, "big"))], code)
            for code in (1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 3000, 3999, 4000, 4999)
        ],
        *[
            (f"7.9, {code}", [frame(FINAL | CLOSE, code.to_bytes(2, "big") + reason)], 1002)
            for code in (0, 999, 1004, 1005, 1006, 1016, 1100, 2000, 2999, 5000, 65535)
            for reason in (b"", b"reason")
        ],
        ("9, beyond the limit", [frame(FINAL | TEXT, request((256 << 10) + 1).encode())], 1009),
        ("9, beyond the limit in parts", [frame(TEXT, b" " * 65536), *[frame(0, b" " * 65536)] * 4], 1009),
    ):

        def farewell(peer):
            for data in sent:
                try:
                    peer.raw(data)
                except ConnectionError:
                    break
            peer.closed(code)

        count += case(house, number, farewell)
    print(f"   {count} cases")


def test_large_and_many(house):
    """Autobahn 9, 10 and 12: messages up to the limit, in fragments and pieces of all sizes; a thousand; no compression."""
    count = 0
    limit = 256 << 10
    for size in (64 << 10, limit):
        data = request(size).encode()
        for part in (64, 256, 1 << 10, 4 << 10, 16 << 10, 64 << 10, limit, 1300):

            def fragments(peer):
                starts = range(0, size, part)
                peer.raw(b"".join(
                    frame((0 if start else TEXT) | (FINAL if start + part >= size else 0), data[start : start + part])
                    for start in starts
                ))
                if len(starts) > 256:
                    return peer.closed(1009)
                peer.answer()
                peer.farewell()

            count += case(house, f"9.3 and 10, {size} bytes in fragments of {part}", fragments)
        for chop in (64, 128, 256, 512, 1 << 10, 2 << 10, None):

            def pieces(peer):
                peer.raw(frame(FINAL | TEXT, data), chop)
                peer.answer()
                peer.farewell()

            count += case(house, f"9.5, {size} bytes in pieces of {chop}", pieces)
    for size in (0, 16, 64, 256, 1024, 4096):

        def many(peer):
            for number in range(1000):
                peer.raw(frame(FINAL | TEXT, request(size, number=number).encode()))
                peer.answer(number)
            peer.farewell()

        count += case(house, f"9.7, 1000 messages of {size} bytes or little more", many)

    def plain(peer):
        """A client that offers compression gets a connection without it (RFC 7692, section 5)."""
        with socket.create_connection(("localhost", house.port), timeout=10) as other:
            offer = WSConnection(ConnectionType.CLIENT)
            extensions = [PerMessageDeflate()]
            other.sendall(offer.send(Request(host=f"localhost:{house.port}", target="/rpc", extensions=extensions)))
            offer.receive_data(other.recv(65536))
            accepted = next(offer.events())
            assert isinstance(accepted, AcceptConnection) and accepted.extensions == [], accepted
            other.sendall(offer.send(TextMessage(data=request())))
            offer.receive_data(other.recv(65536))
            assert json.loads(next(offer.events()).data)["id"] == 1
        peer.raw(frame(FINAL | 0x40 | TEXT, b"\xaaV*J-.\xc9\x1f\x00"))
        peer.closed(1002)

    count += case(house, "12", plain)
    print(f"   {count} cases")
