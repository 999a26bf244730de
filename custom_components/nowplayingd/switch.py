"""The switch that likes the item."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from homeassistant.components.switch import SwitchEntity, SwitchEntityDescription
from homeassistant.config_entries import ConfigEntry
from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers.entity_platform import AddEntitiesCallback

from .data import box_of
from .descriptions import Setting, SettingEntity, allows

PARALLEL_UPDATES = 0


@dataclass(frozen=True, kw_only=True)
class BoxSwitchDescription(SwitchEntityDescription):
    """A switch, and its setting."""

    setting: Setting


SWITCHES = (
    BoxSwitchDescription(
        key="like",
        translation_key="like",
        setting=Setting(
            value=lambda box, session: session.state.item is not None and session.state.item.is_liked,
            change=lambda box, session, value: ("like", {"active": value}),
            holds=allows("like"),
        ),
    ),
)


async def async_setup_entry(hass: HomeAssistant, entry: ConfigEntry, async_add_entities: AddEntitiesCallback) -> None:
    """Add the switches of a box."""
    box = box_of(entry)
    async_add_entities(BoxSwitch(box, one, one.setting) for one in SWITCHES)


class BoxSwitch(SettingEntity, SwitchEntity):
    """A switch of the active session."""

    entity_description: BoxSwitchDescription

    @callback
    def show_value(self, value: bool) -> None:
        """Show the value."""
        self._attr_is_on = value

    async def async_turn_on(self, **kwargs: Any) -> None:
        """Turn it on."""
        await self.change(True)

    async def async_turn_off(self, **kwargs: Any) -> None:
        """Turn it off."""
        await self.change(False)
