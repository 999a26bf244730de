"""The position as a card computes it."""

from __future__ import annotations

import asyncio
from datetime import timedelta
import time
from typing import Any

from conftest import act, eventually, shown, shows
from custom_components.nowplayingd.client import Anchor, BoxClock, NotABox
from custom_components.nowplayingd.position import INTERVAL, TOLERANCE, CardPosition
from homeassistant.core import HomeAssistant, callback
from homeassistant.util import dt as dt_util
from house import House
import pytest
from pytest_homeassistant_custom_component.common import async_fire_time_changed

# Seconds by which a card may be wrong at the rate 1.
ALLOWED = 0.05


def card(hass: HomeAssistant, wall: float, entity: str = "media_player.kitchen") -> float:
    """Return the position that Home Assistant's card shows at a time of this machine."""
    state = shown(hass, entity)
    position = float(state.attributes["media_position"])
    if state.state != "playing":
        return position
    return position + wall - state.attributes["media_position_updated_at"].timestamp()


def truth(house: House) -> tuple[float, float]:
    """Return the position by the box's own anchor, and the Unix time of this machine at that instant."""
    state = house.state()
    anchor = state["anchor"]
    wall, now = time.time(), time.monotonic()
    position = anchor["elapsed"] + anchor["rate"] * (1 + anchor["skew"]) * max(0, now - anchor["monotonic"])
    return min(position, state["item"]["duration"]), wall


def error(hass: HomeAssistant, house: House) -> float:
    """Return the seconds by which the card is ahead of the box."""
    position, wall = truth(house)
    return card(hass, wall) - position


async def test_card_at_each_event(hass: HomeAssistant, house: House, entry) -> None:
    """After each command, and between them, the card is right."""
    house.call("play")
    await shows(hass, state="playing")
    for method, parameters in (
        ("changePlaybackPosition", {"position": 20}),
        ("volume.set", {"volume": 0.3}),
        ("nextTrack", {}),
        ("skipForward", {"interval": 15}),
        ("pause", {}),
        ("changePlaybackPosition", {"position": 3.5}),
        ("play", {}),
        ("stop", {}),
        ("play", {"index": 4, "position": 12}),
    ):
        house.call(method, **parameters)
        seq = house.state()["seq"]
        session = entry.runtime_data.sessions["main"]
        await eventually(lambda seq=seq, session=session: session.state.seq >= seq, method)
        for _ in range(3):
            assert abs(error(hass, house)) <= ALLOWED, method
            await asyncio.sleep(0.05)


async def test_no_writes_between_events(hass: HomeAssistant, house: House, entry) -> None:
    """Nothing is written while an item plays on."""
    house.call("play")
    await shows(hass, state="playing", media_title="First 1")
    # The tags of the next items are read within a second.
    await asyncio.sleep(2.5)
    writes: list[Any] = []

    @callback
    def written(event: Any) -> None:
        writes.append(event.data)

    hass.bus.async_listen("state_changed", written)
    await asyncio.sleep(3)
    assert not writes
    assert abs(error(hass, house)) <= ALLOWED


async def test_other_rates(hass: HomeAssistant, house: House, entry) -> None:
    """At another rate the pair is written anew every ten seconds; the card is wrong by 10 s × |rate − 1| at most."""
    house.call("play")
    house.call("changePlaybackRate", rate=1.5)
    await eventually(lambda: entry.runtime_data.active.state.anchor.rate == 1.5, "the rate")
    # Events, such as those of titles that are read, write the pair anew as well; none comes later.
    await asyncio.sleep(2.5)
    before = shown(hass).attributes["media_position_updated_at"]
    assert abs(error(hass, house)) < INTERVAL * 0.5
    async_fire_time_changed(hass, dt_util.utcnow() + timedelta(seconds=INTERVAL + 1))
    await hass.async_block_till_done()
    assert abs(error(hass, house)) <= ALLOWED
    assert shown(hass).attributes["media_position_updated_at"] > before
    house.call("pause")
    await shows(hass, state="paused")
    assert abs(error(hass, house)) <= ALLOWED


