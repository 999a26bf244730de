"""Stations: the addresses in the saved lists, and in the playlists of the library."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote, urlsplit

from .client.values import mapping, objects, token
from .entity import BoxEntity

MOST_LISTS = 1000
# Lists that are searched for stations, and rows of each.
_SEARCHED_LISTS = 100
_ROWS = 1000


def is_station(uri: str) -> bool:
    """Return True for an address in a network."""
    return uri.startswith(("http://", "https://"))


def name_of(uri: str) -> str:
    """Return a name for a file or an address without a title. It contains no password of an address."""
    parts = urlsplit(uri)
    path = unquote(parts.path)
    return f"{parts.hostname or ''}{path}".rstrip("/") if is_station(uri) else path.rpartition("/")[2]


async def names_of_lists(player: BoxEntity) -> list[str]:
    """Return the names of all lists."""
    answer = mapping(await player.call_box("lists.list"))
    return [name for row in objects(answer.get("lists"), MOST_LISTS) if (name := token(row.get("name")))]


async def stations(player: BoxEntity) -> list[Mapping[str, Any]]:
    """Return the rows of all stations, each address once."""

    async def rows(name: str) -> list[Mapping[str, Any]]:
        answer = await player.call_box("lists.get", {"name": name, "fields": ["uri", "title"], "limit": _ROWS})
        return objects(mapping(answer).get("rows"), _ROWS)

    names = (await names_of_lists(player))[:_SEARCHED_LISTS]
    found: dict[str, Mapping[str, Any]] = {}
    for part in await asyncio.gather(*(rows(name) for name in names)):
        for row in part:
            if (uri := token(row.get("uri"))) is not None and is_station(uri):
                found.setdefault(uri, row)
    return list(found.values())
