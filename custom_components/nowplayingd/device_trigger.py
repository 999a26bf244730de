"""Triggers of a device: playback started, stopped or stalled, an item began, an announcement ended."""

from __future__ import annotations

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
from .progress import Progress

ANNOUNCEMENT = "announcement"

TYPES = ["started", "paused", "stopped", "item_began", "stalled", ANNOUNCEMENT]

TRIGGER_SCHEMA = DEVICE_TRIGGER_BASE_SCHEMA.extend({vol.Required(CONF_TYPE): vol.In(TYPES)})


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
        raise InvalidDeviceAutomationConfig(
            f"the device {config[CONF_DEVICE_ID]} is no box of nowplayingd",
            translation_domain=DOMAIN,
            translation_key="no_box",
            translation_placeholders={"device": config[CONF_DEVICE_ID]},
        )
    watch = Watch(hass, config, action, trigger_info)
    for box in loaded_boxes(hass):
        if box.entry.entry_id == entry_id:
            watch.look(box)
    return async_dispatcher_connect(hass, signal(entry_id), watch.changed)


class Watch:
    """Follows the active session of a box, and runs an action."""

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
        self._progress: Progress | None = None

    @callback
    def look(self, box: Box) -> None:
        """Begin with the present state: the time before it is unknown."""
        self._progress = None if box.active is None else Progress(box.active.state)

    @callback
    def changed(self, box: Box, change: Change, _: State | None) -> None:
        """Take a change of the box."""
        if change is Change.ANNOUNCEMENT:
            if self._type == ANNOUNCEMENT:
                self._run(box)
        elif change is Change.AVAILABILITY or self._progress is None:
            # Nothing is known about the time without a connection.
            self.look(box)
        elif change in (Change.STATE, Change.SESSIONS) and box.active is not None:
            if self._type in self._progress.take(box.active.state):
                self._run(box)

    @callback
    def _run(self, box: Box) -> None:
        state = None if box.active is None else box.active.state
        item = None if state is None else state.item
        facts = {
            "description": f"{box.entry.title}: {self._type}",
            "session": None if state is None else state.session,
            "title": None if item is None else item.title,
            "artist": None if item is None else item.artist,
        }
        self._hass.async_run_hass_job(self._job, {"trigger": {**self._data, **facts}})
