"""A box and a Home Assistant on two hosts, in networks of their own, which test_network makes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
import os
import pathlib
import subprocess
import time
from typing import Any

from conftest import DOMAIN, act, allow_sockets, eventually, shown, shows
from homeassistant.config_entries import ConfigEntryState
from homeassistant.const import EVENT_HOMEASSISTANT_START
from homeassistant.core import HomeAssistant
from homeassistant.data_entry_flow import FlowResultType
from homeassistant.setup import async_setup_component
from homeassistant.util import slugify
from house import House, sound, until
import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry
import pytest_socket
from test_outages import RETURN

# The box refuses media at addresses that are for documents alone.
HOME, BOX = "192.168.126.8", "192.168.126.7"
AVAHI = """[server]
use-ipv6=no
allow-interfaces=lan1
host-name=box
enable-dbus=yes
"""


def run(*words: str) -> None:
    """Run a command."""
    subprocess.run(words, check=True)


@pytest.fixture
def place() -> Iterator[list[str]]:
    """The words before a command that have it run on the host of the box. A cable connects this one with the present host."""
    host = subprocess.Popen(["unshare", "--net", "sleep", "infinity"])
    space = f"/proc/{host.pid}/ns/net"
    until(lambda: os.readlink(space) != os.readlink("/proc/self/ns/net"), "the host of the box")
    words = ["nsenter", f"--net={space}"]
    run("ip", "link", "add", "lan0", "type", "veth", "peer", "name", "lan1", "netns", str(host.pid))
    for side, address, before in (("lan0", HOME, []), ("lan1", BOX, words)):
        run(*before, "ip", "link", "set", "lo", "up")
        run(*before, "ip", "addr", "add", f"{address}/24", "dev", side)
        run(*before, "ip", "link", "set", side, "up", "multicast", "on")
        run(*before, "ip", "route", "add", "default", "dev", side)
    yield words
    host.kill()
    host.wait()
    # The kernel takes a network apart a little after its last process.
    until(lambda: not has_cable(), "the end of the cable")


def has_cable() -> bool:
    """Return True if this host has an end of the cable."""
    return "lan0" in subprocess.run(["ip", "-br", "link"], capture_output=True, check=True).stdout.decode()


@pytest.fixture
def avahi(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, place: list[str]) -> Iterator[None]:
    """An Avahi on the host of the box."""
    # Avahi has one folder on a machine; this one is of our mounts alone.
    pathlib.Path("/run/avahi-daemon").mkdir(exist_ok=True)
    run("mount", "-t", "tmpfs", "tmpfs", "/run/avahi-daemon")
    bus, settings = tmp_path / "bus", tmp_path / "avahi.conf"
    settings.write_text(AVAHI)
    monkeypatch.setenv("DBUS_SYSTEM_BUS_ADDRESS", f"unix:path={bus}")
    log = open(tmp_path / "avahi.log", "wb")

    def start(*words: str) -> subprocess.Popen[bytes]:
        return subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    processes = [start("dbus-daemon", "--session", f"--address=unix:path={bus}", "--nofork", "--nopidfile")]
    until(bus.exists, "the bus")
    words = ("-f", str(settings), "--no-drop-root", "--no-chroot", "--no-rlimits")
    processes.append(start(*place, "/usr/sbin/avahi-daemon", *words))
    yield
    for process in reversed(processes):
        process.kill()
        process.wait()
    log.close()


@pytest.fixture
def far_house(
    request: pytest.FixtureRequest, tmp_path: pathlib.Path, music: pathlib.Path, place: list[str]
) -> Iterator[House]:
    """A box on the other host."""
    allow_sockets()
    pytest_socket.socket_allow_hosts(["127.0.0.1", HOME, BOX], allow_unix_socket=True)
    house = House(request.config.getoption("--programs"), tmp_path / "box", music, place=place)
    house.fresh()
    yield house
    house.close()


async def pair(hass: HomeAssistant, house: House) -> MockConfigEntry:
    """Add the box by its address and a code."""
    flow: Any = await hass.config_entries.flow.async_init(DOMAIN, context={"source": "user"})
    address = {"host": BOX, "port": house.port, "tls": False, "verify_ssl": True}
    flow = await hass.config_entries.flow.async_configure(flow["flow_id"], address)
    assert flow["step_id"] == "pair"
    flow = await hass.config_entries.flow.async_configure(flow["flow_id"], {"code": house.code()})
    assert flow["type"] is FlowResultType.CREATE_ENTRY
    await hass.async_block_till_done()
    return hass.config_entries.async_entries(DOMAIN)[0]


async def test_found(hass: HomeAssistant, avahi: None, far_house: House) -> None:
    """Home Assistant finds the box, adds it with a code, and follows it to another port and path without a person."""
    house = far_house
    assert await async_setup_component(hass, "zeroconf", {})
    found = await eventually(lambda: hass.config_entries.flow.async_progress(), "the box", 20)
    assert [(one["handler"], one["context"]["source"], one["step_id"]) for one in found] == [(DOMAIN, "zeroconf", "confirm")]
    name = found[0]["context"]["title_placeholders"]["name"]
    flow: Any = await hass.config_entries.flow.async_configure(found[0]["flow_id"], {})
    assert (flow["step_id"], flow["errors"]) == ("pair", {})
    flow = await hass.config_entries.flow.async_configure(flow["flow_id"], {"code": house.code()})
    assert flow["type"] is FlowResultType.CREATE_ENTRY
    assert (flow["title"], flow["data"]["host"], flow["data"]["port"]) == (name, BOX, house.port)
    await hass.async_block_till_done()
    entry = hass.config_entries.async_entries(DOMAIN)[0]
    player = f"media_player.{slugify(name)}"
    house.call("play")
    await shows(hass, player, "playing", media_title="First 1")
    assert entry.unique_id == entry.runtime_data.hello.id and not hass.config_entries.flow.async_progress()

    before = house.port
    house.end("nowplaying-web")
    await shows(hass, player, "unavailable")
    house.port = 0
    await hass.async_add_executor_job(house.begin_web)
    assert house.port != before
    await eventually(lambda: entry.data["port"] == house.port, "the new port", 20)
    await shows(hass, player, "playing", media_title="First 1")

    house.end("nowplaying-web")
    await shows(hass, player, "unavailable")
    await hass.async_add_executor_job(house.begin_web, "base-path = /music\n")
    await eventually(lambda: entry.data["path"] == "/music/", "the new path", 20)
    await shows(hass, player, "playing", media_title="First 1")
    assert len(hass.config_entries.async_entries(DOMAIN)) == 1
    await eventually(lambda: entry.state is ConfigEntryState.LOADED, "the end of the setup")
    await hass.config_entries.async_unload(entry.entry_id)


async def test_cable(
    hass: HomeAssistant, far_house: House, place: list[str], record_property: Callable[[str, str], None]
) -> None:
    """The cable is pulled: no packet says so. The player becomes unavailable, and is back within 2 s of the return."""
    entry = await pair(hass, far_house)
    player = f"media_player.{slugify(BOX)}"
    await shows(hass, player, "idle")
    await hass.async_add_executor_job(run, *place, "ip", "link", "set", "lan1", "down")
    begun = time.monotonic()
    await eventually(lambda: shown(hass, player).state == "unavailable", "the loss", 30)
    noticed = time.monotonic() - begun
    # For so long attempts find nothing.
    await asyncio.sleep(4)
    await hass.async_add_executor_job(run, *place, "ip", "link", "set", "lan1", "up")
    begun, waits = time.monotonic(), far_house.waits()
    await eventually(lambda: shown(hass, player).state == "idle", "the player", 30)
    back = time.monotonic() - begun
    record_property("figures", f"a pulled cable: noticed after {noticed:.2f} s, back {back:.2f} s after its return")
    assert back - waits.seconds() <= RETURN
    await hass.config_entries.async_unload(entry.entry_id)


async def test_media_of_home_assistant(hass: HomeAssistant, far_house: House, tmp_path: pathlib.Path) -> None:
    """The box plays and announces media of Home Assistant, which it fetches from there."""
    sound(tmp_path / "bell.wav", 0.3)
    sound(tmp_path / "song.wav", 20)
    hass.config.media_dirs = {"local": str(tmp_path)}
    hass.config.internal_url = f"http://{HOME}:18123"
    assert await async_setup_component(hass, "http", {"http": {"server_host": HOME, "server_port": 18123}})
    assert await async_setup_component(hass, "media_source", {})
    hass.bus.async_fire(EVENT_HOMEASSISTANT_START)
    await hass.async_block_till_done()
    entry = await pair(hass, far_house)
    player = f"media_player.{slugify(BOX)}"
    source = "media-source://media_source/local/"
    await act(hass, "play_media", player, media_content_id=f"{source}song.wav", media_content_type="audio/wav")
    state = await shows(hass, player, "playing", queue_size=1)
    assert state.attributes["media_duration"] == 20
    found = await act(hass, "announce", player, DOMAIN, media_id=f"{source}bell.wav", response=True)
    assert found[player] == {"played": pytest.approx(0.3, abs=0.1), "cut": False}
    assert shown(hass, player).state == "playing"
    await hass.config_entries.async_unload(entry.entry_id)
