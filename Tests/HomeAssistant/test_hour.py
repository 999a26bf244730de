"""An hour of music: the position of the card at any moment, and the number of writes."""

from __future__ import annotations

import asyncio
from typing import Any

from conftest import eventually, shows
from homeassistant.core import HomeAssistant, callback
from house import House, sound
import pytest
from test_position import ALLOWED, card, truth

ITEMS = 10


@pytest.mark.long
@pytest.mark.timeout(0)
async def test_hour(hass: HomeAssistant, own_house: House, add, request: pytest.FixtureRequest) -> None:
    """Ten items in an hour: the card is right within 50 ms of the box's anchor, and at most 60 states are written."""
    minutes = request.config.getoption("--minutes")
    house, seconds = own_house, minutes * 60 / ITEMS
    paths = []
    for number in range(ITEMS):
        path = house.folder / f"{number}.wav"
        await hass.async_add_executor_job(sound, path, seconds)
        paths.append(str(path))
    house.call("queue.clear")
    house.call("queue.add", items=paths)
    await add(house)
    writes: list[Any] = []

    @callback
    def written(event: Any) -> None:
        if event.data["entity_id"] == "media_player.kitchen":
            writes.append(event.data["new_state"])

    hass.bus.async_listen("state_changed", written)
    house.call("play")
    await shows(hass, state="playing")
    errors: list[float] = []
    seen: set[int] = set()
    while (state := house.state())["state"] == "playing":
        # A state that the daemon has just published is on its way.
        seq = state["seq"]
        active = hass.config_entries.async_entries("nowplayingd")[0].runtime_data.active
        await eventually(lambda seq=seq, active=active: active.state.seq >= seq, "the event")
        position, wall = truth(house)
        if house.state()["seq"] == seq:
            errors.append(card(hass, wall) - position)
            seen.add(state["item"]["id"])
        await asyncio.sleep(0.05)
    errors.sort(key=abs)
    print(
        f"{minutes} minutes, {len(errors)} looks: the card is wrong by {abs(errors[len(errors) // 2]) * 1000:.2f} ms (median), "
        f"{abs(errors[-1]) * 1000:.2f} ms at most; {len(writes)} writes"
    )
    assert len(seen) == ITEMS and len(errors) > minutes * 60 * 5
    assert abs(errors[-1]) <= ALLOWED
    assert len(writes) <= 60
