"""The rooms of a real Snapcast server: followed live, set by touch, and absent while the server is."""

import contextlib
import json
import pathlib
import socket
import struct
import urllib.request

import axe
from browser import until
from controls import begin
from guests import bridge

HOST = "127.76.1.1"
EVIL = "<img src=x onerror=alert(1)>\u202eevil"


def begin_server(house):
    data = house.folder / "snapserver"
    data.mkdir(exist_ok=True)
    (data / "empty.conf").write_text("")
    server = house.start(
        "snapserver", "--config", data / "empty.conf", "--server.datadir", data, "--http.enabled", 0, "--tcp.bind_to_address", HOST,
        "--stream.bind_to_address", HOST, "--stream.source",
        f"tcp://{HOST}:4953/?name=music&mode=server&codec=pcm&sampleformat=48000:16:2", "--logging.sink", "null",
    )  # fmt: skip
    until(lambda: ask("Server.GetStatus"), "the Snapcast server")
    return server


def ask(method, **params):
    """One request to the server; None while it does not listen."""
    try:
        with socket.create_connection((HOST, 1705), 5) as server:
            server.sendall(json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode() + b"\r\n")
            for line in server.makefile():
                answer = json.loads(line)
                if answer.get("id") == 1:
                    assert "error" not in answer, answer
                    return answer["result"]
    except ConnectionRefusedError:
        pass
    return None


def client(name):
    """A room of the server, for the lifetime of the connection."""
    room = socket.create_connection((HOST, 1704), 5)
    hello = {"Arch": "", "ClientName": "page", "HostName": name, "ID": name, "Instance": 1, "MAC": "00:00:00:00:00:01"}
    text = json.dumps({**hello, "OS": "Linux", "SnapStreamProtocolVersion": 2, "Version": "0.26.0"}).encode()
    room.sendall(struct.pack("<HHHiiiiI", 5, 0, 0, 0, 0, 0, 0, len(text) + 4) + struct.pack("<I", len(text)) + text)
    return room


def of_server(name):
    """The server's data of a room, and the id of its group."""
    groups = ask("Server.GetStatus")["server"]["groups"]
    return next(({**one, "group": group["id"]} for group in groups for one in group["clients"] if one["id"] == name), None)


def card(name):
    return f"[...document.querySelectorAll('[data-room]')].find((one) => one.dataset.room === {name!r})"


def move(tab, percent):
    """The next value of a drag that goes on."""
    tab.run(
        f"(() => {{ const range = {card('bath')}.querySelector('input'); range.value = {percent};"
        "range.dispatchEvent(new Event('input')); })()"
    )


def connections(house):
    """Connections of nowplaying-web to the server."""
    inodes = set()
    for fd in pathlib.Path(f"/proc/{house.web.pid}/fd").iterdir():
        with contextlib.suppress(OSError):
            target = str(fd.readlink())
            if target.startswith("socket:["):
                inodes.add(target[8:-1])
    port = f":{1705:04X}"
    rows = [row.split() for row in open("/proc/net/tcp").read().splitlines()[1:]]
    return sum(row[9] in inodes and row[2].endswith(port) and row[3] == "01" for row in rows)


