"""Setup: by address, by discovery, with a code; pairing again, another address, options."""

from __future__ import annotations

from ipaddress import ip_address
import subprocess
from typing import Any

from conftest import DOMAIN, eventually, shows
from custom_components.nowplayingd.client import BoxAddress, BoxSocket
from homeassistant.components.zeroconf import ZeroconfServiceInfo
from homeassistant.config_entries import ConfigEntryState
from homeassistant.core import HomeAssistant
from homeassistant.data_entry_flow import FlowResultType
from homeassistant.helpers.aiohttp_client import async_get_clientsession
from house import House
import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry
from remote import Remote, fake_box

ADDRESS = {"host": "127.0.0.1", "tls": False, "verify_ssl": True}


async def begin(hass: HomeAssistant, source: str = "user", data: Any = None, **context: Any) -> Any:
    """Begin a flow."""
    return await hass.config_entries.flow.async_init(DOMAIN, context={"source": source, **context}, data=data)


async def answer(hass: HomeAssistant, flow: Any, **data: Any) -> Any:
    """Answer a form."""
    found = await hass.config_entries.flow.async_configure(flow["flow_id"], data)
    await hass.async_block_till_done()
    return found


async def unload(hass: HomeAssistant) -> None:
    """Unload all boxes."""
    for entry in hass.config_entries.async_entries(DOMAIN):
        if entry.state is ConfigEntryState.LOADED:
            await hass.config_entries.async_unload(entry.entry_id)


def announced(port: int, **facts: str) -> ZeroconfServiceInfo:
    """Return the announcement of a box."""
    found = ip_address("127.0.0.1")
    return ZeroconfServiceInfo(
        ip_address=found,
        ip_addresses=[found],
        port=port,
        hostname="kitchen.local.",
        type="_nowplayingd._tcp.local.",
        name="Kitchen._nowplayingd._tcp.local.",
        properties={"name": "Kitchen", "version": "0.2.0", **facts},
    )


async def id_of(hass: HomeAssistant, house: House) -> str:
    """Return the lasting id of a box."""
    socket = await BoxSocket.open(async_get_clientsession(hass), BoxAddress("127.0.0.1", house.port), None)
    reading = hass.async_create_task(socket.run(lambda *_: None))
    found = (await socket.call("hello", {"client": "test"}))["id"]
    await socket.close()
    await reading
    return str(found)


async def test_user_of_this_machine(hass: HomeAssistant, house: House) -> None:
    """A box on the same machine knows its own user, and needs no code."""
    flow = await begin(hass)
    assert (flow["type"], flow["step_id"], flow["errors"]) == (FlowResultType.FORM, "user", {})
    made = await answer(hass, flow, port=house.port, **ADDRESS)
    assert made["type"] is FlowResultType.CREATE_ENTRY and made["title"] == "127.0.0.1"
    assert made["data"] == {"port": house.port, "path": "/", **ADDRESS}
    # The same address again.
    again = await answer(hass, await begin(hass), port=house.port, **ADDRESS)
    assert (again["type"], again["reason"]) == (FlowResultType.ABORT, "already_configured")
    await unload(hass)


async def test_code(hass: HomeAssistant, house: House) -> None:
    """A box in the network wants a code; a wrong one is refused, and the next one is taken."""
    async with Remote(house) as remote:
        flow = await answer(hass, await begin(hass), port=remote.port, **ADDRESS)
        assert (flow["type"], flow["step_id"]) == (FlowResultType.FORM, "pair")
        code = house.code()
        flow = await answer(hass, flow, code="00000000" if code != "00000000" else "11111111")
        assert flow["errors"] == {"base": "invalid_code"}
        made = await answer(hass, flow, code=f"{code[:4]} {code[4:]}")
        assert made["type"] is FlowResultType.CREATE_ENTRY
        devices = house.call("devices.list")["devices"]
        assert [(one["name"], one["role"]) for one in devices] == [("Home Assistant (test home)", "control")]
        await shows(hass, "media_player.127_0_0_1", state="idle")
        await unload(hass)


