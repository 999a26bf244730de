"""A box below a path: `base-path`, or a proxy that has several boxes."""

from __future__ import annotations

from typing import Any

from conftest import DOMAIN, act, eventually, shows
from custom_components.nowplayingd.client import BoxAddress, BoxError, BoxHTTP, BoxSocket, NotABox, TooOld
from custom_components.nowplayingd.client.address import path_of
from homeassistant.config_entries import ConfigEntryState
from homeassistant.core import HomeAssistant
from homeassistant.data_entry_flow import FlowResultType
from homeassistant.helpers.aiohttp_client import async_get_clientsession
from house import House, sound
import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry
from remote import Remote, fake_box
from test_flow import ADDRESS, announced, answer, begin, unload
from test_proof import Relay, paired_entry

LONGEST = "/" + "a" * 127
PATHS = {
    "/": "/",
    "/music": "/music/",
    "/music/": "/music/",
    "/home/music": "/home/music/",
    "/A-z_0.9~": "/A-z_0.9~/",
    "/.hidden": "/.hidden/",
    "/...": "/.../",
    LONGEST: f"{LONGEST}/",
    # The box announces its longest path with a slash at the end.
    f"{LONGEST}/": f"{LONGEST}/",
}
OTHERS = (
    *("", "music", "music/", "//", "//music", "/music//", "/a//b", "/.", "/..", "/../", "/a/../b", "/a/.", "/a/./", "/a b"),
    *(" /a", "/a ", "/a\tb", "/a\n", "/a\n/", "/a\0b", "/a\r\nHost: b", "/a;b", "/a?b", "/a#b", "/%6d", "/a%2f", "/a\\b"),
    *('/"a"', "/ä", "/a,b", "/a@b", "/a:b", "/<a>", "/{a}", "http://a/b", "/\u202e", "/\u0661", "/\udcff", LONGEST + "a"),
    *(LONGEST + "a/", "/" + "a/" * 90),
)  # fmt: skip


class Proxy(Remote):
    """A proxy that has one box below a path, and another one, by its port, at all other paths."""

    def __init__(self, path: str, below: House, other: int) -> None:
        super().__init__(below)
        self._path, self._other = path.encode(), other

    def port_for(self, line: bytes) -> int:
        """Return the port for a request, by its first line."""
        return super().port_for(line) if line.split(b" ")[1].startswith(self._path) else self._other


async def move(hass: HomeAssistant, house: House, path: str) -> None:
    """Give a box another base path. Its port stays."""
    house.end("nowplaying-web")
    await hass.async_add_executor_job(house.begin_web, "" if path == "/" else f"base-path = {path}\n")


async def id_at(hass: HomeAssistant, address: BoxAddress) -> str:
    """Return the lasting id of the box at an address."""
    socket = await BoxSocket.open(async_get_clientsession(hass), address, None)
    reading = hass.async_create_task(socket.run(lambda *_: None))
    found = (await socket.call("hello", {"client": "test"}))["id"]
    await socket.close()
    await reading
    return str(found)


def entry_of(hass: HomeAssistant) -> Any:
    """Return the only entry."""
    [entry] = hass.config_entries.async_entries(DOMAIN)
    return entry


def suggestion(flow: Any) -> Any:
    """Return the words in the field of the path."""
    [found] = [key.description["suggested_value"] for key in flow["data_schema"].schema if key == "path"]
    return found


def test_paths() -> None:
    """The paths that `base-path` takes, with a slash at both ends; an address has no other."""
    assert {words: path_of(words) for words in PATHS} == PATHS
    assert {words: path_of(words) for words in OTHERS} == dict.fromkeys(OTHERS)
    for words, path in PATHS.items():
        address = BoxAddress("box.local", path=words)
        assert address == BoxAddress("box.local", path=path) and str(address.base) == f"http://box.local:8088{path}"
        assert str(address.base / "rpc") == f"http://box.local:8088{path}rpc"
    for words in OTHERS:
        with pytest.raises(ValueError, match="invalid path"):
            BoxAddress("box.local", path=words)


