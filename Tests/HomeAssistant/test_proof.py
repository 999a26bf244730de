"""Proofs between Home Assistant and a box, and machines in between that want the token or the connection."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
import contextlib
import json
from typing import Any

import aiohttp
from aiohttp import web
from aiohttp.test_utils import unused_port
from conftest import DOMAIN, act, eventually, shows
from custom_components.nowplayingd.client import (
    Access,
    BadProof,
    BoxAddress,
    BoxHTTP,
    BoxSocket,
    NotItsAddress,
    NotPaired,
    TooOld,
    Unreachable,
)
from custom_components.nowplayingd.client.access import Way
from custom_components.nowplayingd.client.proof import Proof, Road
from homeassistant.config_entries import ConfigEntryState
from homeassistant.core import HomeAssistant
from homeassistant.data_entry_flow import FlowResultType
from homeassistant.helpers.aiohttp_client import async_get_clientsession
from house import House, sound
import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry
from remote import Remote
from test_flow import ADDRESS, announced, answer, begin, id_of, unload


class Relay(Remote):
    """A machine in between that passes all bytes on as they are, and keeps those of Home Assistant."""

    def __init__(self, house: House) -> None:
        super().__init__(house)
        self.heard = bytearray()

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there, back = await asyncio.open_connection("127.0.0.1", self._house.port)
        self._writers |= {writer, back}

        async def forward() -> None:
            while data := await reader.read(1 << 16):
                self.heard += data
                back.write(data)
            back.close()

        await asyncio.gather(forward(), self._pump(there, writer), return_exceptions=True)
        for one in (writer, back):
            one.close()
        self._writers -= {writer, back}

    def has_heard(self, token: str) -> bool:
        """Return True if the token, or a header that would have it, came by."""
        return token.encode() in self.heard or b"bearer" in self.heard.lower()


@contextlib.asynccontextmanager
async def liar(house: House, change: Callable[[dict[str, Any]], None], seen: list[str]) -> AsyncIterator[int]:
    """A machine in between that changes claims on their way to the box, and passes all other requests on."""

    async def any_path(request: web.Request) -> web.StreamResponse:
        seen.append(f"{request.method} {request.path} {request.headers.get('Authorization', '')}")
        body = await request.read()
        if request.path == "/prove":
            claim = json.loads(body)
            change(claim)
            body = json.dumps(claim).encode()
        url = f"http://127.0.0.1:{house.port}{request.path}"
        headers = {"Content-Type": request.content_type}
        async with aiohttp.ClientSession() as session, session.request(request.method, url, data=body, headers=headers) as found:
            return web.Response(status=found.status, body=await found.read())

    app = web.Application()
    app.add_routes([web.route("*", "/{path:.*}", any_path)])
    runner = web.AppRunner(app)
    await runner.setup()
    port = unused_port()
    await web.TCPSite(runner, "127.0.0.1", port).start()
    yield port
    await runner.cleanup()


async def pair(hass: HomeAssistant, house: House) -> str:
    """Pair with the box at its own address, and return the token."""
    box = BoxHTTP(async_get_clientsession(hass), BoxAddress("127.0.0.1", house.port), None)
    return (await box.pair(house.code(), "test")).token


async def paired_entry(hass: HomeAssistant, house: House, port: int | None = None, **more: Any) -> MockConfigEntry:
    """Return a box that was paired, as an earlier version has kept it: without more than its address and its token."""
    data = {**ADDRESS, "port": port or house.port, "token": await pair(hass, house), **more}
    entry = MockConfigEntry(domain=DOMAIN, title="Kitchen", unique_id=await id_of(hass, house), data=data)
    entry.add_to_hass(hass)
    await hass.config_entries.async_setup(entry.entry_id)
    await hass.async_block_till_done()
    return entry


async def test_relay_that_is_announced(hass: HomeAssistant, house: House) -> None:
    """A relay announces itself with the id of the box: it gets neither the token nor the connection."""
    entry = await paired_entry(hass, house)
    assert entry.state is ConfigEntryState.LOADED
    async with Relay(house) as relay:
        flow = await begin(hass, "zeroconf", announced(relay.port, id=entry.unique_id))
        # The box does not answer for the address of the relay, so the owner is asked.
        assert (flow["type"], flow["step_id"]) == (FlowResultType.FORM, "move")
        assert flow["description_placeholders"] == {"name": "Kitchen", "address": f"http://127.0.0.1:{relay.port}/"}
        assert entry.data["port"] == house.port
        assert b"POST /prove" in relay.heard and b"rpc" not in relay.heard
        assert not relay.has_heard(entry.data["token"])
        await shows(hass, state="idle")

        # The owner says that the machine in between is theirs. Even then the token stays.
        done = await answer(hass, flow)
        assert (done["type"], done["reason"]) == (FlowResultType.ABORT, "reconfigure_successful")
        assert entry.data["port"] == relay.port and entry.data["confirmed"] is True
        await shows(hass, state="idle")
        assert b"GET /rpc" in relay.heard and not relay.has_heard(entry.data["token"])
        await unload(hass)


@pytest.mark.parametrize("more", [{}, {"confirmed": True}])
async def test_box_that_moves(hass: HomeAssistant, own_house: House, more: dict[str, bool]) -> None:
    """A box proves that another address is its own, and is followed without a question. The owner's word does not move along."""
    entry = await paired_entry(hass, own_house, **more)
    own_house.end("nowplaying-web")
    await shows(hass, state="unavailable")
    before, own_house.port = own_house.port, 0
    await hass.async_add_executor_job(own_house.begin_web)
    assert own_house.port != before
    flow = await begin(hass, "zeroconf", announced(own_house.port, id=entry.unique_id))
    assert (flow["type"], flow["reason"]) == (FlowResultType.ABORT, "already_configured")
    await hass.async_block_till_done()
    assert entry.data["port"] == own_house.port and not entry.data.get("confirmed")
    await shows(hass, state="idle")
    await unload(hass)


