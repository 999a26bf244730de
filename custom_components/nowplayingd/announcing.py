"""Announcements over the playback. The bytes of text to speech go to the box: it needs no address of Home Assistant."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from homeassistant.components.media_source import URI_SCHEME, is_media_source_id
from homeassistant.core import HomeAssistant
from homeassistant.exceptions import HomeAssistantError, ServiceValidationError

from .client import BoxError
from .client.http import ANNOUNCE_TIMEOUT, LARGEST_SOUND
from .client.values import mapping, number
from .const import DOMAIN, OPTION_DUCK_TO, OPTION_POLICY, POLICIES
from .entity import BoxEntity, failure
from .playing import resolve, resolve_source, unresolvable

SPEECH = URI_SCHEME + "tts/"
# Words of the box for the policies.
_POLICIES = dict(zip(POLICIES, ("duck", "pause", "pauseSpoken", "mix"), strict=True))
# Names of parameters here and at the box.
_PARAMETERS = {"duck_to": "duckTo", "duckTo": "duckTo", "volume": "volume", "priority": "priority"}


def parameters(options: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, str | float]:
    """Return the parameters of an announcement: those of the call, else those of the options."""
    chosen = {key: options[key] for key in (OPTION_POLICY, OPTION_DUCK_TO) if key in options} | {**given}
    found: dict[str, str | float] = {}
    policy = chosen.get("policy")
    if isinstance(policy, str) and (word := _POLICIES.get(policy, policy)) in _POLICIES.values():
        found["policy"] = word
    for key, name in _PARAMETERS.items():
        if (value := number(chosen.get(key))) is not None:
            found[name] = value
    return found


async def announce(player: BoxEntity, media_id: str, extra: Mapping[str, Any] | None) -> dict[str, Any]:
    """Play media over the playback, and return the answer at its end."""
    chosen = parameters(player.box.entry.options, extra or {})
    box = player.box
    sound = await _sound(player, media_id)
    uri = None if sound is not None else await resolve(player.hass, media_id, player.entity_id)
    async with box.announcing:
        try:
            if sound is not None:
                answer = await box.http.announce(sound, chosen)
            else:
                answer = mapping(await box.call("announce", {"uri": uri, **chosen}, timeout=ANNOUNCE_TIMEOUT))
        except BoxError as error:
            raise failure(error) from error
    box.announced()
    return {"played": number(answer.get("seconds"), 0) or 0.0, "cut": answer.get("cut") is True}


async def _sound(player: BoxEntity, media_id: str) -> bytes | None:
    """Return the bytes of media that Home Assistant has itself; None if the box has to fetch them."""
    if media_id.startswith(SPEECH):
        return await _speech(player.hass, media_id)
    if not is_media_source_id(media_id):
        return None
    # Home Assistant 2025.7 and later name the file of a local source.
    path = getattr(await resolve_source(player.hass, media_id, player.entity_id), "path", None)
    if not isinstance(path, Path):
        return None
    try:
        sound: bytes = await player.hass.async_add_executor_job(_read, path)
    except OSError as error:
        raise unresolvable(media_id, str(error)) from error
    return sound


def _read(path: Path) -> bytes:
    """Return a file, or its beginning if it is too large to be uploaded."""
    with path.open("rb") as file:
        return file.read(LARGEST_SOUND + 1)


async def _speech(hass: HomeAssistant, media_id: str) -> bytes:
    """Return the bytes of a text to speech."""
    require_speech(hass)
    from homeassistant.components import tts

    try:
        _, sound = await tts.async_get_media_source_audio(hass, media_id)
    except (HomeAssistantError, RuntimeError, ValueError, KeyError) as error:
        raise no_speech(str(error)) from error
    if not sound:
        raise no_speech("the engine made no sound")
    found: bytes = sound
    return found


def require_speech(hass: HomeAssistant) -> None:
    """Raise an error if text to speech is not set up; its modules need not be installed then."""
    if "tts" not in hass.config.components:
        raise no_speech("text to speech is not set up")


def no_speech(reason: str) -> HomeAssistantError:
    """Return the error of a speech that could not be made."""
    return ServiceValidationError(
        f"no speech: {reason}",
        translation_domain=DOMAIN,
        translation_key="no_speech",
        translation_placeholders={"reason": reason},
    )