async def test_errors_and_recovery(hass: HomeAssistant, house: House) -> None:
    """Each failure has words of its own, and the form takes another address."""
    flow = await begin(hass)
    async with fake_box(status=421) as wrong_name, fake_box(status=404) as other, fake_box(status=503) as absent:
        for port, error in ((wrong_name, "wrong_name"), (other, "not_a_box"), (absent, "cannot_connect"), (1, "cannot_connect")):
            flow = await answer(hass, flow, port=port, **ADDRESS)
            assert flow["errors"] == {"base": error}, error
    for host in ("http://127.0.0.1", "box:8088", "a b", "", " ", "ä" * 70, "x..y", "user@box"):
        flow = await answer(hass, flow, port=house.port, **{**ADDRESS, "host": host})
        assert flow["errors"] == {"host": "invalid_host"}, host
    made = await answer(hass, flow, port=house.port, **{**ADDRESS, "host": " 127.0.0.1 "})
    assert made["type"] is FlowResultType.CREATE_ENTRY
    await unload(hass)


async def test_newer_protocol(hass: HomeAssistant, house: House) -> None:
    """A box of a later protocol is not added."""
    async with fake_box(hello={"server": "nowplayingd", "protocol": 2, "role": "control"}) as port:
        flow = await answer(hass, await begin(hass), port=port, **ADDRESS)
    assert (flow["type"], flow["reason"]) == (FlowResultType.ABORT, "newer_protocol")


async def test_another_program(hass: HomeAssistant, house: House) -> None:
    """A WebSocket with another greeting is no box."""
    async with fake_box(hello={"server": "nowplaying-library", "protocol": 1}) as port:
        flow = await answer(hass, await begin(hass), port=port, **ADDRESS)
    assert flow["errors"] == {"base": "not_a_box"}


async def test_discovery(hass: HomeAssistant, house: House) -> None:
    """A box that announces itself is added with its id. Without a token it proves nothing, so its owner confirms another address."""
    box_id = await id_of(hass, house)
    flow = await begin(hass, "zeroconf", announced(house.port, id=box_id))
    assert (flow["type"], flow["step_id"]) == (FlowResultType.FORM, "confirm")
    assert flow["description_placeholders"] == {"name": "Kitchen", "host": "127.0.0.1"}
    made = await answer(hass, flow)
    assert made["type"] is FlowResultType.CREATE_ENTRY and made["title"] == "Kitchen"
    entry = hass.config_entries.async_entries(DOMAIN)[0]
    assert entry.unique_id == box_id
    async with Remote(house) as moved:
        # While it is there, it does not have to be followed.
        flow = await begin(hass, "zeroconf", announced(moved.port, id=box_id))
        assert (flow["type"], flow["reason"]) == (FlowResultType.ABORT, "already_configured")
        await unload(hass)
        flow = await begin(hass, "zeroconf", announced(moved.port, id=box_id))
        assert (flow["type"], flow["step_id"]) == (FlowResultType.FORM, "move")
        assert entry.data["port"] == house.port
        # Remote callers of this box need a code.
        flow = await answer(hass, flow)
        assert flow["step_id"] == "pair"
        done = await answer(hass, flow, code=house.code())
        assert (done["type"], done["reason"]) == (FlowResultType.ABORT, "reconfigure_successful")
        assert entry.data["port"] == moved.port and entry.data["confirmed"]
        await unload(hass)


async def test_box_that_was_off_at_the_start(hass: HomeAssistant, own_house: House) -> None:
    """A box that was off when Home Assistant started is set up as soon as it announces itself."""
    box_id = await id_of(hass, own_house)
    own_house.end("nowplaying-web")
    entry = MockConfigEntry(domain=DOMAIN, unique_id=box_id, data={**ADDRESS, "port": own_house.port})
    entry.add_to_hass(hass)
    assert not await hass.config_entries.async_setup(entry.entry_id)
    assert entry.state is ConfigEntryState.SETUP_RETRY
    await hass.async_add_executor_job(own_house.begin_web)
    flow = await begin(hass, "zeroconf", announced(own_house.port, id=box_id))
    assert (flow["type"], flow["reason"]) == (FlowResultType.ABORT, "already_configured")
    await hass.async_block_till_done()
    assert entry.state is ConfigEntryState.LOADED
    await unload(hass)


