"""Puts media into the queue of a session: things of the library, addresses and media sources of Home Assistant."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from homeassistant.components import media_source
from homeassistant.components.media_player import MediaPlayerEnqueue, async_process_play_media_url
from homeassistant.core import HomeAssistant
from homeassistant.exceptions import HomeAssistantError, ServiceValidationError

from .client.values import mapping, objects, text, whole
from .const import DOMAIN
from .entity import BoxEntity
from .media_id import SCHEME, MediaId

# Seconds in which a large folder is added.
ADD_TIMEOUT = 60.0
PAGE = 10_000

# Paths of Home Assistant itself; all others are files of the box.
_OWN_PATHS = ("/api/", "/local/")

# Ways to enqueue that play the added items next.
_NEXT = (MediaPlayerEnqueue.NEXT, MediaPlayerEnqueue.PLAY)
# Ways to enqueue that play them now.
_NOW = (MediaPlayerEnqueue.PLAY, MediaPlayerEnqueue.REPLACE)


def unresolvable(media_id: str, reason: str) -> HomeAssistantError:
    """Return the error of a media source that has no such media."""
    return HomeAssistantError(
        f"{media_id} is not available: {reason}",
        translation_domain=DOMAIN,
        translation_key="unresolvable",
        translation_placeholders={"media": media_id, "reason": reason},
    )


async def resolve_source(hass: HomeAssistant, media_id: str, entity_id: str) -> media_source.PlayMedia:
    """Return the media that a media source of Home Assistant has."""
    try:
        return await media_source.async_resolve_media(hass, media_id, entity_id)
    except media_source.Unresolvable as error:
        raise unresolvable(media_id, str(error)) from error


async def resolve(hass: HomeAssistant, media_id: str, entity_id: str) -> str:
    """Return the address at which the box finds media; a media source of Home Assistant gets an address of its own."""
    if media_source.is_media_source_id(media_id):
        media_id = (await resolve_source(hass, media_id, entity_id)).url
    elif media_id.startswith("/") and not media_id.startswith(_OWN_PATHS):
        # A file of the box.
        return media_id
    found: str = async_process_play_media_url(hass, media_id)
    return found


async def play(
    player: BoxEntity, media_id: str, enqueue: MediaPlayerEnqueue | None, extra: Mapping[str, Any] | None
) -> dict[str, Any]:
    """Add media to the queue, in the place of it unless `enqueue` says otherwise. Returns the number of items.

    The items that were there are removed when the new ones are known to be playable.
    """
    enqueue = enqueue or MediaPlayerEnqueue.REPLACE
    method, parameters = await _addition(player, media_id, extra or {})
    place = {"next": True} if enqueue in _NEXT else {}
    answer = mapping(await player.call(method, {**parameters, **place}, timeout=ADD_TIMEOUT))
    added = _ids(answer)
    if enqueue in _NOW and added:
        try:
            await player.call("play", {"itemId": added[0]}, timeout=ADD_TIMEOUT)
        except HomeAssistantError:
            # The queue is unchanged.
            await _remove(player, added)
            raise
    if enqueue is MediaPlayerEnqueue.REPLACE and added:
        await _remove_others(player, added)
    return {"count": len(added), "missing": whole(answer.get("missing"), 0) or 0}


async def _addition(player: BoxEntity, media_id: str, extra: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """Return the method and the parameters that add media."""
    if media_id.startswith(SCHEME):
        thing = MediaId.read(media_id)
        addition = None if thing is None else thing.addition
        if addition is None:
            raise ServiceValidationError(
                f"{media_id} cannot be played",
                translation_domain=DOMAIN,
                translation_key="not_playable",
                translation_placeholders={"media": media_id},
            )
        return "library.add", addition
    uri = await resolve(player.hass, media_id, player.entity_id)
    return "queue.add", {"items": [{"uri": uri, **_metadata(extra)} if _metadata(extra) else uri]}


def _metadata(extra: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of an item that a caller gave, as the integration of Google Cast takes them."""
    given = {**mapping(extra.get("metadata")), **extra}
    fields = {"title": "title", "artist": "artist", "albumName": "albumTitle", "album": "albumTitle", "thumb": "artworkUrl"}
    return {field: words for key, field in fields.items() if (words := text(given.get(key), 1024)) is not None}


def _ids(answer: Mapping[str, Any]) -> Sequence[int]:
    """Return the ids of the items that were added, in their order; those of a long addition follow each other."""
    first, count = whole(answer.get("firstId"), 1), whole(answer.get("count"), 0, 10**6)
    if first is not None and count is not None:
        return range(first, first + count)
    ids = answer.get("ids")
    return [one for one in ids if whole(one, 1) is not None] if isinstance(ids, list) else []


async def _remove(player: BoxEntity, ids: Sequence[int]) -> None:
    """Remove items."""
    for start in range(0, len(ids), PAGE):
        await player.call("queue.remove", {"ids": list(ids[start : start + PAGE])}, timeout=ADD_TIMEOUT)


async def _remove_others(player: BoxEntity, ids: Sequence[int]) -> None:
    """Remove all items but these."""
    kept = ids if isinstance(ids, range) else set(ids)
    offset = 0
    while True:
        page = mapping(await player.call("queue.list", {"fields": ["id"], "offset": offset, "limit": PAGE}))
        found = [one for row in objects(page.get("items")) if (one := whole(row.get("id"), 1)) is not None]
        others = [one for one in found if one not in kept]
        if others:
            await _remove(player, others)
        offset += len(found) - len(others)
        if not found or page.get("next") is None:
            return
