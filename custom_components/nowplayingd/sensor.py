"""Sensors, all of them off by default: the player has most of this."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime

from homeassistant.components.sensor import SensorDeviceClass, SensorEntity, SensorEntityDescription
from homeassistant.config_entries import ConfigEntry
from homeassistant.const import EntityCategory
from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers.entity_platform import AddEntitiesCallback
from homeassistant.helpers.typing import StateType

from .coordinator import Box
from .data import box_of
from .descriptions import DescribedEntity
from .session import Session

PARALLEL_UPDATES = 0


@dataclass(frozen=True, kw_only=True)
class BoxSensorDescription(SensorEntityDescription):
    """A sensor, and its value."""

    value: Callable[[Box, Session], StateType | datetime]


def _sleep_ends(box: Box, session: Session) -> datetime | None:
    """Return the end of the sleep timer on the clock of this machine, to the second."""
    ends = session.state.sleep_ends
    wall = None if ends is None else box.wall(ends)
    return None if wall is None else datetime.fromtimestamp(round(wall), UTC)


SENSORS = (
    BoxSensorDescription(
        key="sleep_ends", translation_key="sleep_ends", device_class=SensorDeviceClass.TIMESTAMP, value=_sleep_ends
    ),
    BoxSensorDescription(key="cause", translation_key="cause", value=lambda box, session: session.state.cause),
    BoxSensorDescription(key="session", translation_key="session", value=lambda box, session: session.name),
    BoxSensorDescription(
        key="queue_size", translation_key="queue_size", value=lambda box, session: session.state.queue_count
    ),
    BoxSensorDescription(
        key="output",
        translation_key="output",
        entity_category=EntityCategory.DIAGNOSTIC,
        value=lambda box, session: session.state.output_description,
    ),
    BoxSensorDescription(
        key="error",
        translation_key="error",
        entity_category=EntityCategory.DIAGNOSTIC,
        value=lambda box, session: session.state.error,
    ),
)


async def async_setup_entry(hass: HomeAssistant, entry: ConfigEntry, async_add_entities: AddEntitiesCallback) -> None:
    """Add the sensors of a box."""
    box = box_of(entry)
    async_add_entities(BoxSensor(box, description) for description in SENSORS)


class BoxSensor(DescribedEntity, SensorEntity):
    """A fact about the active session."""

    entity_description: BoxSensorDescription
    _attr_entity_registry_enabled_default = False

    @callback
    def show(self, session: Session) -> None:
        """Show the fact."""
        self._attr_native_value = self.entity_description.value(self.box, session)