async def test_discovery_without_id(hass: HomeAssistant, house: House) -> None:
    """A box without an id is known by its address; one that does not answer can be tried again."""
    flow = await begin(hass, "zeroconf", announced(1))
    flow = await answer(hass, flow)
    assert flow["errors"] == {"base": "cannot_connect"}
    MockConfigEntry(domain=DOMAIN, data={**ADDRESS, "port": house.port}).add_to_hass(hass)
    flow = await begin(hass, "zeroconf", announced(house.port))
    assert (flow["type"], flow["reason"]) == (FlowResultType.ABORT, "already_configured")
    flow = await begin(hass, "zeroconf", announced(house.port, id="box-1"))
    assert (flow["type"], flow["reason"]) == (FlowResultType.ABORT, "already_configured")
    assert hass.config_entries.async_entries(DOMAIN)[0].unique_id == "box-1"


async def test_revoked_token(hass: HomeAssistant, house: House) -> None:
    """A revoked device asks for pairing again, and works with the new token."""
    async with Remote(house) as remote:
        flow = await answer(hass, await begin(hass), port=remote.port, **ADDRESS)
        await answer(hass, flow, code=house.code())
        entry = hass.config_entries.async_entries(DOMAIN)[0]
        await shows(hass, "media_player.127_0_0_1", state="idle")
        before = entry.data["token"]
        house.call("devices.revoke", id=house.call("devices.list")["devices"][0]["id"])
        flows = await eventually(lambda: hass.config_entries.flow.async_progress(), "the question for a code")
        assert [(one["context"]["source"], one["step_id"]) for one in flows] == [("reauth", "pair")]
        await shows(hass, "media_player.127_0_0_1", state="unavailable")
        done = await answer(hass, flows[0], code=house.code())
        assert (done["type"], done["reason"]) == (FlowResultType.ABORT, "reauth_successful")
        assert entry.data["token"] != before
        await shows(hass, "media_player.127_0_0_1", state="idle")
        await unload(hass)
    assert len(house.call("devices.list")["devices"]) == 1


async def test_token_that_was_never_known(hass: HomeAssistant, house: House) -> None:
    """An entry with a wrong token asks for pairing at its setup."""
    async with Remote(house) as remote:
        entry = MockConfigEntry(domain=DOMAIN, data={**ADDRESS, "port": remote.port, "token": "x" * 32})
        entry.add_to_hass(hass)
        assert not await hass.config_entries.async_setup(entry.entry_id)
        assert entry.state is ConfigEntryState.SETUP_ERROR
        assert [one["context"]["source"] for one in hass.config_entries.flow.async_progress()] == ["reauth"]


async def test_other_address(hass: HomeAssistant, house: House, add) -> None:
    """The address of a box can be changed; an address without a box changes nothing."""
    entry = await add(house)
    async with Remote(house) as remote:
        flow = await begin(hass, "reconfigure", entry_id=entry.entry_id)
        assert (flow["type"], flow["step_id"]) == (FlowResultType.FORM, "reconfigure")
        flow = await answer(hass, flow, port=1, **ADDRESS)
        assert flow["errors"] == {"base": "cannot_connect"} and entry.data["port"] == house.port
        flow = await answer(hass, flow, port=remote.port, **ADDRESS)
        assert flow["step_id"] == "pair"
        done = await answer(hass, flow, code=house.code())
        assert (done["type"], done["reason"]) == (FlowResultType.ABORT, "reconfigure_successful")
        assert entry.data["port"] == remote.port and entry.data["token"]
        await shows(hass, state="idle")
        await unload(hass)