@pytest.mark.parametrize(
    "change",
    [
        lambda claim, own: claim.update(address=own),
        lambda claim, own: claim.update(address=own, way="own"),
        lambda claim, own: claim.update(way="confirmed"),
        lambda claim, own: claim.update(address=own, sent="A" * 43),
    ],
)
async def test_relay_that_lies(hass: HomeAssistant, house: House, change: Callable[[dict[str, Any], str], None]) -> None:
    """A relay changes the claim, so that the box answers: Home Assistant sees that the answer is for another claim."""
    entry = await paired_entry(hass, house)
    seen: list[str] = []
    own = f"127.0.0.1:{house.port}"
    async with liar(house, lambda claim: change(claim, own), seen) as port:
        flow = await begin(hass, "zeroconf", announced(port, id=entry.unique_id))
        assert (flow["type"], flow["reason"]) == (FlowResultType.ABORT, "not_proven")
        assert entry.data["port"] == house.port and seen == ["POST /prove "]
    await unload(hass)


async def test_address_that_another_machine_has_taken(hass: HomeAssistant, house: House) -> None:
    """The address of a known box leads to a relay now: no connection, and a question to the owner."""
    async with Relay(house) as relay:
        entry = await paired_entry(hass, house, relay.port)
        assert entry.state is ConfigEntryState.SETUP_RETRY
        flows = await eventually(lambda: hass.config_entries.flow.async_progress(), "the question")
        assert [(one["context"]["source"], one["step_id"]) for one in flows] == [("reauth", "move")]
        assert b"rpc" not in relay.heard and not relay.has_heard(entry.data["token"])
        done = await answer(hass, flows[0])
        assert (done["type"], done["reason"]) == (FlowResultType.ABORT, "reauth_successful")
        await shows(hass, state="idle")
        assert entry.data["confirmed"] is True and not relay.has_heard(entry.data["token"])
        await unload(hass)


async def test_reconfiguration_by_hand(hass: HomeAssistant, house: House) -> None:
    """An address that a person types is confirmed by that person if the box does not know it; its own one is not asked for."""
    entry = await paired_entry(hass, house)
    async with Relay(house) as relay:
        flow = await begin(hass, "reconfigure", entry_id=entry.entry_id)
        flow = await answer(hass, flow, port=relay.port, **ADDRESS)
        assert flow["step_id"] == "move" and entry.data["port"] == house.port
        done = await answer(hass, flow)
        assert done["reason"] == "reconfigure_successful" and entry.data["confirmed"] is True
        flow = await begin(hass, "reconfigure", entry_id=entry.entry_id)
        done = await answer(hass, flow, port=house.port, **ADDRESS)
        assert done["reason"] == "reconfigure_successful"
        assert entry.data["port"] == house.port and "confirmed" not in entry.data
        assert not relay.has_heard(entry.data["token"])
    await shows(hass, state="idle")
    await unload(hass)


async def test_other_requests(hass: HomeAssistant, house: House, tmp_path) -> None:
    """Announcements and pictures carry proofs, too."""
    sound(tmp_path / "bell.wav", 0.2)
    async with Relay(house) as relay:
        token = await pair(hass, house)
        address = BoxAddress("127.0.0.1", relay.port, confirmed=True)
        session = async_get_clientsession(hass)
        box = BoxHTTP(session, address, token)
        await box.announce((tmp_path / "bell.wav").read_bytes(), {})
        house.call("play")
        artwork = await eventually(lambda: house.state()["item"].get("artwork"), "a picture")
        picture = await box.picture(artwork[0]["id"], None, 64)
        assert picture is not None and picture.type == "image/png"
        assert relay.heard.count(b"POST /prove") == 2 and not relay.has_heard(token)
        # Without the owner's word there is nothing.
        other = BoxHTTP(session, BoxAddress("127.0.0.1", relay.port), token)
        assert await other.picture(artwork[0]["id"], None, 64) is None
        with pytest.raises(NotItsAddress):
            await other.announce(b"x", {})


