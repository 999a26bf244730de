"""Home Assistant's own integration for MPD beside nowplaying-mpd."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
import logging
import socket
from typing import Any

from conftest import act, eventually, responds, shown, until_shown
from homeassistant.core import HomeAssistant
from homeassistant.helpers.entity_component import async_update_entity
from homeassistant.setup import async_setup_component
from house import House, png, until
import pytest

PLAYER = "media_player.hifi"
Update = Callable[..., Awaitable[Any]]


@pytest.fixture
def port(own_house: House) -> int:
    """The port of the box's nowplaying-mpd."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        number = int(free.getsockname()[1])
    settings = own_house.folder / "mpd.conf"
    settings.write_text(f"{own_house.settings.read_text()}[mpd]\nbind = 127.0.0.1:{number}\n")
    begin(own_house, number)
    return number


def begin(house: House, port: int) -> None:
    """Start nowplaying-mpd, and wait until it knows the daemon and the library."""
    house.start("nowplaying-mpd", "--config", str(house.folder / "mpd.conf"))

    def knows() -> bool:
        with socket.create_connection(("127.0.0.1", port), timeout=5) as client:
            file = client.makefile("rwb")
            file.write(b"command_list_begin\nstatus\nstats\ncommand_list_end\n")
            file.flush()
            lines = []
            while lines[-1:] != [b"OK\n"]:
                lines.append(file.readline())
                assert lines[-1], "the bridge has ended the connection"
            return b"songs: 5\n" in lines and any(line.startswith(b"volume: ") for line in lines)

    until(knows, "nowplaying-mpd")


@pytest.fixture
async def hifi(hass: HomeAssistant, own_house: House, port: int) -> Update:
    """Set the integration up. The function asks the bridge anew, and waits until the player shows a state and attributes."""
    hass.config.media_dirs = {"local": f"{own_house.folder}/music"}
    config = {"media_player": {"platform": "mpd", "name": "Hifi", "host": "127.0.0.1", "port": port}}
    assert await async_setup_component(hass, "media_player", config)
    for component in ("homeassistant", "media_source"):
        assert await async_setup_component(hass, component, {})
    await hass.async_block_till_done()

    async def update(state: str | None = None, **attributes: Any) -> Any:
        return await until_shown(hass, PLAYER, lambda: async_update_entity(hass, PLAYER), state, **attributes)

    return update


async def test_states(hass: HomeAssistant, own_house: House, hifi: Update) -> None:
    """State, song, position and volume."""
    await hifi("off")
    await act(hass, "media_play", PLAYER)
    first = await hifi("playing", media_title="First 1", media_artist="Ann", media_album_name="First")
    assert first.attributes["media_content_id"] == "First/1.flac"
    assert int(first.attributes["media_duration"]) == 60
    await act(hass, "media_seek", PLAYER, seek_position=40)
    found = await hifi("playing")
    assert 40 <= found.attributes["media_position"] < 60
    await act(hass, "media_pause", PLAYER)
    await hifi("paused")
    assert own_house.state()["state"] == "paused"
    await act(hass, "media_play", PLAYER)
    await hifi("playing")
    await act(hass, "media_next_track", PLAYER)
    await hifi("playing", media_title="First 2")
    await act(hass, "media_previous_track", PLAYER)
    await hifi("playing", media_title="First 1")
    await act(hass, "volume_set", PLAYER, volume_level=0.3)
    await hifi(volume_level=0.3)
    await act(hass, "volume_up", PLAYER)
    await hifi(volume_level=0.35)
    await act(hass, "volume_down", PLAYER)
    await hifi(volume_level=0.3)
    await act(hass, "volume_mute", PLAYER, is_volume_muted=True)
    await hifi(volume_level=0)
    await act(hass, "volume_mute", PLAYER, is_volume_muted=False)
    await hifi(volume_level=0.3)
    own_house.call("volume.set", volume=0.6)
    await hifi(volume_level=0.6)
    await act(hass, "turn_off", PLAYER)
    await hifi("off")
    await act(hass, "turn_on", PLAYER)
    await hifi("playing")


async def test_modes(hass: HomeAssistant, own_house: House, hifi: Update) -> None:
    """Shuffle and repeat."""
    await act(hass, "media_play", PLAYER)
    await hifi("playing")
    for repeat, mode in (("one", "one"), ("all", "all"), ("off", "off")):
        await act(hass, "repeat_set", PLAYER, repeat=repeat)
        await hifi(repeat=repeat)
        assert own_house.state()["repeatMode"] == mode
    for shuffle, mode in ((True, "items"), (False, "off")):
        await act(hass, "shuffle_set", PLAYER, shuffle=shuffle)
        await hifi(shuffle=shuffle)
        assert own_house.state()["shuffleMode"] == mode


async def test_media(
    hass: HomeAssistant, own_house: House, hifi: Update, hass_ws_client: Any, hass_client: Any, caplog: Any
) -> None:
    """Playlists as sources, songs, what its media browser finds and plays, and pictures."""
    own_house.call("lists.save", name="Evening", uris=own_house.songs[3:])
    await hifi()
    await act(hass, "turn_on", PLAYER)
    await hifi("playing", source_list=["Evening"])
    await act(hass, "select_source", PLAYER, source="Evening")
    await hifi("playing", media_title="Second 1", source="Evening")
    await act(hass, "play_media", PLAYER, media_content_type="music", media_content_id="First/2.flac")
    await hifi("playing", media_title="First 2")
    await act(hass, "play_media", PLAYER, media_content_type="playlist", media_content_id="Evening")
    await hifi("playing", media_title="Second 1")

    client = await hass_ws_client(hass)
    await client.send_json({"id": 1, "type": "media_player/browse_media", "entity_id": PLAYER})
    found = await client.receive_json()
    assert found["success"], found
    assert [child["title"] for child in found["result"]["children"]] == ["First", "Second"]

    entity = hass.data["media_player"].get_entity(PLAYER)
    assert await entity.async_get_media_image() == (png(101), "image/png")
    assert shown(hass, PLAYER).attributes.get("entity_picture")
    # A file of Home Assistant, which the box fetches from it.
    server = await hass_client()
    hass.config.internal_url = str(server.make_url("")).rstrip("/")
    await act(hass, "play_media", PLAYER, media_content_type="music", media_content_id="media-source://media_source/local/First/3.flac")
    await hifi("playing", media_title="First 3")
    assert shown(hass, PLAYER).attributes["media_content_id"].startswith(f"{hass.config.internal_url}/media/local/First/3.flac?")
    await act(hass, "clear_playlist", PLAYER)
    await hifi("off")
    assert own_house.call("queue.list")["count"] == 0
    assert not [record for record in caplog.records if record.name.endswith("mpd.media_player") and record.levelno >= logging.WARNING]


async def test_loss(hass: HomeAssistant, own_house: House, hifi: Update, port: int) -> None:
    """A bridge and a daemon that end and come back."""
    await act(hass, "media_play", PLAYER)
    await hifi("playing")
    own_house.end("nowplaying-mpd")
    await hifi("unavailable")
    await hass.async_add_executor_job(begin, own_house, port)
    await hifi("playing", media_title="First 1")
    own_house.end("nowplayingd")
    await hifi("off")
    own_house.begin_daemon()
    await eventually(lambda: responds(own_house), "the daemon")
    await hifi(volume_level=0.7)
    await act(hass, "media_play", PLAYER)
    await hifi("playing", media_title="First 1")