async def test_wrong_clock(hass: HomeAssistant, house: House, entry, monkeypatch: pytest.MonkeyPatch) -> None:
    """The clock of Home Assistant is an hour wrong, or is set while an item plays."""
    true_time = time.time
    house.call("play")
    await shows(hass, state="playing")
    monkeypatch.setattr(time, "time", lambda: true_time() + 3600)
    # The clock of the box is measured every four minutes; this test's own clock is ahead, too.
    async_fire_time_changed(hass, dt_util.utcnow() + timedelta(seconds=3600 + 241))
    await eventually(lambda: abs(error(hass, house)) <= ALLOWED, "the pair on the clock that was set")
    house.call("changePlaybackPosition", position=30)
    await eventually(lambda: abs(error(hass, house)) <= ALLOWED, "the pair after the seek")
    updated = shown(hass).attributes["media_position_updated_at"].timestamp()
    assert abs(updated - true_time() - 3600) < 5


# MARK: The rule alone


def play(anchor: Anchor, at: float = 1000.0, wall: float = 5e5, duration: float | None = 300.0) -> CardPosition:
    """Return the pair of an anchor at its event."""
    found = CardPosition()
    assert found.update(anchor, duration, plays=True, now=at, wall=wall)
    return found


@pytest.mark.parametrize("skew", [0, 1e-6, -2e-5, 1e-4, -1e-3])
def test_skew_of_the_device(skew: float) -> None:
    """A card is never wrong by more than 25 ms, and seldom written."""
    anchor = Anchor(elapsed=5, rate=1, skew=skew, monotonic=1000)
    found = play(anchor, duration=None)
    now, writes = 1000.0, 0
    while now < 1000 + 3600:
        wait = found.next_update(anchor)
        step = 3600.0 if wait is None else wait
        for part in (0.25, 0.5, 0.999):
            at = now + step * part
            assert abs(found.error(anchor, None, now=at, wall=5e5 + at - 1000)) <= TOLERANCE
        now += step
        if wait is not None:
            writes += 1
            found.update(anchor, None, plays=True, now=now, wall=5e5 + now - 1000, tolerance=0)
    assert writes <= max(1, 3600 * abs(skew) / 0.015 + 1, 0) and writes <= 361


def test_future_anchor() -> None:
    """The sound of an anchor may begin later: the card is right from then on."""
    anchor = Anchor(elapsed=10, rate=1, monotonic=1000.4)
    found = play(anchor)
    assert abs(found.error(anchor, 300, now=1001, wall=5e5 + 1)) < 1e-5


def test_pair_stays() -> None:
    """An event that moves nothing leaves the pair as it is; a seek does not."""
    anchor = Anchor(elapsed=10, rate=1, monotonic=1000)
    found = play(anchor)
    before = (found.position, found.updated_at)
    assert not found.update(anchor, 300, plays=True, now=1050, wall=5e5 + 50.004)
    assert (found.position, found.updated_at) == before
    assert found.update(Anchor(elapsed=90, rate=1, monotonic=1050), 300, plays=True, now=1050, wall=5e5 + 50)
    assert found.position == 90
    assert found.update(Anchor(elapsed=95, rate=0, monotonic=1055), 300, plays=False, now=1055, wall=5e5 + 55)
    assert found.next_update(Anchor(elapsed=95)) is None
    found.clear()
    assert found.position is None and found.error(anchor, 300, now=1, wall=1) == 0


async def test_clock_of_the_box() -> None:
    """Of a burst of exchanges the shortest way counts; an answer without times is an error."""
    local = [100.0]
    ways = iter([0.2, 0.01, 0.3, 0.002, 0.05, 0.1, 0.2, 0.4])
    clock = BoxClock(lambda: local[0])
    assert clock.now() is None and not clock.is_known and clock.bound == float("inf")

    async def ask(_: float) -> Any:
        way = next(ways)
        # All of the delay lies on the way there.
        local[0] += way
        return {"received": local[0] + 5000, "answered": local[0] + 5000}

    await clock.synchronize(ask)
    assert clock.now() == pytest.approx(local[0] + 5000, abs=0.001 + 1e-9)
    assert clock.bound < 0.001 + 1e-3

    async def nonsense(_: float) -> Any:
        return {"received": "now"}

    with pytest.raises(NotABox):
        await clock.synchronize(nonsense)
    clock.forget()
    assert clock.now() is None