async def test_another_box_at_the_address(hass: HomeAssistant, house: House) -> None:
    """An entry stays with its box."""
    entry = MockConfigEntry(domain=DOMAIN, unique_id="box-1", data={**ADDRESS, "port": house.port})
    entry.add_to_hass(hass)
    async with fake_box(hello={"server": "nowplayingd", "protocol": 1, "role": "control", "id": "box-2"}) as port:
        flow = await answer(hass, await begin(hass, "reconfigure", entry_id=entry.entry_id), port=port, **ADDRESS)
        assert (flow["type"], flow["reason"]) == (FlowResultType.ABORT, "wrong_box")
        made = await answer(hass, await begin(hass), port=port, **ADDRESS)
        assert made["type"] is FlowResultType.CREATE_ENTRY and made["result"].unique_id == "box-2"
        await unload(hass)


async def test_look_only(hass: HomeAssistant, house: House) -> None:
    """A box that all may look at wants a code all the same."""
    async with fake_box(hello={"server": "nowplayingd", "protocol": 1, "role": "read"}) as port:
        flow = await answer(hass, await begin(hass), port=port, **ADDRESS)
        assert flow["step_id"] == "pair"


async def test_certificate(hass: HomeAssistant, own_house: House) -> None:
    """A box with TLS and a certificate of its own is refused, unless the certificate is not to be verified."""
    files = {name: own_house.folder / f"box.{name}" for name in ("crt", "key")}
    words = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=127.0.0.1"]
    names = ["-addext", "subjectAltName=IP:127.0.0.1", "-out", str(files["crt"]), "-keyout", str(files["key"])]

    def restart() -> None:
        subprocess.run([*words, *names], check=True, capture_output=True)
        own_house.end("nowplaying-web")
        own_house.begin_web(f"certificate = {files['crt']}\nkey = {files['key']}\n")

    await hass.async_add_executor_job(restart)
    data = {"host": "127.0.0.1", "port": own_house.port}
    flow = await answer(hass, await begin(hass), tls=True, verify_ssl=True, **data)
    assert flow["errors"] == {"base": "bad_certificate"}
    flow = await answer(hass, flow, tls=False, verify_ssl=True, **data)
    assert flow["errors"] == {"base": "cannot_connect"}
    made = await answer(hass, flow, tls=True, verify_ssl=False, **data)
    assert made["type"] is FlowResultType.CREATE_ENTRY
    await shows(hass, "media_player.127_0_0_1", state="idle")
    own_house.call("play")
    state = await shows(hass, "media_player.127_0_0_1", state="playing", media_title="First 1")
    await eventually(lambda: hass.states.get("media_player.127_0_0_1").attributes.get("entity_picture"), "a picture")
    player = hass.data["media_player"].get_entity(state.entity_id)
    content, kind = await player.async_get_media_image()
    assert kind == "image/png" and content
    await unload(hass)


async def test_options(hass: HomeAssistant, house: House, entry) -> None:
    """The options are kept."""
    flow = await hass.config_entries.options.async_init(entry.entry_id)
    assert flow["step_id"] == "init"
    done = await hass.config_entries.options.async_configure(
        flow["flow_id"], {"policy": "pause_spoken", "duck_to": -20, "media_sources": False}
    )
    assert done["type"] is FlowResultType.CREATE_ENTRY
    assert entry.options == {"policy": "pause_spoken", "duck_to": -20, "media_sources": False}


@pytest.mark.parametrize("answer_to_pair", [{}, {"token": 3, "id": "x"}, []])
async def test_strange_answers_to_a_code(hass: HomeAssistant, house: House, answer_to_pair: Any) -> None:
    """An answer without a token is no pairing."""
    async with fake_box(status=401, pair=answer_to_pair) as port:
        flow = await answer(hass, await begin(hass), port=port, **ADDRESS)
        flow = await answer(hass, flow, code="12345678")
        assert flow["errors"] == {"base": "not_a_box"}
