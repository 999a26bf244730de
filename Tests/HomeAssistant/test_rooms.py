"""Home Assistant's own integration for Snapcast beside ours: the rooms of a box that plays into a Snapcast server."""

from __future__ import annotations

from collections.abc import Callable, Iterator
import json
import socket
import struct
import subprocess
from typing import Any

from conftest import act, allow_sockets, shows
from homeassistant.core import HomeAssistant
from house import House, until
import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry


class Rooms:
    """A Snapcast server on free ports of this machine, and two rooms."""

    def __init__(self, house: House) -> None:
        """Start the server and the rooms, and let the daemon of the house play to it."""
        free = [socket.create_server(("127.0.0.1", 0)) for _ in range(3)]
        self.stream, self.control, self.source = (one.getsockname()[1] for one in free)
        for one in free:
            one.close()
        (house.folder / "snapserver").mkdir()
        (house.folder / "snapserver.conf").write_text("")
        options = {
            "config": house.folder / "snapserver.conf",
            "server.datadir": house.folder / "snapserver",
            "http.enabled": 0,
            "tcp.bind_to_address": "127.0.0.1",
            "tcp.port": self.control,
            "stream.bind_to_address": "127.0.0.1",
            "stream.port": self.stream,
            "stream.source": f"tcp://127.0.0.1:{self.source}/?name=music&mode=server&codec=pcm&sampleformat=48000:16:2",
            "logging.sink": "null",
        }
        words = [word for name, value in options.items() for word in (f"--{name}", str(value))]
        house.processes["snapserver"] = subprocess.Popen(["snapserver", *words], env=house.environment, stdin=subprocess.DEVNULL)
        until(lambda: self.ask("Server.GetStatus"), "the Snapcast server")
        self.clients = [self.client(name) for name in ("bath", "attic")]
        until(lambda: self.room("bath") and self.room("attic"), "two rooms")
        house.end("nowplayingd")
        settings = house.settings.read_text()
        house.settings.write_text(f"{settings}[output]\nsnapcast-buffer = 1000\n")
        house.output = f"snapcast:127.0.0.1:{self.source}"
        house.begin_daemon()
        until(lambda: house.call("hello"), "the daemon")
        house.end("nowplaying-web")
        house.begin_web(f"snapcast-server = 127.0.0.1:{self.control}\n")

    def ask(self, method: str, **params: Any) -> Any:
        """Return the result of one request to the server."""
        with socket.create_connection(("127.0.0.1", self.control), 5) as server:
            server.sendall(json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode() + b"\r\n")
            return next(answer["result"] for answer in map(json.loads, server.makefile()) if answer.get("id") == 1)

    def client(self, name: str) -> socket.socket:
        """Return the connection of a room."""
        room = socket.create_connection(("127.0.0.1", self.stream), 5)
        hello = {"Arch": "", "ClientName": "room", "HostName": name, "ID": name, "Instance": 1, "MAC": "00:00:00:00:00:01"}
        text = json.dumps({**hello, "OS": "Linux", "SnapStreamProtocolVersion": 2, "Version": "0.26.0"}).encode()
        room.sendall(struct.pack("<HHHiiiiI", 5, 0, 0, 0, 0, 0, 0, len(text) + 4) + struct.pack("<I", len(text)) + text)
        return room

    def room(self, name: str) -> Any:
        """Return a room as the server has it, with the id of its group."""
        groups = self.ask("Server.GetStatus")["server"]["groups"]
        found = [{**one, "group": group["id"]} for group in groups for one in group["clients"] if one["id"] == name]
        return found[0] if found else None

    def close(self) -> None:
        """End the rooms; the house ends the server."""
        for one in self.clients:
            one.close()


@pytest.fixture
def rooms(own_house: House) -> Iterator[Rooms]:
    """The rooms of the box."""
    allow_sockets()
    rooms = Rooms(own_house)
    yield rooms
    rooms.close()


async def test_rooms(hass: HomeAssistant, own_house: House, rooms: Rooms, add: Callable[..., Any]) -> None:
    """Ours is the music, theirs are the rooms: volume, mute, latency and groups."""
    await add(own_house)
    other = MockConfigEntry(domain="snapcast", title="Rooms", data={"host": "127.0.0.1", "port": rooms.control})
    other.add_to_hass(hass)
    assert await hass.config_entries.async_setup(other.entry_id)
    await hass.async_block_till_done()
    bath, attic = "media_player.bath_snapcast_client", "media_player.attic_snapcast_client"
    await shows(hass, bath, volume_level=1, is_volume_muted=False)
    await act(hass, "media_play")
    await shows(hass, state="playing")
    await shows(hass, bath, "playing")
    await act(hass, "volume_set", bath, volume_level=0.3)
    assert rooms.room("bath")["config"]["volume"]["percent"] == 30
    assert rooms.room("attic")["config"]["volume"]["percent"] == 100
    assert own_house.state()["volume"] == pytest.approx(0.7)
    await act(hass, "volume_mute", attic, is_volume_muted=True)
    assert rooms.room("attic")["config"]["volume"]["muted"] is True
    await act(hass, "set_latency", bath, "snapcast", latency=120)
    assert rooms.room("bath")["config"]["latency"] == 120
    await act(hass, "join", bath, "snapcast", master=attic)
    assert rooms.room("bath")["group"] == rooms.room("attic")["group"]
    # Another program sets a room.
    rooms.ask("Client.SetVolume", id="bath", volume={"percent": 55, "muted": False})
    await shows(hass, bath, volume_level=0.55)
    await act(hass, "media_pause")
    await shows(hass, state="paused")
    assert await hass.config_entries.async_unload(other.entry_id)