def test_rooms(house, browser):
    """Names, volume, mute, group and latency of each room; the page follows, and requests only shown data."""
    server = begin_server(house)
    rooms = [client(name) for name in ("bath", "kitchen")]
    until(lambda: of_server("bath") and of_server("kitchen"), "two rooms")
    ask("Client.SetName", id="kitchen", name=EVIL)
    with bridge(house, f"snapcast-server = {HOST}\n"):
        tab = begin(house, browser)
        assert connections(house) == 0
        tab.run("void (location.hash = '#/more')")
        tab.click("[href='#/rooms']")
        tab.until(f"{card('bath')}?.querySelector('h2').textContent === 'bath'")
        tab.until(f"{card('kitchen')}.querySelector('h2').textContent === {json.dumps(EVIL)}")
        assert tab.run("document.querySelectorAll('main img').length") == 0
        assert connections(house) == 1
        # The slider by touch.
        left, top, width = tab.run(
            f"(() => {{ const r = {card('bath')}.querySelector('input').getBoundingClientRect(); return [r.x, r.y + r.height / 2, r.width]; }})()"
        )
        tab.press(left + width * 0.95, top, (left + width * 0.25, top))
        until(lambda: 15 <= of_server("bath")["config"]["volume"]["percent"] <= 35, "a lower volume")
        tab.run(f"{card('bath')}.querySelector('.volume button').click()")
        until(lambda: of_server("bath")["config"]["volume"]["muted"], "mute")
        tab.until(f"{card('bath')}.querySelector('.volume button').ariaPressed === 'true'")
        tab.until(f"{card('bath')}.querySelector('.volume.is-muted') !== null")
        # A move of the slider ends the mute that it finds, and no mute that comes meanwhile.
        move(tab, 40)
        until(lambda: of_server("bath")["config"]["volume"] == {"percent": 40, "muted": False}, "the end of the mute")
        tab.until(f"{card('bath')}.querySelector('.volume button').ariaPressed === 'false'")
        ask("Client.SetVolume", id="bath", volume={"percent": 40, "muted": True})
        tab.until(f"{card('bath')}.querySelector('.volume button').ariaPressed === 'true'")
        move(tab, 45)
        until(lambda: of_server("bath")["config"]["volume"] == {"percent": 45, "muted": True}, "a volume that stays muted")
        tab.run(f"{card('bath')}.querySelector('input').dispatchEvent(new Event('change'))")
        # Another program sets it.
        ask("Client.SetVolume", id="bath", volume={"percent": 80, "muted": False})
        tab.until(f"{card('bath')}.querySelector('input').value === '80' && {card('bath')}.querySelector('.volume button').ariaPressed === 'false'")
        # Group, latency and name in the sheet.
        tab.run(f"{card('bath')}.querySelector('header button').click()")
        tab.until("document.querySelector('dialog[open] select') !== null")
        for selector, value in (("select", "kitchen"), ("[type=number]", "120"), ("[type=text]", "Blue room")):
            tab.run(
                f"(() => {{ const one = document.querySelector('dialog[open] {selector}'); one.value = {value!r};"
                "one.dispatchEvent(new Event('change')); })()"
            )
        until(lambda: of_server("bath")["group"] == of_server("kitchen")["group"], "one group")
        until(lambda: of_server("bath")["config"]["latency"] == 120, "the latency")
        tab.until(f"{card('bath')}.querySelector('h2').textContent === 'Blue room'")
        tab.until(f"{card('bath')}.querySelector('.item-artist').textContent.includes('evil')")
        tab.run("document.querySelector('dialog[open] .switch').click()")
        tab.until(f"{card('bath')}.querySelector('.badge').textContent === 'Group muted'")
        assert ask("Server.GetStatus")["server"]["groups"][0]["muted"]
        tab.run("document.querySelector('dialog[open] .switch').click()")
        tab.until(f"{card('bath')}.querySelector('.badge').textContent === 'Connected'")
        tab.key("Escape", 27)
        # Each language has the texts.
        for language in ("de", "es", "fr", "ja", "en"):
            words = json.loads(urllib.request.urlopen(f"{house.address}/words/{language}.json").read())
            tab.run(f"void (localStorage.setItem('nowplaying.language', '{language}'), location.reload())")
            tab.until(f"document.querySelector('main .note')?.textContent === {json.dumps(words['roomsHint'])}")
            assert tab.run(f"{card('bath')}.querySelector('.badge').textContent") == words["roomConnected"]
        tab.run("localStorage.removeItem('nowplaying.language')")
        # A room disappears.
        rooms.pop(0).close()
        tab.until(f"{card('bath')}.querySelector('.badge').textContent === 'Not connected'")
        # It can be removed, after a question; a room that is connected cannot.
        tab.run(f"{card('kitchen')}.querySelector('header button').click()")
        tab.until("document.querySelector('dialog[open] select') !== null")
        assert tab.run("document.querySelector('dialog[open] .secondary') === null")
        tab.key("Escape", 27)
        for choice in (1, 0):
            tab.run(f"{card('bath')}.querySelector('header button').click()")
            tab.until("document.querySelector('dialog[open] select') !== null")
            tab.run("document.querySelector('dialog[open] .secondary').click()")
            tab.until("document.querySelector('dialog[open] h2')?.textContent === 'Remove Blue room?'")
            assert of_server("bath") is not None
            tab.run(f"document.querySelectorAll('dialog[open] .choice')[{choice}].click()")
            tab.until("document.querySelector('dialog') === null")
        tab.until(f"{card('bath')} === undefined")
        assert of_server("bath") is None
        # Nobody looks: no connection.
        tab.hide(True)
        until(lambda: connections(house) == 0, "no connection")
        tab.hide(False)
        until(lambda: connections(house) == 1, "a connection")
        # The server ends and returns.
        house.end(server)
        tab.until("document.querySelector('main .note').textContent === 'The Snapcast server cannot be reached.'")
        tab.until("document.querySelectorAll('[data-room]').length === 0")
        for one in rooms:
            one.close()
        server = begin_server(house)
        attic = client("attic")
        tab.until(f"{card('attic')}?.querySelector('.badge').textContent === 'Connected'", seconds=40)
        attic.close()
        tab.run("void (location.hash = '#/')")
        until(lambda: connections(house) == 0, "no connection")
        assert not tab.problems(), tab.problems()
        tab.close()
    house.end(server)


def test_rooms_accessible(house, browser):
    """axe-core finds nothing on the view of the rooms and in a room's sheet."""
    server, bath = begin_server(house), client("bath")
    try:
        with bridge(house, f"snapcast-server = {HOST}\n"):
            tab = begin(house, browser)
            axe.load(tab)
            tab.run("void (location.hash = '#/rooms')")
            tab.until(f"{card('bath')}?.querySelector('h2').textContent === 'bath'")
            axe.check(tab, "rooms")
            tab.run(f"{card('bath')}.querySelector('header button').click()")
            tab.until("document.querySelector('dialog[open] select') !== null")
            axe.check(tab, "the sheet of a room")
            tab.close()
    finally:
        bath.close()
        house.end(server)


def test_no_rooms(house, browser):
    """Without a Snapcast server the page leads to no rooms, and says in each language at their address what to do."""
    tab = begin(house, browser)
    tab.run("void (location.hash = '#/more')")
    tab.until("document.querySelector(\"[href='#/sessions']\") !== null")
    tab.until("document.querySelector(\"[href='#/rooms']\").getClientRects().length === 0")
    tab.run("void (location.hash = '#/rooms')")
    for language in ("de", "es", "fr", "ja", "en"):
        words = json.loads(urllib.request.urlopen(f"{house.address}/words/{language}.json").read())
        assert words["rooms.disabled"] not in (words["error.disabled"], words["rooms.unreachable"])
        tab.run(f"void (localStorage.setItem('nowplaying.language', '{language}'), location.reload())")
        tab.until(f"document.querySelector('main .note')?.textContent === {json.dumps(words['rooms.disabled'])}")
        tab.until("document.querySelector('main .note code')?.textContent === 'nowplayingctl setup rooms'")
        tab.until("document.querySelector('main .note code').getClientRects().length === 1")
    tab.run("localStorage.removeItem('nowplaying.language')")
    tab.close()
