"""A box that Avahi announces, and a Home Assistant that finds it: a test for a network of its own, which test_network makes."""

from __future__ import annotations

from collections.abc import Iterator
import pathlib
import subprocess
from typing import Any

from conftest import DOMAIN, allow_sockets, eventually, shows
from homeassistant.config_entries import ConfigEntryState
from homeassistant.core import HomeAssistant
from homeassistant.data_entry_flow import FlowResultType
from homeassistant.setup import async_setup_component
from homeassistant.util import slugify
from house import House, until
import pytest
import pytest_socket

ADDRESS = "192.0.2.7"
AVAHI = f"""[server]
use-ipv6=no
allow-interfaces=lan0
host-name=box
enable-dbus=yes
"""


@pytest.fixture
def network(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A network with an Avahi."""
    for line in (
        "link set lo up",
        "link add lan0 type veth peer name lan1",
        "link set lan1 up",
        f"addr add {ADDRESS}/24 dev lan0",
        "link set lan0 up multicast on",
        "route add default dev lan0",
    ):
        subprocess.run(["ip", *line.split()], check=True)
    # Avahi has one folder on a machine; this one is of our mounts alone.
    pathlib.Path("/run/avahi-daemon").mkdir(exist_ok=True)
    subprocess.run(["mount", "-t", "tmpfs", "tmpfs", "/run/avahi-daemon"], check=True)
    bus, settings = tmp_path / "bus", tmp_path / "avahi.conf"
    settings.write_text(AVAHI)
    monkeypatch.setenv("DBUS_SYSTEM_BUS_ADDRESS", f"unix:path={bus}")
    log = open(tmp_path / "avahi.log", "wb")

    def start(*words: str) -> subprocess.Popen[bytes]:
        return subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    processes = [start("dbus-daemon", "--session", f"--address=unix:path={bus}", "--nofork", "--nopidfile")]
    until(bus.exists, "the bus")
    processes.append(start("/usr/sbin/avahi-daemon", "-f", str(settings), "--no-drop-root", "--no-chroot", "--no-rlimits"))
    yield
    for process in reversed(processes):
        process.kill()
        process.wait()
    log.close()


@pytest.fixture
def announced_house(
    request: pytest.FixtureRequest, tmp_path: pathlib.Path, music: pathlib.Path, network: None
) -> Iterator[House]:
    """A box in this network."""
    allow_sockets()
    house = House(request.config.getoption("--programs"), tmp_path / "box", music)
    house.fresh()
    yield house
    house.close()


async def test_found(hass: HomeAssistant, announced_house: House) -> None:
    """Home Assistant finds the box, adds it with a code, and follows it to another port without a person."""
    pytest_socket.socket_allow_hosts(["127.0.0.1", ADDRESS], allow_unix_socket=True)
    house = announced_house
    assert await async_setup_component(hass, "zeroconf", {})
    found = await eventually(lambda: hass.config_entries.flow.async_progress(), "the box", 20)
    assert [(one["handler"], one["context"]["source"], one["step_id"]) for one in found] == [(DOMAIN, "zeroconf", "confirm")]
    name = found[0]["context"]["title_placeholders"]["name"]
    flow: Any = await hass.config_entries.flow.async_configure(found[0]["flow_id"], {})
    if flow["type"] is FlowResultType.FORM:
        assert (flow["step_id"], flow["errors"]) == ("pair", {})
        flow = await hass.config_entries.flow.async_configure(flow["flow_id"], {"code": house.code()})
    assert flow["type"] is FlowResultType.CREATE_ENTRY
    assert (flow["title"], flow["data"]["host"], flow["data"]["port"]) == (name, ADDRESS, house.port)
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
    assert len(hass.config_entries.async_entries(DOMAIN)) == 1
    await eventually(lambda: entry.state is ConfigEntryState.LOADED, "the end of the setup")
    await hass.config_entries.async_unload(entry.entry_id)
