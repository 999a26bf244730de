"""The connection: calls without a box, several boxes and sessions, and boxes that send anything."""

from __future__ import annotations

import asyncio
import json
import pathlib
from typing import Any

import aiohttp
from conftest import act, eventually, responds, shown, shows
from custom_components.nowplayingd.client import (
    BoxAddress,
    BoxError,
    BoxHTTP,
    BoxSocket,
    CallError,
    NotABox,
    NotPaired,
    State,
    Unreachable,
    WrongName,
)
from custom_components.nowplayingd.client.address import host_of
from custom_components.nowplayingd.client.values import mapping, number, objects, text, texts, token, whole
from custom_components.nowplayingd.entity import failure
from homeassistant.config_entries import ConfigEntryState
from homeassistant.core import HomeAssistant
from homeassistant.exceptions import HomeAssistantError
from homeassistant.helpers import device_registry as dr, entity_registry as er
from homeassistant.helpers.aiohttp_client import async_get_clientsession
from house import House
import pytest
from remote import Line, Remote, fake_box


async def test_calls_without_a_box(hass: HomeAssistant, own_house: House, add) -> None:
    """A call during an outage is an error with a reason; the entry is loaded when the box comes."""
    entry = await add(own_house)
    own_house.end("nowplaying-web")
    await shows(hass, state="unavailable")
    with pytest.raises(HomeAssistantError) as error:
        await hass.data["media_player"].get_entity("media_player.kitchen").async_media_play()
    assert error.value.translation_key == "unreachable"
    own_house.end("nowplayingd")
    await hass.config_entries.async_reload(entry.entry_id)
    assert entry.state is ConfigEntryState.SETUP_RETRY
    own_house.begin_daemon()
    await eventually(lambda: responds(own_house), "the daemon")
    await hass.async_add_executor_job(own_house.begin_web)
    await hass.config_entries.async_reload(entry.entry_id)
    await shows(hass, state="idle", queue_size=5)


async def test_updated_box(hass: HomeAssistant, own_house: House, add) -> None:
    """After an update of the box the device has the new version."""
    entry = await add(own_house)
    registry = dr.async_get(hass)
    device = registry.async_get_device({("nowplayingd", entry.entry_id)})
    assert device is not None
    version = device.sw_version
    registry.async_update_device(device.id, sw_version="0.0.1")
    own_house.end("nowplaying-web")
    await hass.async_add_executor_job(own_house.begin_web)
    await eventually(lambda: registry.async_get(device.id).sw_version == version, "the version")


async def test_without_a_library(hass: HomeAssistant, own_house: House, add) -> None:
    """Without a library there is no search and no shelf of it; all else works."""
    own_house.end("nowplaying-library")
    await add(own_house)
    browse = hass.data["media_player"].get_entity("media_player.kitchen").async_browse_media
    root = await browse()
    assert "Albums" not in [one.title for one in root.children or []]
    await act(hass, "play_media", media_content_id=own_house.songs[1], media_content_type="music")
    await shows(hass, state="playing", queue_size=1)
    # The library starts later.
    await hass.async_add_executor_job(own_house.begin_library)
    root = await browse()
    assert "Albums" in [one.title for one in root.children or []]


async def test_two_boxes_and_many_sessions(
    hass: HomeAssistant, house: House, own_house: House, add, tmp_path: pathlib.Path
) -> None:
    """Two boxes with all the sessions that they can have; each player shows its own."""
    await add(house)
    await add(own_house, title="Hall")
    for box in (house, own_house):
        for count in range(9):
            box.call("session.create", name=f"room-{count}", policy="mix")
            box.call("queue.add", session=f"room-{count}", items=box.songs[: count % 5 + 1])
    registry = er.async_get(hass)
    for title in ("kitchen", "hall"):
        await eventually(
            lambda title=title: all(registry.async_get(f"media_player.{title}_room_{count}") for count in range(9)), "the players"
        )
        for count in range(9):
            registry.async_update_entity(f"media_player.{title}_room_{count}", disabled_by=None)
    for entry in hass.config_entries.async_entries("nowplayingd"):
        await hass.config_entries.async_reload(entry.entry_id)
    await hass.async_block_till_done()
    for count in range(9):
        await act(hass, "media_play", f"media_player.hall_room_{count}")
    for count in range(9):
        await shows(hass, f"media_player.hall_room_{count}", "playing", queue_size=count % 5 + 1)
        await shows(hass, f"media_player.kitchen_room_{count}", "idle", queue_size=count % 5 + 1)
    await shows(hass, "media_player.kitchen", "idle", session="main")


