"""Media players: one for the active session, and one for each session by its name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
import time
from typing import Any

from homeassistant.components.media_player import (
    BrowseMedia,
    MediaPlayerDeviceClass,
    MediaPlayerEnqueue,
    MediaPlayerEntity,
    MediaPlayerState,
    MediaType,
    RepeatMode,
)
from homeassistant.config_entries import ConfigEntry
from homeassistant.core import CALLBACK_TYPE, HassJob, HomeAssistant, callback
from homeassistant.exceptions import ServiceValidationError
from homeassistant.helpers.entity_platform import AddEntitiesCallback
from homeassistant.helpers.event import async_call_later

from . import announcing, playing
from .browsing import Browser
from .client import Picture, State
from .client.values import text
from .compat import SearchMedia, SearchMediaQuery
from .const import ACTIVE, DOMAIN
from .coordinator import Box, Change
from .data import box_of
from .entity import BoxEntity, add_sessions
from .features import features
from .media_id import MediaId
from .pictures import picture
from .position import TOLERANCE, CardPosition
from .searching import search
from .services import ServiceMethods

PARALLEL_UPDATES = 0

VOLUME_STEP = 0.05
SOUND_MODES = ["off", "track", "album", "auto"]

STATES: dict[str, MediaPlayerState] = {
    "playing": MediaPlayerState.PLAYING,
    "stalled": MediaPlayerState.BUFFERING,
    "paused": MediaPlayerState.PAUSED,
    "interrupted": MediaPlayerState.PAUSED,
    "stopped": MediaPlayerState.IDLE,
}
TYPES: dict[str, MediaType] = {"podcast": MediaType.PODCAST, "video": MediaType.VIDEO}
REPEAT: dict[str, RepeatMode] = {"off": RepeatMode.OFF, "one": RepeatMode.ONE, "all": RepeatMode.ALL}

# Attributes, and their values in a state.
ATTRIBUTES: dict[str, Callable[[State], Any]] = {
    "state": lambda state: STATES[state.state],
    "volume_level": lambda state: state.volume,
    "is_volume_muted": lambda state: state.muted,
    "shuffle": lambda state: state.shuffle != "off",
    "repeat": lambda state: REPEAT.get(state.repeat),
    "sound_mode": lambda state: state.loudness if state.loudness in SOUND_MODES else None,
    "media_content_id": lambda state: state.item and state.item.uri,
    "media_content_type": lambda state: state.item and TYPES.get(state.item.media_type, MediaType.MUSIC),
    "media_duration": lambda state: state.duration,
    "media_title": lambda state: state.item and state.item.title,
    "media_artist": lambda state: state.item and state.item.artist,
    "media_album_name": lambda state: state.item and state.item.album,
    "media_album_artist": lambda state: state.item and state.item.album_artist,
    "media_track": lambda state: state.item and state.item.track,
    "media_series_title": lambda state: state.item and state.item.show,
    "media_image_hash": lambda state: state.item and state.item.picture,
}


async def async_setup_entry(hass: HomeAssistant, entry: ConfigEntry, async_add_entities: AddEntitiesCallback) -> None:
    """Add the players of a box."""
    box = box_of(entry)
    async_add_entities([BoxMediaPlayer(box, ACTIVE)])
    entry.async_on_unload(
        add_sessions(box, async_add_entities, lambda name: BoxMediaPlayer(box, f"session-{name}", name))
    )


class BoxMediaPlayer(ServiceMethods, MediaPlayerEntity):
    """A session of a box as a media player."""

    _attr_device_class = MediaPlayerDeviceClass.SPEAKER
    _attr_translation_key = "player"
    _attr_volume_step = VOLUME_STEP
    _attr_sound_mode_list = SOUND_MODES

    def __init__(self, box: Box, key: str, session: str | None = None) -> None:
        """Make a player. `session`: None follows the active session."""
        super().__init__(box, key, session)
        self._attr_name = None if session is None else text(session)
        # A box with one session has one player.
        self._attr_entity_registry_enabled_default = session is None
        self._card = CardPosition()
        self._timer: CALLBACK_TYPE | None = None
        self._picture: tuple[str, Picture] | None = None
        self._browser = Browser(self, self._thumbnail)

    # MARK: Attributes

    @callback
    def update_attributes(self) -> None:
        """Compute all attributes from the state of the session."""
        session = self.session
        assert session is not None
        state = session.state
        for name, value in ATTRIBUTES.items():
            setattr(self, f"_attr_{name}", value(state))
        self._attr_supported_features = features(self.box, session)
        descriptions = {output.name: output.description for output in self.box.outputs}
        self._attr_source_list = list(descriptions.values())
        self._attr_source = descriptions.get(state.output or "", state.output_description)
        self._attr_extra_state_attributes = {
            "session": session.name,
            "queue_index": state.queue_index,
            "queue_size": state.queue_count,
        }
        self._place()

    @callback
    def takes(self, change: Change, state: State | None) -> bool:
        """After a measurement of the clock, write the pair anew only if it is wrong."""
        if change is Change.CLOCK:
            return self.shown is not None and self._update_card(TOLERANCE)
        return super().takes(change, state)

    @callback
    def _update_card(self, tolerance: float | None = None) -> bool:
        """Bring the pair of the card up to date; returns True if it was replaced."""
        state, now = self.shown, self.box.clock.now()
        if state is None or state.item is None or now is None:
            self._card.clear()
            return False
        return self._card.update(
            state.anchor,
            state.duration,
            plays=STATES[state.state] is MediaPlayerState.PLAYING,
            now=now,
            wall=time.time(),
            **({} if tolerance is None else {"tolerance": tolerance}),
        )

    @callback
    def _place(self) -> None:
        """Set the attributes of the position, and the time at which they would be wrong."""
        self._update_card()
        self._attr_media_position = self._card.position  # type: ignore[assignment]
        self._attr_media_position_updated_at = self._card.updated_at
        self._stop_timer()
        state = self.shown
        wait = None if state is None or not state.item else self._card.next_update(state.anchor)
        if wait is not None:
            self._timer = async_call_later(self.hass, wait, HassJob(self._card_is_wrong, cancel_on_shutdown=True))

    @callback
    def _card_is_wrong(self, _: object) -> None:
        self._timer = None
        if self._attr_available:
            self._update_card(0.0)
            self._place()
            self.async_write_ha_state()

    @callback
    def _update(self) -> None:
        super()._update()
        if not self._attr_available:
            self._stop_timer()

    @callback
    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer()
            self._timer = None

    async def async_will_remove_from_hass(self) -> None:
        """Stop the timer."""
        self._stop_timer()

    # MARK: Pictures

    async def async_get_media_image(self) -> tuple[bytes | None, str | None]:
        """Return the picture of the item."""
        item = self.shown.item if self.shown else None
        if item is None or item.picture is None:
            return None, None
        if self._picture is None or self._picture[0] != item.picture:
            found = await self.box.http.picture(item.picture, item.picture_type, None)
            if found is None:
                return None, None
            self._picture = (item.picture, found)
        return self._picture[1].content, self._picture[1].type

    async def async_get_browse_image(
        self, media_content_type: str, media_content_id: str, media_image_id: str | None = None
    ) -> tuple[bytes | None, str | None]:
        """Return the picture of a thing in the library."""
        found = await picture(self, media_image_id or media_content_id)
        return (None, None) if found is None else (found.content, found.type)

    def _thumbnail(self, thing: MediaId) -> str | None:
        # The id is in the query: a path would be normalised on the way.
        return self.get_browse_image_url(thing.kind, "picture", str(thing))

    # MARK: Commands

    async def async_media_play(self) -> None:
        """Play."""
        await self.call("play")

    async def async_media_pause(self) -> None:
        """Pause."""
        await self.call("pause")

    async def async_media_stop(self) -> None:
        """Stop."""
        await self.call("stop")

    async def async_media_next_track(self) -> None:
        """Go to the next item."""
        await self.call("nextTrack")

    async def async_media_previous_track(self) -> None:
        """Go to the beginning of the item, or to the previous one."""
        await self.call("previousTrack")

    async def async_media_seek(self, position: float) -> None:
        """Seek in the item."""
        await self.call("changePlaybackPosition", {"position": position})

    async def async_set_volume_level(self, volume: float) -> None:
        """Set the volume."""
        await self.call("volume.set", {"volume": volume})

    async def async_volume_up(self) -> None:
        """Raise the volume by a step, from that which the box has at this moment."""
        await self.call("volume.set", {"step": self.volume_step})

    async def async_volume_down(self) -> None:
        """Lower the volume by a step."""
        await self.call("volume.set", {"step": -self.volume_step})

    async def async_mute_volume(self, mute: bool) -> None:
        """Mute or unmute."""
        await self.call("volume.set", {"muted": mute})

    async def async_set_shuffle(self, shuffle: bool) -> None:
        """Shuffle the items, or play them in their order."""
        await self.call("changeShuffleMode", {"mode": "items" if shuffle else "off"})

    async def async_set_repeat(self, repeat: RepeatMode) -> None:
        """Set the repeat mode."""
        await self.call("changeRepeatMode", {"mode": repeat.value})

    async def async_clear_playlist(self) -> None:
        """Remove all items."""
        await self.call("queue.clear")

    async def async_select_source(self, source: str) -> None:
        """Switch to an output, by its description or name."""
        for output in self.box.outputs:
            if source in (output.description, output.name):
                await self.call_box("output.select", {"name": output.name})
                return
        raise ServiceValidationError(
            f"there is no output {source}",
            translation_domain=DOMAIN,
            translation_key="no_output",
            translation_placeholders={"output": source},
        )

    async def async_select_sound_mode(self, sound_mode: str) -> None:
        """Set the loudness normalisation."""
        await self.call("loudness.set", {"mode": sound_mode})

    # MARK: Media

    async def async_play_media(
        self,
        media_type: MediaType | str,
        media_id: str,
        enqueue: MediaPlayerEnqueue | None = None,
        announce: bool | None = None,
        **kwargs: Any,
    ) -> None:
        """Play media, add them to the queue, or announce them."""
        extra: Mapping[str, Any] | None = kwargs.get("extra")
        if announce:
            await announcing.announce(self, media_id, extra)
        else:
            await playing.play(self, media_id, enqueue, extra)

    async def async_browse_media(
        self, media_content_type: MediaType | str | None = None, media_content_id: str | None = None
    ) -> BrowseMedia:
        """Open a thing of the media browser."""
        return await self._browser.open(media_content_id)

    async def async_search_media(self, query: SearchMediaQuery) -> SearchMedia:
        """Search the library."""
        return await search(self, self._browser, query)
