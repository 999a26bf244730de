"""Entities beside the player: numbers, switch, buttons, sensors, events, triggers, diagnostics, repairs."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
import functools
import time
from typing import Any

from aiohttp import web
from conftest import DOMAIN, act, eventually, shown, shows
from custom_components.nowplayingd.diagnostics import async_get_config_entry_diagnostics
from homeassistant.components.device_automation import DeviceAutomationType
from homeassistant.config_entries import ConfigEntry
from homeassistant.core import HomeAssistant
from homeassistant.exceptions import HomeAssistantError
from homeassistant.helpers import device_registry as dr, entity_registry as er, issue_registry as ir
from homeassistant.setup import async_setup_component
from house import House, sound
import pytest
from pytest_homeassistant_custom_component.common import async_get_device_automations
from remote import Remote, fake_box


async def test_numbers(hass: HomeAssistant, house: House, entry) -> None:
    """Each number shows the value of the box, and changes it."""
    house.call("play")
    await shows(hass, state="playing")
    for entity, value, expected in (
        ("number.kitchen_crossfade", 4.5, "4.5"),
        ("number.kitchen_delay_of_the_output", 0.25, "0.25"),
        ("number.kitchen_rating", 3.5, "3.5"),
        ("number.kitchen_sleep_timer", 30, "30"),
    ):
        await act(hass, "set_value", entity, "number", value=value)
        await shows(hass, entity, expected)
    state = house.state()
    assert (state["crossfade"]["seconds"], state["output"]["delay"], state["item"]["rating"]) == (4.5, 0.25, 3.5)
    assert abs(state["sleep"]["endsMonotonic"] - time.monotonic() - 1800) < 5
    house.call("output.delay.set", name="null", delay=0)
    await shows(hass, "number.kitchen_delay_of_the_output", "0.0")
    await act(hass, "press", "button.kitchen_stop_after_this_item", "button")
    await eventually(lambda: (house.state()["sleep"] or {}).get("endOf") == "item", "the end of the item")
    await shows(hass, "number.kitchen_sleep_timer", "0")
    await act(hass, "press", "button.kitchen_cancel_the_sleep_timer", "button")
    await eventually(lambda: house.state()["sleep"] is None, "no sleep timer")


async def test_like(hass: HomeAssistant, house: House, entry) -> None:
    """The switch follows the item."""
    house.call("play")
    await shows(hass, "switch.kitchen_like", "off")
    await act(hass, "turn_on", "switch.kitchen_like", "switch")
    await shows(hass, "switch.kitchen_like", "on")
    assert house.state()["item"]["isLiked"]
    house.call("nextTrack")
    await shows(hass, "switch.kitchen_like", "off")
    house.call("play", index=0)
    await shows(hass, "switch.kitchen_like", "on")
    await act(hass, "turn_off", "switch.kitchen_like", "switch")
    await shows(hass, "switch.kitchen_like", "off")
    house.call("rating", rating=0)
    house.call("queue.clear")
    await shows(hass, "switch.kitchen_like", "unavailable")
    await shows(hass, "number.kitchen_rating", "unavailable")


async def test_sleep_service(hass: HomeAssistant, house: House, entry) -> None:
    """The service sets, changes and cancels the timer, and returns its end on the clock of this machine."""
    house.call("play")
    found = await act(hass, "sleep", domain=DOMAIN, minutes=10, fade=5, response=True)
    ends = datetime.fromisoformat(found["media_player.kitchen"]["ends"])
    assert abs((ends - datetime.now(UTC)).total_seconds() - 600) < 3
    found = await act(hass, "sleep", domain=DOMAIN, end_of_item=True, response=True)
    assert found == {"media_player.kitchen": {"ends": None, "end_of_item": True}}
    found = await act(hass, "sleep", domain=DOMAIN, response=True)
    assert found == {"media_player.kitchen": {"ends": None, "end_of_item": False}}
    assert house.state()["sleep"] is None


async def test_sensors(hass: HomeAssistant, house: House, add) -> None:
    """All sensors are off by default; enabled, they show the active session."""
    entry = await add(house)
    registry = er.async_get(hass)
    found = [one for one in er.async_entries_for_config_entry(registry, entry.entry_id) if one.domain == "sensor"]
    assert len(found) == 6 and all(one.disabled_by is er.RegistryEntryDisabler.INTEGRATION for one in found)
    for one in found:
        registry.async_update_entity(one.entity_id, disabled_by=None)
    await hass.config_entries.async_reload(entry.entry_id)
    await hass.async_block_till_done()
    house.call("play")
    house.call("sleep.set", after=600)
    await shows(hass, "sensor.kitchen_items_in_the_queue", "5")
    await eventually(lambda: shown(hass, "sensor.kitchen_last_event").state == house.state()["cause"], "the last event")
    await shows(hass, "sensor.kitchen_active_session", "main")
    await shows(hass, "sensor.kitchen_output", "No sound")
    ends = datetime.fromisoformat(shown(hass, "sensor.kitchen_end_of_the_sleep_timer").state)
    assert abs((ends - datetime.now(UTC)).total_seconds() - 600) < 3
    assert shown(hass, "sensor.kitchen_last_error").state == "unknown"


async def test_events(hass: HomeAssistant, house: House, entry) -> None:
    """Key events with their causes, in their order, and no others."""
    seen: list[Any] = []
    hass.bus.async_listen(
        "state_changed",
        lambda event: event.data["entity_id"] == "event.kitchen_event"
        and "event_type" in event.data["new_state"].attributes
        and seen.append((event.data["new_state"].attributes["event_type"], event.data["new_state"].attributes["title"])),
    )
    house.call("play")
    house.call("nextTrack")
    house.call("pause")
    house.call("volume.set", volume=0.1)
    await eventually(lambda: ("volume", "First 2") in seen, "the events")
    # The titles of the queue are read meanwhile, which is an event, too.
    causes = [cause for cause, _ in seen if cause not in ("queue", "metadata")]
    assert causes == ["play", "track", "pause", "volume"]
    attributes = shown(hass, "event.kitchen_event").attributes
    assert (attributes["session"], attributes["state"]) == ("main", "paused")


async def automate_triggers(hass: HomeAssistant, entry: ConfigEntry) -> list[str]:
    """Make an automation of each trigger. Returns the list to which each run adds the type and the title."""
    device = dr.async_get(hass).async_get_device({(DOMAIN, entry.entry_id)})
    assert device is not None
    found = await async_get_device_automations(hass, DeviceAutomationType.TRIGGER, device.id)
    own = {one["type"] for one in found if one["domain"] == DOMAIN}
    assert own == {"started", "paused", "stopped", "item_began", "stalled", "announcement"}
    ran: list[str] = []
    hass.services.async_register("test", "ran", lambda call: ran.append(call.data["what"]))
    assert await async_setup_component(
        hass,
        "automation",
        {
            "automation": [
                {
                    "alias": kind,
                    "trigger": {"platform": "device", "domain": DOMAIN, "device_id": device.id, "type": kind},
                    "action": {"service": "test.ran", "data": {"what": kind + " {{ trigger.title }}"}},
                    "mode": "queued",
                }
                for kind in sorted(own)
            ]
        },
    )
    return ran


async def test_triggers(hass: HomeAssistant, house: House, entry) -> None:
    """Each trigger runs an automation at its event, also after the box was loaded again."""
    ran = await automate_triggers(hass, entry)

    async def expect(*expected: str) -> None:
        await eventually(lambda: sorted(ran) == sorted(expected), f"{expected}, but {ran}")
        ran.clear()

    house.call("play")
    await expect("started First 1", "item_began First 1")
    house.call("nextTrack")
    await expect("item_began First 2")
    house.call("pause")
    await expect("paused First 2")
    house.call("play")
    await expect("started First 2")
    house.call("stop")
    await expect("stopped First 2")
    await act(hass, "announce", domain=DOMAIN, media_id=f"{house.folder}/bell.wav")
    await expect("announcement First 2")
    await hass.config_entries.async_reload(entry.entry_id)
    await hass.async_block_till_done()
    assert not ran
    house.call("play")
    await expect("started First 2", "item_began First 2")


async def test_triggers_of_a_late_station(hass: HomeAssistant, house: House, entry, aiohttp_client: Any) -> None:
    """A station that is late stalls first. It starts with its first sound."""
    release = asyncio.Event()
    sound_file = house.folder / "late.wav"
    content = await hass.async_add_executor_job(sound, sound_file, 20)

    async def late(request: web.Request) -> web.Response:
        await release.wait()
        return web.Response(body=content, content_type="audio/wav")

    app = web.Application()
    app.add_routes([web.get("/late.wav", late)])
    client = await aiohttp_client(app)
    ran = await automate_triggers(hass, entry)
    playing = hass.async_add_executor_job(functools.partial(house.call, "play", uri=str(client.make_url("/late.wav"))))
    await eventually(lambda: any(one.startswith("stalled") for one in ran), f"the stall, but {ran}", 20)
    assert not any(one.startswith(("started", "item_began")) for one in ran)
    release.set()
    await playing
    await eventually(lambda: any(one.startswith("started") for one in ran), f"the start, but {ran}")
    await eventually(lambda: any(one.startswith("item_began") for one in ran), f"the item, but {ran}")
    house.call("stop")


async def test_trigger_of_another_device(hass: HomeAssistant, house: House, entry) -> None:
    """A device of another integration is refused."""
    from custom_components.nowplayingd.device_trigger import async_attach_trigger
    from homeassistant.components.device_automation.exceptions import InvalidDeviceAutomationConfig

    with pytest.raises(InvalidDeviceAutomationConfig):
        await async_attach_trigger(hass, {"device_id": "nobody", "type": "started"}, None, {"trigger_data": {}})


async def test_device(hass: HomeAssistant, house: House, entry) -> None:
    """The device has the version and the address of the page."""
    device = dr.async_get(hass).async_get_device({(DOMAIN, entry.entry_id)})
    assert device is not None
    assert (device.name, device.sw_version) == ("Kitchen", house.call("hello")["version"])
    assert device.configuration_url == f"http://127.0.0.1:{house.port}/"


async def test_diagnostics(hass: HomeAssistant, house: House, add) -> None:
    """Neither the token nor titles nor files are in the diagnostics."""
    async with Remote(house) as remote:
        from custom_components.nowplayingd.client import BoxAddress, BoxHTTP
        from homeassistant.helpers.aiohttp_client import async_get_clientsession

        paired = await BoxHTTP(
            async_get_clientsession(hass), BoxAddress("127.0.0.1", remote.port), None
        ).pair(house.code(), "test")
        entry = await add(house, data={"port": remote.port, "token": paired.token, "confirmed": True})
        house.call("play")
        await shows(hass, state="playing", media_title="First 1")
        found = await async_get_config_entry_diagnostics(hass, entry)
        words = repr(found)
        for secret in (paired.token, "127.0.0.1", "First 1", "Ann", str(house.folder)):
            assert secret not in words
        assert found["available"] and found["box"]["role"] == "control" and found["clock"]["bound"] < 1
        assert found["sessions"]["main"]["state"]["state"] == "playing"
        await hass.config_entries.async_unload(entry.entry_id)


async def test_read_only(hass: HomeAssistant, house: House, add) -> None:
    """A device that may only look has no features, and the repairs say why."""
    async with Remote(house) as remote:
        from custom_components.nowplayingd.client import BoxAddress, BoxHTTP
        from homeassistant.helpers.aiohttp_client import async_get_clientsession

        box = BoxHTTP(async_get_clientsession(hass), BoxAddress("127.0.0.1", remote.port), None)
        paired = await box.pair(house.code("read"), "looker")
        assert paired.role == "read"
        entry = await add(house, data={"port": remote.port, "token": paired.token, "confirmed": True})
        house.call("play")
        state = await shows(hass, state="playing", media_title="First 1", supported_features=0)
        assert "media_content_id" not in state.attributes
        await shows(hass, "number.kitchen_crossfade", "unavailable")
        issue = ir.async_get(hass).async_get_issue(DOMAIN, f"read_only_{entry.entry_id}")
        assert issue is not None and issue.translation_placeholders["name"] == "Kitchen"
        await hass.config_entries.async_remove(entry.entry_id)
        assert ir.async_get(hass).async_get_issue(DOMAIN, f"read_only_{entry.entry_id}") is None


async def test_newer_protocol(hass: HomeAssistant, house: House, add) -> None:
    """A box that was updated beyond this integration is named in the repairs."""
    async with fake_box(hello={"server": "nowplayingd", "protocol": 2, "role": "control", "version": "9.0"}) as port:
        entry = await add(house, data={"port": port})
        issue = ir.async_get(hass).async_get_issue(DOMAIN, f"newer_protocol_{entry.entry_id}")
        assert issue is not None
        assert issue.translation_placeholders["protocol"] == "2" and issue.translation_placeholders["version"] == "9.0"


async def test_sessions(hass: HomeAssistant, house: House, entry) -> None:
    """Each session has a player, off by default; the first one follows the active session."""
    registry = er.async_get(hass)
    main = registry.async_get("media_player.kitchen_main")
    assert main is not None and main.disabled_by is er.RegistryEntryDisabler.INTEGRATION
    house.call("session.create", name="kids")
    house.call("queue.add", session="kids", items=house.songs[3:], play=True)
    await eventually(lambda: registry.async_get("media_player.kitchen_kids"), "the player of the session")
    await shows(hass, session="kids", media_title="Second 1", state="playing")
    for name in ("main", "kids"):
        registry.async_update_entity(f"media_player.kitchen_{name}", disabled_by=None)
    await hass.config_entries.async_reload(entry.entry_id)
    await hass.async_block_till_done()
    await shows(hass, "media_player.kitchen_kids", "playing", media_title="Second 1", queue_size=2)
    await shows(hass, "media_player.kitchen_main", "idle", queue_size=5)
    # Each player commands its own session.
    await act(hass, "media_pause", "media_player.kitchen_kids")
    await shows(hass, "media_player.kitchen_kids", "paused")
    await act(hass, "media_play", "media_player.kitchen_main")
    await shows(hass, "media_player.kitchen_main", "playing", media_title="First 1")
    await shows(hass, session="main", state="playing")
    house.call("session.close", name="kids")
    house.call("session.activate", name="main")
    await shows(hass, "media_player.kitchen_kids", "unavailable")
    with pytest.raises(HomeAssistantError):
        await hass.data["media_player"].get_entity("media_player.kitchen_kids").async_media_play()



async def test_other_player(hass: HomeAssistant, house: House, entry) -> None:
    """Another player that stops leaves the player to the music that resumes."""
    await act(hass, "media_play")
    await shows(hass, session="main", state="playing")
    with house.connection() as player:
        player("session.create", name="airplay", external=True, commands=["play", "pause"])
        item = {"title": "Elsewhere", "artist": "Somebody"}
        player("nowPlaying.publish", session="airplay", state="playing", item=item)
        await shows(hass, session="airplay", state="playing", media_title="Elsewhere")
        player("nowPlaying.publish", session="airplay", state="stopped", item=item)
        await shows(hass, session="main", state="playing", media_title="First 1")
        await act(hass, "media_pause")
        await shows(hass, session="main", state="paused")