async def test_user(hass: HomeAssistant, own_house: House) -> None:
    """A typed path leads to the box; without it, or with a wrong one, the form is shown again."""
    await move(hass, own_house, "/home/music")
    data = {**ADDRESS, "port": own_house.port}
    flow = await begin(hass)
    for path in ({}, {"path": ""}, {"path": "/"}, {"path": "/home"}, {"path": "/home/music/x"}):
        flow = await answer(hass, flow, **data, **path)
        assert flow["errors"] == {"base": "not_a_box"}, path
    for words in OTHERS:
        if words.strip() and path_of(words.strip()) is None:
            flow = await answer(hass, flow, **data, path=words)
            assert flow["errors"] == {"path": "invalid_path"}, words
    flow = await answer(hass, flow, **{**data, "host": "a b"}, path="home")
    assert flow["errors"] == {"host": "invalid_host", "path": "invalid_path"}
    # The words stay in the field.
    assert suggestion(flow) == "home"
    made = await answer(hass, flow, **data, path=" /home/music ")
    assert made["type"] is FlowResultType.CREATE_ENTRY and made["data"] == {**data, "path": "/home/music/"}
    player = "media_player.127_0_0_1"
    own_house.call("play")
    await shows(hass, player, "playing", media_title="First 1")
    await eventually(lambda: hass.states.get(player).attributes.get("entity_picture"), "a picture")
    content, kind = await hass.data["media_player"].get_entity(player).async_get_media_image()
    assert kind == "image/png" and content
    again = await answer(hass, await begin(hass), **data, path="/home/music")
    assert (again["type"], again["reason"]) == (FlowResultType.ABORT, "already_configured")
    await unload(hass)


async def test_code_and_another_path(hass: HomeAssistant, own_house: House, tmp_path: Any) -> None:
    """Pairing, proofs and uploads go below the path. An emptied field means the whole host."""
    await move(hass, own_house, "/music")
    sound(tmp_path / "bell.wav", 0.2)
    async with Remote(own_house) as remote:
        data = {**ADDRESS, "port": remote.port}
        assert suggestion(await begin(hass)) == "/"
        flow = await answer(hass, await begin(hass), **data, path="/music")
        assert flow["step_id"] == "pair"
        made = await answer(hass, flow, code=own_house.code())
        # The box does not know the port of the way, which the code has confirmed.
        assert made["type"] is FlowResultType.CREATE_ENTRY and entry_of(hass).data["confirmed"]
        entry, player = entry_of(hass), "media_player.127_0_0_1"
        assert entry.data["path"] == "/music/" and entry.data["token"]
        await shows(hass, player, "idle")
        answered = await entry.runtime_data.http.announce((tmp_path / "bell.wav").read_bytes(), {})
        assert answered["seconds"] == pytest.approx(0.2, abs=0.1)
        await act(hass, "media_play", player)
        await shows(hass, player, "playing", media_title="First 1")

        await move(hass, own_house, "/")
        await shows(hass, player, "unavailable")
        flow = await begin(hass, "reconfigure", entry_id=entry.entry_id)
        assert suggestion(flow) == "/music/"
        flow = await answer(hass, flow, **data, path="/music")
        assert flow["errors"] == {"base": "too_old"}
        flow = await answer(hass, flow, **data)
        assert flow["step_id"] == "move"
        done = await answer(hass, flow)
        assert (done["type"], done["reason"]) == (FlowResultType.ABORT, "reconfigure_successful")
        assert entry.data["path"] == "/"
        await shows(hass, player, "playing", media_title="First 1")
        await unload(hass)


async def test_discovery(hass: HomeAssistant, own_house: House) -> None:
    """The announced path is that of the new entry, which later announcements find."""
    await move(hass, own_house, "/music")
    box_id = await id_at(hass, BoxAddress("127.0.0.1", own_house.port, path="/music"))
    flow = await begin(hass, "zeroconf", announced(own_house.port, id=box_id, path="/music/"))
    assert flow["step_id"] == "confirm"
    made = await answer(hass, flow)
    assert made["type"] is FlowResultType.CREATE_ENTRY and entry_of(hass).data["path"] == "/music/"
    await shows(hass, state="idle")
    flow = await begin(hass, "zeroconf", announced(own_house.port, id=box_id, path="/music"))
    assert (flow["type"], flow["reason"]) == (FlowResultType.ABORT, "already_configured")
    # Without a token the box proves nothing: while it is there, no other path counts.
    flow = await begin(hass, "zeroconf", announced(own_house.port, id=box_id, path="/other/"))
    assert (flow["type"], flow["reason"]) == (FlowResultType.ABORT, "already_configured")
    await unload(hass)
    flow = await begin(hass, "zeroconf", announced(own_house.port, id=box_id, path="/other/"))
    assert flow["step_id"] == "move" and flow["description_placeholders"]["address"].endswith("/other/")
    flow = await answer(hass, flow)
    assert flow["errors"] == {"base": "not_a_box"} and entry_of(hass).data["path"] == "/music/"


async def test_hostile_announcements(hass: HomeAssistant, house: House) -> None:
    """An announcement with an invalid path is refused: it leads to no request, no form and no change."""
    entry = await paired_entry(hass, house)
    before = dict(entry.data)
    async with Relay(house) as relay:
        for words in filter(None, OTHERS):
            for box in (entry.unique_id, "box-2"):
                flow = await begin(hass, "zeroconf", announced(relay.port, id=box, path=words))
                assert (flow["type"], flow["reason"]) == (FlowResultType.ABORT, "invalid_path"), words
            flow = await begin(hass, "zeroconf", announced(relay.port, path=words))
            assert (flow["type"], flow["reason"]) == (FlowResultType.ABORT, "invalid_path"), words
        assert not relay.heard
    assert entry.data == before and not hass.config_entries.flow.async_progress()
    await unload(hass)


