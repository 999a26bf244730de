"""Outages: daemon, bridge and network end at random, and come back."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
import random
import signal
import time
from typing import Any

from conftest import act, eventually, responds, shown, shows
from custom_components.nowplayingd.client import BoxAddress, BoxHTTP
from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers.aiohttp_client import async_get_clientsession
from house import House
import pytest
from remote import Remote

# Seconds from the return of a box to that of its entities.
RETURN = 2.0
LOGGER = "custom_components.nowplayingd.coordinator"


class Outages:
    """Counts how often the player became unavailable and available."""

    def __init__(self, hass: HomeAssistant, entity: str = "media_player.kitchen") -> None:
        self.changes: list[bool] = []

        @callback
        def changed(event: Any) -> None:
            new, old = event.data["new_state"], event.data["old_state"]
            if event.data["entity_id"] == entity and (new.state == "unavailable") != (old.state == "unavailable"):
                self.changes.append(new.state != "unavailable")

        hass.bus.async_listen("state_changed", changed)


def messages(caplog: pytest.LogCaptureFixture) -> list[str]:
    """Return the words about the box in the log."""
    return [one.getMessage() for one in caplog.records if one.name == LOGGER and one.levelname == "WARNING"]


async def break_and_mend(
    hass: HomeAssistant, house: House, remote: Remote, kind: str, chance: random.Random
) -> tuple[float, float]:
    """End a part of the way to a box, and begin it again.

    Returns the seconds until the player is back, and those of them for which the programs waited for a processor.
    """
    if kind == "daemon":
        house.end("nowplayingd")
    elif kind == "bridge":
        house.end("nowplaying-web", chance.choice((signal.SIGKILL, signal.SIGTERM)))
    else:
        await remote.close()
    await shows(hass, state="unavailable")
    await asyncio.sleep(chance.random() * 0.4)
    if kind == "daemon":
        house.begin_daemon()
        await eventually(lambda: responds(house), "the daemon")
    elif kind == "bridge":
        await hass.async_add_executor_job(house.begin_web)
    else:
        await remote.open()
    begun, waits = time.monotonic(), house.waits()
    await eventually(lambda: shown(hass).state != "unavailable", "the player", 20)
    return time.monotonic() - begun, waits.seconds()


async def outages(hass: HomeAssistant, house: House, add: Any, caplog: pytest.LogCaptureFixture, kinds: list[str]) -> list[float]:
    """Break the way to a box again and again; returns the seconds until each return, which are RETURN at most."""
    chance = random.Random(4711)
    async with Remote(house) as remote:
        box = BoxHTTP(async_get_clientsession(hass), BoxAddress("127.0.0.1", remote.port), None)
        paired = await box.pair(house.code(), "test")
        entry = await add(house, data={"port": remote.port, "token": paired.token, "confirmed": True})
        await shows(hass, state="idle")
        seen = Outages(hass)
        times = []
        for count, kind in enumerate(kinds, 1):
            seconds, waits = await break_and_mend(hass, house, remote, kind, chance)
            times.append(seconds)
            assert seconds - waits <= RETURN, f"{kind}, outage {count}: {seconds} s, {waits} s of them without a processor"
            # The listener of the test gets an event after the state.
            await eventually(lambda count=count: len(seen.changes) >= 2 * count, f"{kind}, outage {count}: {seen.changes[-3:]}")
            assert seen.changes == [False, True] * count, f"{kind}, outage {count}"
            said = messages(caplog)
            assert len(said) == 2 * count and said[-1] == "Kitchen is available again", said[-3:]
        await act(hass, "media_play")
        await shows(hass, state="playing")
        await hass.config_entries.async_unload(entry.entry_id)
    return times


async def test_outages(hass: HomeAssistant, own_house: House, add, caplog: pytest.LogCaptureFixture) -> None:
    """Daemon, bridge and network end: unavailable is said once, and the player is back within 2 s."""
    await outages(hass, own_house, add, caplog, ["daemon", "bridge", "network"] * 2)


@pytest.mark.long
@pytest.mark.timeout(0)
async def test_hundred_outages(
    hass: HomeAssistant, own_house: House, add, caplog: pytest.LogCaptureFixture, record_property: Callable[[str, str], None]
) -> None:
    """A hundred ends at random."""
    chance = random.Random(26)
    times = await outages(hass, own_house, add, caplog, [chance.choice(("daemon", "bridge", "network")) for _ in range(100)])
    record_property("figures", f"100 outages: back after {sorted(times)[50]:.2f} s (median), {max(times):.2f} s (longest)")
