"""The search of the library for Home Assistant's media browser."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from homeassistant.components.media_player import BrowseMedia, MediaClass

from .browsing import TRACK_FIELDS, Browser
from .client.values import mapping, objects, text, token
from .compat import SearchMedia, SearchMediaQuery
from .entity import BoxEntity
from .media_id import MediaId

LIMIT = 60
# Classes of Home Assistant and kinds of the library.
_CLASSES: dict[str, str] = {
    MediaClass.ARTIST: "artist",
    MediaClass.ALBUM: "album",
    MediaClass.TRACK: "track",
    MediaClass.MUSIC: "track",
    MediaClass.GENRE: "genre",
    MediaClass.DIRECTORY: "folder",
    MediaClass.PLAYLIST: "list",
}


async def search(player: BoxEntity, browser: Browser, query: SearchMediaQuery) -> SearchMedia:
    """Return the things whose names have these words, the best first."""
    parameters: dict[str, Any] = {"text": query.search_query, "limit": LIMIT, "fields": TRACK_FIELDS}
    wanted = [kind for one in query.media_filter_classes or () if (kind := _CLASSES.get(one))]
    if wanted:
        parameters["kinds"] = list(dict.fromkeys(wanted))
    rows = objects(mapping(await player.call_box("library.search", parameters)).get("rows"), LIMIT)
    return SearchMedia(result=[found for row in rows if (found := _row(browser, row)) is not None])


def _row(browser: Browser, row: Mapping[str, Any]) -> BrowseMedia | None:
    """Return the row of a hit; None for a kind that this version does not know."""
    name, kind = token(row.get("name")), row.get("kind")
    if kind == "track":
        return browser.track(row)
    if name is None:
        return None
    match kind:
        case "artist" | "genre" | "list":
            return browser.entry(MediaId(str(kind), (name,)), name)
        case "album":
            return browser.entry(MediaId("album", (name, token(row.get("artist")) or "")), name)
        case "folder":
            path = token(row.get("path")) or name
            return browser.entry(MediaId("folder", (path,)), text(name) or path)
    return None