async def test_listener_that_fails(hass: HomeAssistant, house: House, entry, caplog: pytest.LogCaptureFixture) -> None:
    """An entity that fails is named in the log; the others continue."""

    def fail(*_: Any) -> None:
        raise RuntimeError("a bug")

    entry.runtime_data.listen(fail)
    house.call("play")
    await shows(hass, state="playing")
    assert "A listener of Kitchen failed at STATE" in caplog.text


async def test_states_that_make_no_sense(hass: HomeAssistant, house: House, entry) -> None:
    """A state without a session, an older one, and one of an unknown session change nothing that is shown."""
    house.call("play")
    await shows(hass, state="playing", media_title="First 1")
    box = entry.runtime_data
    present = house.state()
    for params in ({}, {**present, "state": "dancing"}, {**present, "seq": 1, "state": "paused"}, {**present, "session": "nobody"}):
        box._notified("nowPlaying.changed", params)
    box._notified("library.changed", {})
    await hass.async_block_till_done()
    assert shown(hass).state == "playing" and "nobody" not in box.sessions
    # A box that has no outputs, no commands and no sessions for a moment.
    with pytest.MonkeyPatch.context() as patch:

        async def refuse(method: str, *_: Any, **__: Any) -> Any:
            if method == "session.list":
                raise Unreachable("gone")
            raise CallError("no")

        patch.setattr(box, "call", refuse)
        box.active.commands_key = ()
        box._notified("nowPlaying.changed", {**present, "seq": present["seq"] + 100, "cause": "outputs", "causes": ["outputs", "session"]})
        await hass.async_block_till_done()
        await eventually(lambda: box.outputs == [], "no outputs")
    assert shown(hass).state == "playing"


async def test_one_load_at_a_time(hass: HomeAssistant, house: House, entry) -> None:
    """A session that comes while a new connection loads all of them is loaded after that, not at the same time."""
    box = entry.runtime_data
    calls: list[str] = []
    call = box.call

    async def count(method: str, *words: Any, **more: Any) -> Any:
        calls.append(method)
        return await call(method, *words, **more)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(box, "call", count)
        patch.setattr(box, "is_available", False)
        house.call("session.create", name="kids")
        box._notified("nowPlaying.changed", house.state("kids"))
        # A task would begin in the next turn of the loop.
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert not calls
        box._become_available()
        await eventually(lambda: "kids" in box.sessions, "the session")
    assert calls[0] == "session.list" and shown(hass).state == "idle"


async def test_state_during_the_load(hass: HomeAssistant, house: House, entry) -> None:
    """A state that is published while its session is loaded is not lost."""
    box = entry.runtime_data
    call = box.call

    async def publish(method: str, *words: Any, **more: Any) -> Any:
        answer = await call(method, *words, **more)
        if method == "nowPlaying.get" and answer["session"] == "kids":
            box._notified("nowPlaying.changed", {**answer, "seq": answer["seq"] + 1, "volume": 0.25})
        return answer

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(box, "call", publish)
        house.call("session.create", name="kids")
        await eventually(lambda: "kids" in box.sessions, "the session")
    assert box.sessions["kids"].state.volume == 0.25


# MARK: Boxes that send anything

