"""The blueprints, as automations of Home Assistant beside real boxes."""

from __future__ import annotations

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
from pytest_homeassistant_custom_component.common import async_fire_time_changed
from test_announce import Speaker, speaker  # noqa: F401

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


@pytest.mark.parametrize("engine", ["voice", ""])
async def test_doorbell(hass: HomeAssistant, house: House, entry, automate: Any, speaker: Speaker, engine: str) -> None:  # noqa: F811
    """A press rings over the music, and then a voice speaks. Other changes of the button do not ring."""
    await automate(
        "doorbell",
        button="binary_sensor.bell",
        players={"entity_id": "media_player.kitchen"},
        bell=f"{house.folder}/bell.wav",
        message="Somebody is at the door",
        engine=engine,
    )
    rings: list[Any] = []
    hass.bus.async_listen("state_changed", lambda event: event.data["entity_id"] == "event.kitchen_event" and rings.append(event))
    house.call("play")
    await shows(hass, state="playing")
    # The first state of a button, and the end of an outage, are no press.
    for state in ("on", "unavailable", "on", "off"):
        hass.states.async_set("binary_sensor.bell", state)
        await hass.async_block_till_done()

    def announcements() -> int:
        return sum(one.data["new_state"].attributes.get("event_type") == "announcement" for one in rings)

    assert announcements() == 0
    hass.states.async_set("binary_sensor.bell", "on")
    await eventually(lambda: announcements() == 2, "the bell and the voice")
    assert speaker.messages == ["en: Somebody is at the door"]
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


EVERY_DAY = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"]


@pytest.mark.parametrize(
    ("ahead", "days", "expected"), [(25, EVERY_DAY, False), (20, EVERY_DAY, True), (15, EVERY_DAY, False), (20, [], False)]
)
async def test_wake_up_time(hass: HomeAssistant, automate: Any, ahead: int, days: list[str], expected: bool) -> None:
    """The light begins in its minute and in no other, on the chosen days. `ahead`: minutes to the music; the light needs 20."""
    lights: list[Any] = []
    hass.services.async_register("light", "turn_on", lambda call: lights.append(call.data))
    hass.states.async_set("input_datetime.alarm", "00:00:00")
    target = {"entity_id": "light.bed"}
    await automate(
        "wake_up", time="input_datetime.alarm", days=days, light=target, minutes=20, player="media_player.x", list="x", volume=0.1
    )
    is_over = False
    # A minute may end while its automation looks at the clock.
    while not is_over:
        begun = dt_util.now().minute
        hass.states.async_set("input_datetime.alarm", (dt_util.now() + timedelta(minutes=ahead)).strftime("%H:%M:00"))
        async_fire_time_changed(hass, dt_util.utcnow().replace(second=0, microsecond=0) + timedelta(minutes=1))
        if expected:
            await eventually(lambda begun=begun: len(lights) == 2 or begun != dt_util.now().minute, "the light")
        else:
            await hass.async_block_till_done()
        is_over = bool(lights) or begun == dt_util.now().minute
    assert len(lights) == (2 if expected else 0)
    # Twenty minutes of light are left.
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
