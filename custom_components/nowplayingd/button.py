"""Buttons of the sleep timer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from homeassistant.components.button import ButtonEntity, ButtonEntityDescription
from homeassistant.config_entries import ConfigEntry
from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers.entity_platform import AddEntitiesCallback

from .data import box_of
from .descriptions import DescribedEntity, of_local
from .session import Session

PARALLEL_UPDATES = 0


@dataclass(frozen=True, kw_only=True)
class BoxButtonDescription(ButtonEntityDescription):
    """A button, and the call that it makes."""

    method: str
    parameters: dict[str, Any]


BUTTONS = (
    BoxButtonDescription(
        key="sleep_at_end", translation_key="sleep_at_end", method="sleep.set", parameters={"endOf": "item"}
    ),
    BoxButtonDescription(key="sleep_cancel", translation_key="sleep_cancel", method="sleep.set", parameters={}),
)


async def async_setup_entry(hass: HomeAssistant, entry: ConfigEntry, async_add_entities: AddEntitiesCallback) -> None:
    """Add the buttons of a box."""
    box = box_of(entry)
    async_add_entities(BoxButton(box, description) for description in BUTTONS)


class BoxButton(DescribedEntity, ButtonEntity):
    """A button for the active session."""

    entity_description: BoxButtonDescription

    @callback
    def show(self, session: Session) -> None:
        """The box has to play the session itself."""
        self._attr_available = of_local(self.box, session)

    async def async_press(self) -> None:
        """Make the call."""
        await self.call(self.entity_description.method, self.entity_description.parameters)
