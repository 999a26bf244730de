"""The pictures of things in the library."""

from __future__ import annotations

from typing import Any

from homeassistant.exceptions import HomeAssistantError

from .client import Picture
from .client.values import mapping, objects, text, token, whole
from .entity import BoxEntity
from .media_id import MediaId

SIZE = 300
# The kinds that have pictures: a track has its own, and the others have the picture of an album in them.
WITH_PICTURE = {"artist", "album", "genre", "list", "folder", "track"}
# Rows of a list that are looked at: those before may be stations.
_ROWS = 50


async def picture(player: BoxEntity, media_id: str) -> Picture | None:
    """Return the picture of a thing; None if it has none."""
    thing = MediaId.read(media_id)
    if thing is None or thing.kind not in WITH_PICTURE:
        return None
    try:
        place = await _place(player, thing)
        found = {} if place is None else mapping(await player.call_box("library.artwork", {"size": SIZE, **place}))
    except HomeAssistantError:
        return None
    name = token(found.get("id"), 128)
    return None if name is None else await player.box.http.picture(name, text(found.get("type"), 32), SIZE)


async def _place(player: BoxEntity, thing: MediaId) -> dict[str, Any] | None:
    """Return the parameters that name the picture of a thing; None if it has none."""
    match thing.kind, thing.parts:
        case "track", (uri,):
            return {"uri": uri}
        case "list", (name,):
            answer = await player.call_box("lists.get", {"name": name, "fields": ["albumId"], "limit": _ROWS})
        case "folder", (path,):
            question = {"filter": {"folder": {"is": path}}, "fields": ["albumId"], "limit": 1}
            answer = await player.call_box("library.query", question)
        case _:
            answer = await player.call_box("library.query", {"filter": thing.filter, "fields": ["albumId"], "limit": 1})
    albums = (whole(row.get("albumId"), 0) for row in objects(mapping(answer).get("rows"), _ROWS))
    return next(({"album": album} for album in albums if album is not None), None)
