"""The blueprints, as automations of Home Assistant beside real boxes."""

from __future__ import annotations

import asyncio
from datetime import timedelta
import pathlib
import shutil
from typing import Any

from conftest import act, eventually, shown, shows
from homeassistant.core import HomeAssistant
from homeassistant.setup import async_setup_component
from homeassistant.util import dt as dt_util
from house import House
import pytest

BLUEPRINTS = pathlib.Path(__file__).parents[2] / "etc/homeassistant/blueprints"


@pytest.fixture
async def automate(hass: HomeAssistant, tmp_path: pathlib.Path) -> Any:
    """A function that makes an automation of a blueprint."""
    shutil.copytree(BLUEPRINTS, tmp_path / "blueprints")
    hass.config.config_dir = str(tmp_path)

    async def make(name: str, **inputs: Any) -> None:
        config = {"alias": name, "use_blueprint": {"path": f"nowplayingd/{name}.yaml", "input": inputs}}
        assert await async_setup_component(hass, "automation", {"automation": [config]})
        await hass.async_block_till_done()
        assert shown(hass, f"automation.{name}").state == "on"

    return make


async def test_doorbell(hass: HomeAssistant, house: House, entry, automate: Any) -> None:
    """A press rings over the music."""
    await automate(
        "doorbell",
        button="binary_sensor.bell",
        players={"entity_id": "media_player.kitchen"},
        bell=f"{house.folder}/bell.wav",
    )
    hass.states.async_set("binary_sensor.bell", "off")
    house.call("play")
    await shows(hass, state="playing")
    await hass.async_block_till_done()
    hass.states.async_set("binary_sensor.bell", "on")
    await shows(hass, "event.kitchen_event", event_type="announcement")
    assert shown(hass).state == "playing"


async def test_wake_up(hass: HomeAssistant, house: House, entry, automate: Any) -> None:
    """The light begins before the music; the music begins quietly and gets louder."""
    house.call("lists.save", name="Morning", uris=house.songs)
    lights: list[Any] = []
    hass.services.async_register("light", "turn_on", lambda call: lights.append(call.data))
    hass.states.async_set("input_datetime.alarm", "06:30:00")
    await automate(
        "wake_up",
        time="input_datetime.alarm",
        days=["mon"],
        light={"entity_id": "light.bed"},
        minutes=0.01,
        player="media_player.kitchen",
        list="Morning",
        volume=0.08,
    )
    run = hass.async_create_task(act(hass, "trigger", "automation.wake_up", "automation", skip_condition=True))
    await eventually(lambda: len(lights) == 2, "the light")
    assert [one["brightness_pct"] for one in lights] == [1, 100]
    await shows(hass, state="playing", queue_size=5, volume_level=0.05)
    # A step takes ten seconds.
    await eventually(lambda: shown(hass).attributes["volume_level"] == 0.08, "the volume", 30)
    await run
    await act(hass, "turn_off", "automation.wake_up", "automation")


@pytest.mark.parametrize(("days", "expected"), [(["mon", "tue", "wed", "thu", "fri", "sat", "sun"], True), ([], False)])
async def test_wake_up_time(hass: HomeAssistant, automate: Any, days: list[str], expected: bool) -> None:
    """The condition holds in the minute in which the light begins, on the chosen days."""
    lights: list[Any] = []
    hass.services.async_register("light", "turn_on", lambda call: lights.append(call.data))

    def music_in(minutes: int) -> None:
        hass.states.async_set("input_datetime.alarm", (dt_util.now() + timedelta(minutes=minutes)).strftime("%H:%M:00"))

    music_in(25)
    target = {"entity_id": "light.bed"}
    await automate(
        "wake_up", time="input_datetime.alarm", days=days, light=target, minutes=20, player="media_player.x", list="x", volume=0.1
    )
    for minutes, holds in ((25, False), (20, expected), (15, False)):
        begun = dt_util.now().minute
        music_in(minutes)
        run = hass.async_create_task(act(hass, "trigger", "automation.wake_up", "automation", skip_condition=False))
        await asyncio.sleep(0.2)
        if dt_util.now().minute == begun:
            assert bool(lights) is holds, minutes
        await act(hass, "turn_off", "automation.wake_up", "automation")
        await act(hass, "turn_on", "automation.wake_up", "automation")
        await run
        lights.clear()
    await act(hass, "turn_off", "automation.wake_up", "automation")


async def test_follow_me(hass: HomeAssistant, house: House, own_house: House, add, automate: Any) -> None:
    """The music continues in the other room; the first one pauses."""
    await add(house)
    await add(own_house, title="Hall")
    # Both boxes have the file by the same name.
    shared = house.folder / "music/First/1.flac"
    own_house.settings.write_text(own_house.settings.read_text().replace("media-roots = ", f"media-roots = {house.folder}\n  "))
    own_house.call("daemon.reload")
    await automate(
        "follow_me",
        occupancy="binary_sensor.hall",
        here="media_player.hall",
        others=["media_player.kitchen"],
    )
    hass.states.async_set("binary_sensor.hall", "off")
    house.call("play", uri=str(shared), position=20)
    await shows(hass, state="playing", media_title="First 1")
    hass.states.async_set("binary_sensor.hall", "on")
    await shows(hass, "media_player.hall", "playing", media_title="First 1")
    await shows(hass, "media_player.kitchen", "paused")
    await eventually(lambda: own_house.state()["anchor"]["elapsed"] >= 19.9, "the position")
