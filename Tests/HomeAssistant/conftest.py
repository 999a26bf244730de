"""A real Home Assistant core and real boxes on loopback."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
import pathlib
import time
from typing import Any

# Home Assistant finds integrations in the first package of this name.
import custom_components.nowplayingd  # noqa: F401
from house import House, make_music
from homeassistant.config_entries import ConfigEntryState
from homeassistant.core import HomeAssistant, State
import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry
import pytest_socket

DOMAIN = "nowplayingd"
PATIENCE = 10


def pytest_addoption(parser: pytest.Parser) -> None:
    """Take the folder of the programs."""
    parser.addoption("--programs", default="build", help="the folder of nowplayingd and nowplaying-web")
    parser.addoption("--minutes", type=float, default=0, help="the length of the hour; else 60, or 1 without --long")
    parser.addoption("--long", action="store_true", help="the long campaigns, too")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave the long campaigns out unless they are asked for."""
    if not config.getoption("--long"):
        for item in items:
            if "long" in item.keywords:
                item.add_marker(pytest.mark.skip(reason="a campaign of make nightly"))


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Print the figures of the campaigns."""
    for report in (*terminalreporter.getreports("passed"), *terminalreporter.getreports("failed")):
        for name, value in report.user_properties:
            if name == "figures" and report.when == "call":
                terminalreporter.write_line(value)


@pytest.fixture(scope="session")
def music(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """The music of all boxes."""
    folder = tmp_path_factory.mktemp("music")
    make_music(folder)
    return folder


def allow_sockets() -> None:
    """Allow connections to this machine and to the sockets of a box, and no others."""
    pytest_socket.enable_socket()
    pytest_socket.socket_allow_hosts(["127.0.0.1", "127.0.0.2"], allow_unix_socket=True)


@pytest.fixture(scope="session")
def shared_house(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, music: pathlib.Path) -> Iterator[House]:
    """A box for all tests that do not end its processes."""
    allow_sockets()
    house = House(request.config.getoption("--programs"), tmp_path_factory.mktemp("box"), music)
    yield house
    house.close()


@pytest.fixture
def house(shared_house: House) -> House:
    """The shared box, as new."""
    allow_sockets()
    shared_house.fresh()
    return shared_house


@pytest.fixture
def own_house(
    request: pytest.FixtureRequest, tmp_path: pathlib.Path, music: pathlib.Path
) -> Iterator[House]:
    """A box for a test that ends its processes."""
    allow_sockets()
    house = House(request.config.getoption("--programs"), tmp_path, music)
    house.fresh()
    yield house
    house.close()


@pytest.fixture(autouse=True)
def _custom_integrations(enable_custom_integrations: None) -> None:
    """Load integrations of the folder custom_components."""


@pytest.fixture
async def add(hass: HomeAssistant) -> AsyncIterator[Callable[..., Any]]:
    """A function that sets a box up; it is unloaded after the test."""
    entries: list[MockConfigEntry] = []

    async def add_box(house: House, **more: Any) -> MockConfigEntry:
        data = {"host": "127.0.0.1", "port": house.port, "tls": False, "verify_ssl": True, **more.pop("data", {})}
        entry = MockConfigEntry(domain=DOMAIN, title=more.pop("title", "Kitchen"), data=data, **more)
        entry.add_to_hass(hass)
        await hass.config_entries.async_setup(entry.entry_id)
        await hass.async_block_till_done()
        entries.append(entry)
        return entry

    yield add_box
    for entry in entries:
        if entry.state is ConfigEntryState.LOADED:
            await hass.config_entries.async_unload(entry.entry_id)
    await hass.async_block_till_done()


@pytest.fixture
async def entry(add: Callable[..., Any], house: House) -> MockConfigEntry:
    """The shared box in Home Assistant."""
    return await add(house)


async def eventually(condition: Callable[[], Any], name: str, seconds: float = PATIENCE) -> Any:
    """Return the first true value of a condition that other tasks make true."""
    end = time.monotonic() + seconds
    while True:
        if value := condition():
            return value
        if time.monotonic() > end:
            raise AssertionError(f"this did not come: {name}")
        await asyncio.sleep(0.005)


def shown(hass: HomeAssistant, entity: str = "media_player.kitchen") -> State:
    """Return the state of an entity."""
    found = hass.states.get(entity)
    assert found is not None, f"there is no {entity}: {hass.states.async_entity_ids()}"
    return found


async def shows(hass: HomeAssistant, entity: str = "media_player.kitchen", state: str | None = None, **attributes: Any) -> State:
    """Wait until an entity shows a state and attributes."""

    def holds() -> State | None:
        found = hass.states.get(entity)
        if found is None or (state is not None and found.state != state):
            return None
        return found if all(found.attributes.get(key) == value for key, value in attributes.items()) else None

    try:
        return await eventually(holds, "")
    except AssertionError:
        raise AssertionError(f"{entity} does not show {state} {attributes}, but {hass.states.get(entity)}") from None


async def until_shown(
    hass: HomeAssistant, entity: str, update: Callable[[], Any], state: str | None = None, **attributes: Any
) -> State:
    """Update an entity that nobody updates until it shows a state and attributes."""
    end = time.monotonic() + PATIENCE
    while True:
        await update()
        found = hass.states.get(entity)
        if found is not None and state in (None, found.state) and all(found.attributes.get(k) == v for k, v in attributes.items()):
            return found
        assert time.monotonic() < end, f"{entity} does not show {state} {attributes}, but {found}"


async def act(hass: HomeAssistant, service: str, entity: str = "media_player.kitchen", domain: str = "media_player", **data: Any) -> Any:
    """Call a service for an entity and wait for it."""
    response = data.pop("response", False)
    return await hass.services.async_call(
        domain, service, {"entity_id": entity, **data}, blocking=True, return_response=response
    )


def responds(house: House) -> bool:
    """Return True if the daemon answers."""
    try:
        return bool(house.call("hello"))
    except OSError:
        return False