MESS: list[Any] = [None, True, -1, 1e400, 2**70, "x", "", [], [{}], {}, {"a": None}, "\ud800", [[[[]]]]]
GOOD_HELLO = {"server": "nowplayingd", "protocol": 1, "role": "control", "version": "1\n2", "instance": "i"}


@pytest.mark.parametrize("answer", [one for one in MESS if one not in (1e400, "\ud800")])
async def test_strange_answers(hass: HomeAssistant, house: House, add, answer: Any) -> None:
    """Whatever a box answers to the calls of a new connection, nothing breaks."""
    times = {"received": 1.0, "answered": 1.0}
    names = ("session.list", "output.list", "commands.list", "nowPlaying.get", "nowPlaying.subscribe", "library.status")
    async with fake_box(hello=GOOD_HELLO, answers={"clock.now": times, **dict.fromkeys(names, answer)}) as port:
        entry = await add(house, data={"port": port})
        assert entry.state is ConfigEntryState.LOADED
        assert shown(hass).state == "unavailable"
    async with fake_box(hello=GOOD_HELLO, answers={"clock.now": answer}) as port:
        entry = await add(house, data={"port": port})
        assert entry.state is ConfigEntryState.SETUP_RETRY
    async with fake_box(hello=answer) as port:
        entry = await add(house, data={"port": port})
        assert entry.state is ConfigEntryState.SETUP_RETRY


async def test_strange_lines(hass: HomeAssistant, house: House) -> None:
    """Lines that are no messages, answers that nobody waits for, and refusals without words are passed over."""
    lines = ["", "{", "[" * 5000, "null", '{"id": 99, "result": 1}', '{"id": [1], "result": 1}', '{"method": 5}', '{"method":"a"}']
    notes: list[str] = []
    async with fake_box(lines=lines, answers={"a": 5, "b": {"error": None}, "c": Line()}) as port:
        socket = await BoxSocket.open(async_get_clientsession(hass), BoxAddress("127.0.0.1", port), None)
        reading = asyncio.create_task(socket.run(lambda method, _: notes.append(method)))
        assert await socket.call("a") == 5
        with pytest.raises(CallError, match="without a reason"):
            await socket.call("b")
        with pytest.raises(Unreachable, match="did not answer c"):
            await socket.call("c", timeout=0.1)
        waiting = asyncio.create_task(socket.call("c"))
        await asyncio.sleep(0.05)
        await socket.close()
        with pytest.raises(Unreachable):
            await waiting
        assert isinstance(await reading, Unreachable)
        with pytest.raises(Unreachable):
            await socket.call("a")
    assert set(notes) == {"a"}


def test_readers() -> None:
    """Each reader returns its kind or nothing, for any input."""
    for one in MESS:
        assert text(one) is None or text(one).isprintable()
        assert token(one) is None or isinstance(one, str)
        assert number(one) is None or isinstance(number(one), float)
        assert whole(one) is None or isinstance(whole(one), int)
        assert isinstance(mapping(one), dict) and isinstance(objects(one), list) and isinstance(texts(one), tuple)
        for key in ("session", "state", "anchor", "item", "sleep", "output", "queue", "volume", "cause", "causes", "by", "error"):
            good = {"session": "main", "state": "playing", "item": {"title": "a", "artwork": MESS, "duration": one}, key: one}
            try:
                State.of(good)
            except NotABox:
                assert key in ("session", "state")
    assert text("a\u200db\u202ec\nd") == "a\u200db c d" and text(" \n") is None
    assert text("x" * 300) == "x" * 254 + "…" and number(10**400) is None and number(True) is None
    assert text("\u0000\u0000") is None and text("ｶﾞ 日本 🎵") == "ｶﾞ 日本 🎵"


@pytest.mark.parametrize(
    ("status", "kind"), [(401, NotPaired), (403, NotABox), (421, WrongName), (503, Unreachable), (200, NotABox)]
)
async def test_refused_handshake(hass: HomeAssistant, house: House, status: int, kind: type[BoxError]) -> None:
    """Each status of a refused handshake has its reason."""
    async with fake_box(status=status) as port:
        with pytest.raises(kind):
            await BoxSocket.open(async_get_clientsession(hass), BoxAddress("127.0.0.1", port), None)


