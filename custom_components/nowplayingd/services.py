"""Services of the integration, for players as their targets. Each returns the answer of the box."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
import functools
from typing import Any

import voluptuous as vol

from homeassistant.components.media_player import DOMAIN as MEDIA_PLAYER, MediaPlayerEnqueue
from homeassistant.core import HomeAssistant, ServiceCall, ServiceResponse, SupportsResponse, callback
from homeassistant.exceptions import HomeAssistantError, ServiceValidationError
from homeassistant.helpers import config_validation as cv, service
from homeassistant.helpers.entity import Entity
from homeassistant.helpers.entity_platform import async_get_platforms

from . import announcing, playing
from .client.values import mapping, number, whole
from .const import DOMAIN, POLICIES
from .entity import BoxEntity
from .media_id import MediaId

_SECONDS = vol.All(vol.Coerce(float), vol.Range(0, 3600))

SCHEMAS: dict[str, dict[Any, Any]] = {
    "announce": {
        vol.Exclusive("message", "sound"): cv.string,
        vol.Exclusive("media_id", "sound"): cv.string,
        vol.Optional("engine"): cv.string,
        vol.Optional("language"): cv.string,
        vol.Optional("policy"): vol.In(POLICIES),
        vol.Optional("duck_to"): vol.All(vol.Coerce(float), vol.Range(-96, 0)),
        vol.Optional("volume"): vol.All(vol.Coerce(float), vol.Range(0, 1)),
        vol.Optional("priority"): vol.All(vol.Coerce(int), vol.Range(0, 100)),
    },
    "play_list": {
        vol.Required("name"): cv.string,
        vol.Optional("enqueue", default=MediaPlayerEnqueue.REPLACE): vol.Coerce(MediaPlayerEnqueue),
        vol.Optional("shuffle"): cv.boolean,
    },
    "sleep": {
        vol.Exclusive("minutes", "end"): vol.All(vol.Coerce(float), vol.Range(0, 10080)),
        vol.Exclusive("end_of_item", "end"): cv.boolean,
        vol.Optional("fade", default=20): _SECONDS,
    },
    "publish": {
        vol.Optional("title"): cv.string,
        vol.Optional("artist"): cv.string,
        vol.Optional("album"): cv.string,
        vol.Optional("picture"): cv.url,
    },
}


@callback
def register_services(hass: HomeAssistant) -> None:
    """Register all services."""
    register = getattr(service, "async_register_platform_entity_service", None)
    for name, schema in SCHEMAS.items():
        method = f"async_service_{name}"
        if register is not None:
            register(
                hass,
                DOMAIN,
                name,
                entity_domain=MEDIA_PLAYER,
                func=method,
                schema=schema,
                supports_response=SupportsResponse.OPTIONAL,
            )
        else:
            hass.services.async_register(
                DOMAIN,
                name,
                functools.partial(_call, hass, method),
                cv.make_entity_service_schema(schema),
                SupportsResponse.OPTIONAL,
            )


async def _call(hass: HomeAssistant, method: str, call: ServiceCall) -> ServiceResponse:
    """Call a method of the target players, for versions of Home Assistant without a helper for it (before 2025.9)."""
    players: dict[str, Entity] = {}
    for platform in async_get_platforms(hass, DOMAIN):
        if platform.domain == MEDIA_PLAYER:
            players |= platform.entities
    answers: Mapping[str, Any] | None = await service.entity_service_call(hass, players, method, call)
    return None if answers is None else dict(answers)


def _invalid(key: str, words: str) -> ServiceValidationError:
    return ServiceValidationError(words, translation_domain=DOMAIN, translation_key=key)


class ServiceMethods(BoxEntity):
    """The services as methods of a player."""

    async def async_service_announce(
        self,
        message: str | None = None,
        media_id: str | None = None,
        engine: str | None = None,
        language: str | None = None,
        **parameters: Any,
    ) -> dict[str, Any]:
        """Speak a message, or play media, over the playback."""
        if message is not None:
            media_id = _speech(self.hass, message, engine, language)
        if media_id is None:
            raise _invalid("no_sound", "an announcement needs a message or a media id")
        return await announcing.announce(self, media_id, parameters)

    async def async_service_play_list(
        self, name: str, enqueue: MediaPlayerEnqueue, shuffle: bool | None = None
    ) -> dict[str, Any]:
        """Play a saved list."""
        if shuffle is not None:
            await self.call("changeShuffleMode", {"mode": "items" if shuffle else "off"})
        return await playing.play(self, str(MediaId("list", (name,))), enqueue, None)

    async def async_service_sleep(
        self, fade: float, minutes: float | None = None, end_of_item: bool = False
    ) -> dict[str, Any]:
        """Set the sleep timer; without minutes and without an end it is cancelled."""
        parameters: dict[str, Any] = {}
        if end_of_item:
            parameters = {"endOf": "item", "fade": fade}
        elif minutes:
            parameters = {"after": minutes * 60, "fade": fade}
        answer = mapping(await self.call("sleep.set", parameters))
        sleep = mapping(answer.get("sleep"))
        ends = number(sleep.get("endsMonotonic"), 0)
        wall = None if ends is None else self.box.wall(ends)
        return {
            "ends": None if wall is None else datetime.fromtimestamp(round(wall), UTC).isoformat(),
            "end_of_item": sleep.get("endOf") == "item",
        }

    async def async_service_publish(self, **fields: str) -> dict[str, Any]:
        """Show other words and another picture for the current item, such as those of a radio programme."""
        item = self.shown.item if self.shown else None
        if item is None or item.id is None:
            raise _invalid("no_item", "there is no current item")
        if not fields:
            raise _invalid("no_fields", "there is nothing to publish: give a title, an artist, an album or a picture")
        names = {"album": "albumTitle", "picture": "artworkUrl"}
        update = {names.get(field, field): value for field, value in fields.items()}
        answer = mapping(await self.call("item.update", {"id": item.id, **update}))
        return {"version": whole(answer.get("version")) or 0}


def _speech(hass: HomeAssistant, message: str, engine: str | None, language: str | None) -> str:
    """Return the name of a speech; the engine makes it when it is asked for."""
    announcing.require_speech(hass)
    from homeassistant.components import tts

    make: Callable[..., str] = tts.generate_media_source_id
    try:
        return make(hass, message, engine, language)
    except (HomeAssistantError, KeyError, ValueError) as error:
        raise announcing.no_speech(str(error)) from error
