"""The switch that likes the item."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from homeassistant.components.switch import SwitchEntity, SwitchEntityDescription
from homeassistant.config_entries import ConfigEntry
from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers.entity_platform import AddEntitiesCallback

from .coordinator import Box
from .data import box_of
from .descriptions import Setting, allows
from .entity import BoxEntity

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
    async_add_entities(BoxSwitch(box, description) for description in SWITCHES)


class BoxSwitch(BoxEntity, SwitchEntity):
    """A switch of the active session."""

    entity_description: BoxSwitchDescription

    def __init__(self, box: Box, description: BoxSwitchDescription) -> None:
        """Make a switch by its description."""
        super().__init__(box, description.key)
        self.entity_description = description

    @callback
    def update_attributes(self) -> None:
        """Take the value of the active session."""
        session, setting = self.session, self.entity_description.setting
        assert session is not None
        self._attr_available = setting.holds(self.box, session)
        self._attr_is_on = setting.value(self.box, session)

    async def async_turn_on(self, **kwargs: Any) -> None:
        """Turn it on."""
        await self._change(True)

    async def async_turn_off(self, **kwargs: Any) -> None:
        """Turn it off."""
        await self._change(False)

    async def _change(self, value: bool) -> None:
        session = self.session
        assert session is not None
        await self.call(*self.entity_description.setting.change(self.box, session, value))