async def test_requests_that_fail(hass: HomeAssistant, house: House) -> None:
    """Sounds that are too large, pictures that are none, and boxes that are not there."""
    session = async_get_clientsession(hass)
    box = BoxHTTP(session, BoxAddress("127.0.0.1", house.port), None)
    with pytest.raises(CallError):
        await box.announce(bytes((16 << 20) + 1), {})
    assert await box.picture("0" * 32, None, 100) is None
    nobody = BoxHTTP(session, BoxAddress("127.0.0.1", 1), None)
    assert await nobody.picture("0" * 32, None, None) is None
    with pytest.raises(Unreachable):
        await nobody.announce(b"x", {})
    async with Remote(house) as remote:
        stranger = BoxHTTP(session, BoxAddress("127.0.0.1", remote.port), "x" * 32)
        with pytest.raises(NotPaired):
            await stranger.announce(b"x", {})


async def test_busy_box(hass: HomeAssistant, house: House, aiohttp_client: Any) -> None:
    """Statuses of an announcement without words."""

    async def announce(request: aiohttp.web.Request) -> aiohttp.web.Response:
        return aiohttp.web.Response(status=int(request.query["priority"]), text="no JSON")

    async def artwork(request: aiohttp.web.Request) -> aiohttp.web.Response:
        kind = {"a": "text/html", "b": "image/png"}[request.match_info["name"][0]]
        return aiohttp.web.Response(body=bytes(17 << 20) if kind == "image/png" else b"<p>", content_type=kind)

    app = aiohttp.web.Application()
    app.add_routes([aiohttp.web.post("/announce", announce), aiohttp.web.get("/artwork/{name}", artwork)])
    client = await aiohttp_client(app)
    box = BoxHTTP(async_get_clientsession(hass), BoxAddress("127.0.0.1", client.port), None)
    for status, words in ((429, "have not ended"), (418, "418")):
        with pytest.raises(CallError, match=words):
            await box.announce(b"x", {"priority": status})
    assert await box.picture("a", None, None) is None
    assert await box.picture("b", None, None) is None


def test_signature_in_a_reason() -> None:
    """A long refusal has its reason, and not the signature with which anybody may fetch media of Home Assistant."""
    reason = f"cannot play http://home/media/song.flac?authSig={'x.y-z_' * 60}&a=1: its host is this machine"
    error = failure(CallError.of({"message": reason}))
    assert str(error) == "cannot play http://home/media/song.flac?authSig=…&a=1: its host is this machine"
    assert error.translation_placeholders == {"reason": str(error)}


def test_address() -> None:
    """The addresses of a box with and without TLS."""
    assert str(BoxAddress("box.local").base) == "http://box.local:8088/"
    assert str(BoxAddress("::1", 8443, tls=True).base) == "https://[::1]:8443/"


def test_hosts() -> None:
    """Host names and IP addresses, with and without brackets."""
    hosts = {" box.local ": "box.local", "[::1]": "::1", "fe80::1%eth0": "fe80::1%eth0", "küche": "küche", "192.0.2.1": "192.0.2.1"}
    assert {words: host_of(words) for words in hosts} == hosts
    assert [host_of(words) for words in ("", "box:80", "a/b", "x..y", "x" * 64, "\udcff", "a b", "x" * 300)] == [None] * 8


def test_json_is_strict() -> None:
    """A state goes through JSON as the box writes it."""
    state = State.of(json.loads('{"session":"main","state":"playing","seq":3,"anchor":{"elapsed":1.5,"rate":1,"monotonic":9}}'))
    assert (state.anchor.position(10, None), state.anchor.position(10, 2), state.is_moving) == (2.5, 2, False)
