"""Triggers of a device: playback started, stopped or stalled, an item began, an announcement ended."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import voluptuous as vol

from homeassistant.components.device_automation import DEVICE_TRIGGER_BASE_SCHEMA
from homeassistant.components.device_automation.exceptions import InvalidDeviceAutomationConfig
from homeassistant.const import CONF_DEVICE_ID, CONF_DOMAIN, CONF_PLATFORM, CONF_TYPE
from homeassistant.core import CALLBACK_TYPE, HassJob, HomeAssistant, callback
from homeassistant.helpers import device_registry as dr
from homeassistant.helpers.dispatcher import async_dispatcher_connect
from homeassistant.helpers.trigger import TriggerActionType, TriggerInfo
from homeassistant.helpers.typing import ConfigType

from .client import State
from .const import DOMAIN
from .coordinator import Box, Change, signal
from .data import loaded_boxes

# Types of triggers, and the rule for the state before and after.
RULES: dict[str, Callable[[State, State], bool]] = {
    "started": lambda old, new: new.state == "playing" and old.state not in ("playing", "stalled"),
    "paused": lambda old, new: new.state in ("paused", "interrupted") and old.state in ("playing", "stalled"),
    "stopped": lambda old, new: new.state == "stopped" and old.state != "stopped",
    "item_began": lambda old, new: new.item is not None and _play(new) != _play(old) and new.state == "playing",
    "stalled": lambda old, new: new.state == "stalled" and old.state != "stalled",
}
ANNOUNCEMENT = "announcement"
TYPES = [*RULES, ANNOUNCEMENT]

TRIGGER_SCHEMA = DEVICE_TRIGGER_BASE_SCHEMA.extend({vol.Required(CONF_TYPE): vol.In(TYPES)})


def _play(state: State) -> tuple[str, int | None, int | None]:
    """Return a name for one play of an item: an item that is repeated begins again."""
    item = state.item
    return (state.session, None, None) if item is None else (state.session, item.id, item.play)


def _entry_id(hass: HomeAssistant, device_id: str) -> str | None:
    """Return the id of the config entry of a device; None if it is no box."""
    device = dr.async_get(hass).async_get(device_id)
    return None if device is None else next((name for domain, name in device.identifiers if domain == DOMAIN), None)


async def async_get_triggers(hass: HomeAssistant, device_id: str) -> list[dict[str, Any]]:
    """Return the triggers of a device."""
    base = {CONF_PLATFORM: "device", CONF_DOMAIN: DOMAIN, CONF_DEVICE_ID: device_id}
    return [{**base, CONF_TYPE: kind} for kind in TYPES]


async def async_attach_trigger(
    hass: HomeAssistant, config: ConfigType, action: TriggerActionType, trigger_info: TriggerInfo
) -> CALLBACK_TYPE:
    """Run an action at each event of this type in the active session."""
    entry_id = _entry_id(hass, config[CONF_DEVICE_ID])
    if entry_id is None:
        raise InvalidDeviceAutomationConfig(f"the device {config[CONF_DEVICE_ID]} is no box of nowplayingd")
    watch = Watch(hass, config, action, trigger_info)
    for box in loaded_boxes(hass):
        if box.entry.entry_id == entry_id:
            watch.look(box)
    return async_dispatcher_connect(hass, signal(entry_id), watch.changed)


class Watch:
    """Compares the states of the active session, and runs an action."""

    def __init__(
        self, hass: HomeAssistant, config: ConfigType, action: TriggerActionType, trigger_info: TriggerInfo
    ) -> None:
        """Make a watch for one trigger."""
        self._hass, self._type = hass, config[CONF_TYPE]
        self._data = {
            **trigger_info["trigger_data"],
            CONF_PLATFORM: "device",
            CONF_DOMAIN: DOMAIN,
            CONF_DEVICE_ID: config[CONF_DEVICE_ID],
            CONF_TYPE: self._type,
        }
        self._job = HassJob(action, f"{DOMAIN} trigger {self._type}")
        self._last: State | None = None

    @callback
    def look(self, box: Box) -> None:
        """Take the present state as the one before."""
        self._last = None if box.active is None else box.active.state

    @callback
    def changed(self, box: Box, change: Change, _: State | None) -> None:
        """Take a change of the box."""
        if change is Change.ANNOUNCEMENT and self._type == ANNOUNCEMENT:
            self._run(box, self._last)
        old = self._last
        self.look(box)
        # Nothing is known about the time without a connection.
        if change not in (Change.STATE, Change.SESSIONS) or old is None or self._last is None:
            return
        rule = RULES.get(self._type)
        if rule is not None and rule(old, self._last):
            self._run(box, self._last)

    @callback
    def _run(self, box: Box, state: State | None) -> None:
        item = None if state is None else state.item
        facts = {
            "description": f"{box.entry.title}: {self._type}",
            "session": None if state is None else state.session,
            "title": None if item is None else item.title,
            "artist": None if item is None else item.artist,
        }
        self._hass.async_run_hass_job(self._job, {"trigger": {**self._data, **facts}})