async def test_proof_is_good_once(hass: HomeAssistant, house: House) -> None:
    """A proof that was overheard is of no use: neither again, nor for another request, nor at another address."""
    token = await pair(hass, house)
    session = async_get_clientsession(hass)
    access = Access(session, BoxAddress("127.0.0.1", house.port), token)
    call = {"jsonrpc": "2.0", "id": 1, "method": "devices.list"}

    async def status(way: Way, host: str) -> int:
        url = way.base.with_host(host) / "rpc"
        async with session.post(url, json=call, headers={"Authorization": way.headers["Authorization"]}) as found:
            return found.status

    way = await access.way()
    # The box has other addresses, too, and knows at which one a connection has arrived.
    assert [await status(way, host) for host in ("127.0.0.2", "127.0.0.1", "127.0.0.1")] == [409, 200, 409]
    words = way.headers["Authorization"]
    for wrong in (words[:-1], words[:-2] + ("AA" if not words.endswith("AA") else "BB"), words + ",x=y", "Proof x", "Proof"):
        async with session.post(way.base / "rpc", json=call, headers={"Authorization": wrong}) as found:
            assert found.status in (401, 409), wrong


async def test_boxes_that_prove_nothing(hass: HomeAssistant, house: House) -> None:
    """An older box, another program and a silent one get no token: there is no way back to it."""
    token = await pair(hass, house)
    session = async_get_clientsession(hass)
    seen: list[str] = []
    answers: list[web.Response] = []

    async def any_path(request: web.Request) -> web.StreamResponse:
        seen.append(f"{request.path} {dict(request.headers)} {(await request.read()).decode()}")
        return answers.pop()

    app = web.Application()
    app.add_routes([web.route("*", "/{path:.*}", any_path)])
    runner = web.AppRunner(app)
    await runner.setup()
    port = unused_port()
    await web.TCPSite(runner, "127.0.0.1", port).start()
    address = BoxAddress("127.0.0.1", port)
    proof = {"nonce": "A" * 54, "role": "control", "proof": "A" * 43}
    for made, error in (
        (web.Response(status=404), TooOld),
        (web.Response(status=405), TooOld),
        (web.Response(status=401), NotPaired),
        (web.Response(status=503), Unreachable),
        (web.json_response(proof), BadProof),
        (web.json_response({**proof, "nonce": "a\nb"}), BadProof),
        (web.json_response({**proof, "role": "admin"}), BadProof),
        (web.json_response({**proof, "proof": "A"}), BadProof),
        (web.json_response([]), BadProof),
        (web.Response(body=b"[" * 4000), BadProof),
    ):
        answers.append(made)
        with pytest.raises(error):
            await BoxSocket.open(session, address, token)
    # The owner's word for an address is no word for the box.
    answers.append(web.json_response(proof))
    with pytest.raises(BadProof):
        await BoxSocket.open(session, BoxAddress("127.0.0.1", port, confirmed=True), token)
    assert len(seen) == 11 and not any(token in one or "uthorization" in one for one in seen)
    await runner.cleanup()


async def test_old_box(hass: HomeAssistant, own_house: House) -> None:
    """The entry of a box that is too old waits, and works as soon as the box is updated."""
    own_house.end("nowplaying-web")
    app = web.Application()
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", own_house.port).start()
    entry = MockConfigEntry(domain=DOMAIN, title="Kitchen", data={**ADDRESS, "port": own_house.port, "token": "A" * 43})
    entry.add_to_hass(hass)
    assert not await hass.config_entries.async_setup(entry.entry_id)
    assert entry.state is ConfigEntryState.SETUP_RETRY and "update nowplaying-web" in (entry.reason or "")
    flow = await begin(hass, "reconfigure", entry_id=entry.entry_id)
    flow = await answer(hass, flow, port=own_house.port, **ADDRESS)
    assert flow["errors"] == {"base": "too_old"}
    await runner.cleanup()
    await hass.async_add_executor_job(own_house.begin_web)
    token = await pair(hass, own_house)
    hass.config_entries.async_update_entry(entry, data={**entry.data, "token": token})
    assert await hass.config_entries.async_reload(entry.entry_id)
    await act(hass, "media_play")
    await shows(hass, state="playing")
    await unload(hass)


def test_proof_of_a_damaged_token() -> None:
    """A token that no box has made ends in a new pairing."""
    for token in ("", "x" * 32, "é" * 43, "A" * 42 + "B", "A" * 44):
        with pytest.raises(NotPaired):
            Proof(token, "127.0.0.1:8088", Road.OWN)