async def test_box_whose_path_changes(hass: HomeAssistant, own_house: House) -> None:
    """An entry of an earlier version has no path. A box that proves another path is followed, and no other one is."""
    entry = await paired_entry(hass, own_house)
    assert "path" not in entry.data
    await shows(hass, state="idle")
    for facts in ({}, {"path": "/"}, {"path": ""}):
        flow = await begin(hass, "zeroconf", announced(own_house.port, id=entry.unique_id, **facts))
        assert (flow["type"], flow["reason"]) == (FlowResultType.ABORT, "already_configured")
    assert "path" not in entry.data

    await move(hass, own_house, "/music")
    await shows(hass, state="unavailable")
    flow = await begin(hass, "zeroconf", announced(own_house.port, id=entry.unique_id, path="/other/"))
    assert (flow["type"], flow["reason"]) == (FlowResultType.ABORT, "not_proven") and "path" not in entry.data
    flow = await begin(hass, "zeroconf", announced(own_house.port, id=entry.unique_id, path="/music/"))
    assert (flow["type"], flow["reason"]) == (FlowResultType.ABORT, "already_configured")
    await hass.async_block_till_done()
    assert entry.data["path"] == "/music/"
    await shows(hass, state="idle")

    await move(hass, own_house, "/")
    await shows(hass, state="unavailable")
    # A box without a path in its announcement has the whole host.
    flow = await begin(hass, "zeroconf", announced(own_house.port, id=entry.unique_id))
    assert (flow["type"], flow["reason"]) == (FlowResultType.ABORT, "already_configured")
    await hass.async_block_till_done()
    assert entry.data["path"] == "/" and entry.state is ConfigEntryState.LOADED
    await shows(hass, state="idle")
    await unload(hass)


async def test_two_boxes_behind_a_proxy(hass: HomeAssistant, own_house: House) -> None:
    """Boxes at one host and port are different ones if their paths differ."""
    await move(hass, own_house, "/kitchen")
    hello = {"server": "nowplayingd", "protocol": 1, "role": "control", "id": "box-2"}
    async with fake_box(hello=hello) as other, Proxy("/kitchen/", own_house, other) as proxy:
        made = await answer(hass, await begin(hass), port=proxy.port, **ADDRESS)
        assert made["type"] is FlowResultType.CREATE_ENTRY and made["result"].unique_id == "box-2"
        flow = await answer(hass, await begin(hass), port=proxy.port, path="/kitchen", **ADDRESS)
        assert flow["step_id"] == "pair"
        made = await answer(hass, flow, code=own_house.code())
        assert made["type"] is FlowResultType.CREATE_ENTRY and made["data"]["path"] == "/kitchen/"
        first, second = hass.config_entries.async_entries(DOMAIN)
        assert first.data["path"] == "/" and first.unique_id != second.unique_id
        own_house.call("play")
        box = second.runtime_data
        await eventually(lambda: box.active is not None and box.active.state.state == "playing", "the sound")
        await unload(hass)


async def test_announcement_without_id(hass: HomeAssistant, house: House) -> None:
    """Without ids, entries are known by host, port and path."""
    entry = MockConfigEntry(domain=DOMAIN, data={**ADDRESS, "port": house.port, "path": "/music/"})
    entry.add_to_hass(hass)
    flow = await begin(hass, "zeroconf", announced(house.port, path="/music"))
    assert (flow["type"], flow["reason"]) == (FlowResultType.ABORT, "already_configured")
    for facts in ({}, {"path": "/other/"}, {"id": "box-1"}, {"id": "box-2", "path": "/other/"}):
        flow = await begin(hass, "zeroconf", announced(house.port, **facts))
        assert flow["step_id"] == "confirm" and entry.unique_id is None, facts
        hass.config_entries.flow.async_abort(flow["flow_id"])
    flow = await begin(hass, "zeroconf", announced(house.port, id="box-1", path="/music/"))
    assert (flow["type"], flow["reason"]) == (FlowResultType.ABORT, "already_configured")
    assert entry.unique_id == "box-1"


@pytest.mark.parametrize(("token", "error"), [(None, NotABox), ("A" * 43, TooOld)])
async def test_wrong_path_of_a_client(hass: HomeAssistant, house: House, token: str | None, error: type[BoxError]) -> None:
    """The reason of a wrong path names the address with it."""
    session, address = async_get_clientsession(hass), BoxAddress("127.0.0.1", house.port, path="/music")
    with pytest.raises(error, match=f"http://127.0.0.1:{house.port}/music"):
        await BoxSocket.open(session, address, token)
    with pytest.raises(error, match=f"http://127.0.0.1:{house.port}/music"):
        await BoxHTTP(session, address, token).announce(b"x", {})
