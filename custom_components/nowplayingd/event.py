"""The key events of the box as an event entity."""

from __future__ import annotations

from homeassistant.components.event import EventEntity, EventEntityDescription
from homeassistant.config_entries import ConfigEntry
from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers.entity_platform import AddEntitiesCallback

from .client import State
from .const import ACTIVE
from .coordinator import Box, Change
from .data import box_of
from .entity import BoxEntity

PARALLEL_UPDATES = 0

# The key events of nowplayingd-protocol(7), without those of the clock. Home Assistant's words have no hyphens.
EVENTS: dict[str, str] = {
    cause: cause.replace("-", "_")
    for cause in (
        "play pause stop seek rate track metadata feedback chapter ad-began ad-ended stall unstall interruption-began "
        "interruption-ended route outputs volume mode queue commands session sleep error"
    ).split()
}
ANNOUNCEMENT = "announcement"


async def async_setup_entry(hass: HomeAssistant, entry: ConfigEntry, async_add_entities: AddEntitiesCallback) -> None:
    """Add the event entity of a box."""
    async_add_entities([BoxEvent(box_of(entry))])


class BoxEvent(BoxEntity, EventEntity):
    """The key events of the active session, each with its cause, reason and originator."""

    entity_description = EventEntityDescription(
        key="key_event", translation_key="key_event", event_types=[*EVENTS.values(), ANNOUNCEMENT]
    )

    def __init__(self, box: Box) -> None:
        """Make the entity."""
        super().__init__(box, "key_event")

    @callback
    def _changed(self, change: Change, state: State | None) -> None:
        """Show an event of the active session, and the ends of this client's announcements."""
        if change is Change.ANNOUNCEMENT:
            self._trigger_event(ANNOUNCEMENT, {"session": self.box.active_name or ACTIVE})
            self.async_write_ha_state()
        elif change is Change.STATE and state is not None and state.session == self.box.active_name:
            # A client that was slow gets several causes with one state.
            for cause in state.causes:
                if (word := EVENTS.get(cause)) is not None:
                    self._trigger_event(word, _facts(state))
                    self.async_write_ha_state()
        elif change in (Change.AVAILABILITY, Change.SESSIONS):
            self._update()
            self.async_write_ha_state()


def _facts(state: State) -> dict[str, str | None]:
    return {
        "session": state.session,
        "state": state.state,
        "reason": state.reason,
        "by": state.by,
        "title": state.item.title if state.item else None,
        "artist": state.item.artist if state.item else None,
    }
