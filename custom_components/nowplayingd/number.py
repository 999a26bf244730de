"""Numbers: sleep timer, crossfade, delay of the output, rating."""

from __future__ import annotations

from dataclasses import dataclass
import math

from homeassistant.components.number import NumberEntity, NumberEntityDescription, NumberMode
from homeassistant.config_entries import ConfigEntry
from homeassistant.const import EntityCategory, UnitOfTime
from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers.entity_platform import AddEntitiesCallback

from .coordinator import Box
from .data import box_of
from .descriptions import Setting, SettingEntity, allows
from .session import Session

PARALLEL_UPDATES = 0


@dataclass(frozen=True, kw_only=True)
class BoxNumberDescription(NumberEntityDescription):
    """A number, and its setting."""

    setting: Setting


def _sleep_minutes(box: Box, session: Session) -> float:
    """Return the minutes until the end at this moment. They are computed at events alone, and do not count down."""
    ends, now = session.state.sleep_ends, box.clock.now()
    return 0 if ends is None or now is None else max(0, math.ceil((ends - now) / 60 - 0.01))


NUMBERS = (
    BoxNumberDescription(
        key="sleep",
        translation_key="sleep",
        native_unit_of_measurement=UnitOfTime.MINUTES,
        native_min_value=0,
        native_max_value=720,
        native_step=1,
        mode=NumberMode.BOX,
        setting=Setting(
            value=_sleep_minutes, change=lambda box, session, value: ("sleep.set", {"after": value * 60, "fade": 20})
        ),
    ),
    BoxNumberDescription(
        key="crossfade",
        translation_key="crossfade",
        entity_category=EntityCategory.CONFIG,
        native_unit_of_measurement=UnitOfTime.SECONDS,
        native_min_value=0,
        native_max_value=30,
        native_step=0.5,
        setting=Setting(
            value=lambda box, session: session.state.crossfade,
            change=lambda box, session, value: ("crossfade.set", {"seconds": value}),
        ),
    ),
    BoxNumberDescription(
        key="delay",
        translation_key="delay",
        entity_category=EntityCategory.CONFIG,
        native_unit_of_measurement=UnitOfTime.SECONDS,
        native_min_value=0,
        native_max_value=10,
        native_step=0.01,
        mode=NumberMode.BOX,
        setting=Setting(
            value=lambda box, session: session.state.output_delay,
            change=lambda box, session, value: ("output.delay.set", {"name": session.state.output, "delay": value}),
            holds=lambda box, session: box.controls and session.state.output is not None,
            has_session=False,
        ),
    ),
    BoxNumberDescription(
        key="rating",
        translation_key="rating",
        native_min_value=0,
        native_max_value=5,
        native_step=0.5,
        setting=Setting(
            value=lambda box, session: session.state.item.rating if session.state.item else None,
            change=lambda box, session, value: ("rating", {"rating": value}),
            holds=allows("rating"),
        ),
    ),
)


async def async_setup_entry(hass: HomeAssistant, entry: ConfigEntry, async_add_entities: AddEntitiesCallback) -> None:
    """Add the numbers of a box."""
    box = box_of(entry)
    async_add_entities(BoxNumber(box, one, one.setting) for one in NUMBERS)


class BoxNumber(SettingEntity, NumberEntity):
    """A number of the active session."""

    entity_description: BoxNumberDescription

    @callback
    def show_value(self, value: float | None) -> None:
        """Show the value."""
        self._attr_native_value = value

    async def async_set_native_value(self, value: float) -> None:
        """Change the setting."""
        await self.change(value)
