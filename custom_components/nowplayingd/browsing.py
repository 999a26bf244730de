"""The library of the box in Home Assistant's media browser."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from homeassistant.components import media_source
from homeassistant.components.media_player import BrowseError, BrowseMedia, MediaClass, MediaType
from homeassistant.exceptions import HomeAssistantError

from .client import BoxError
from .client.values import mapping, objects, text, token
from .const import DOMAIN, OPTION_SOURCES
from .entity import BoxEntity, failure
from .media_id import ALBUM_ORDER, MediaId
from .pictures import WITH_PICTURE
from .stations import is_station, name_of, names_of_lists, stations

Thumbnail = Callable[[MediaId], str | None]

PAGE = 1000
# More rows than this are of no use in a browser; its search finds them.
MOST_ROWS = 5000
TRACK_FIELDS = ["uri", "title", "artist", "trackNumber"]

# Kind of a thing: class, type and class of its children.
KINDS: dict[str, tuple[MediaClass, MediaType | str, MediaClass]] = {
    "": (MediaClass.DIRECTORY, "library", MediaClass.DIRECTORY),
    "artists": (MediaClass.DIRECTORY, "artists", MediaClass.ARTIST),
    "albums": (MediaClass.DIRECTORY, "albums", MediaClass.ALBUM),
    "genres": (MediaClass.DIRECTORY, "genres", MediaClass.GENRE),
    "lists": (MediaClass.DIRECTORY, "lists", MediaClass.PLAYLIST),
    "stations": (MediaClass.DIRECTORY, "stations", MediaClass.MUSIC),
    "folders": (MediaClass.DIRECTORY, "folders", MediaClass.DIRECTORY),
    "artist": (MediaClass.ARTIST, MediaType.ARTIST, MediaClass.ALBUM),
    "album": (MediaClass.ALBUM, MediaType.ALBUM, MediaClass.TRACK),
    "genre": (MediaClass.GENRE, MediaType.GENRE, MediaClass.ALBUM),
    "list": (MediaClass.PLAYLIST, MediaType.PLAYLIST, MediaClass.TRACK),
    "folder": (MediaClass.DIRECTORY, "folder", MediaClass.DIRECTORY),
    "track": (MediaClass.TRACK, MediaType.TRACK, MediaClass.TRACK),
    "station": (MediaClass.MUSIC, MediaType.MUSIC, MediaClass.MUSIC),
}
SHELVES = {
    "artists": "Artists",
    "albums": "Albums",
    "genres": "Genres",
    "lists": "Lists",
    "stations": "Stations",
    "folders": "Folders",
}
_ENDS = {"track", "station"}


class Browser:
    """Opens things of the library."""

    def __init__(self, player: BoxEntity, thumbnail: Thumbnail) -> None:
        """Browse for a player; `thumbnail` makes the address of a picture."""
        self._player, self._thumbnail = player, thumbnail

    async def open(self, media_id: str | None) -> BrowseMedia:
        """Open a thing: of the library, or of a media source of Home Assistant."""
        if media_id and media_source.is_media_source_id(media_id):
            source: BrowseMedia = await self._sources(media_id)
            return source
        thing = MediaId("") if not media_id else MediaId.read(media_id)
        if thing is None or thing.kind in _ENDS:
            raise BrowseError(
                f"{text(media_id)} cannot be opened",
                translation_domain=DOMAIN,
                translation_key="not_openable",
                translation_placeholders={"media": text(media_id) or ""},
            )
        try:
            children = await self._children(thing)
        except HomeAssistantError as error:
            raise BrowseError(
                str(error),
                translation_domain=error.translation_domain,
                translation_key=error.translation_key,
                translation_placeholders=error.translation_placeholders,
            ) from error
        title = self._player.box.entry.title if thing.kind == "" else SHELVES.get(thing.kind) or thing.parts[0]
        found = self.entry(thing, title)
        found.children = children
        return found

    def entry(self, thing: MediaId, title: str, uri: str | None = None) -> BrowseMedia:
        """Return the row of a thing."""
        kind, media_type, children = KINDS[thing.kind]
        return BrowseMedia(
            media_class=kind,
            media_content_id=uri or str(thing),
            media_content_type=media_type,
            title=text(title) or "–",
            can_play=thing.addition is not None,
            can_expand=thing.kind not in _ENDS,
            children_media_class=children,
            thumbnail=self._thumbnail(thing) if thing.kind in WITH_PICTURE else None,
        )

    def track(self, row: Mapping[str, Any]) -> BrowseMedia | None:
        """Return the row of a track, or of a station; None if it cannot be named."""
        uri = token(row.get("uri"))
        if uri is None:
            return None
        kind = "station" if is_station(uri) else "track"
        title = text(row.get("title")) or text(row.get("name")) or name_of(uri)
        return self.entry(MediaId(kind, (uri,)), title, uri)

    async def _children(self, thing: MediaId) -> list[BrowseMedia]:
        match thing.kind:
            case "":
                return await self._shelves()
            case "artists" | "genres":
                tag = thing.kind.removesuffix("s")
                rows = await self._rows("library.values", {"tag": tag})
                return [self.entry(MediaId(tag, (name,)), name) for row in rows if (name := token(row.get("value")))]
            case "albums" | "artist" | "genre":
                return await self._albums(thing.filter)
            case "album":
                rows = await self._rows(
                    "library.query", {"filter": thing.filter, "sort": ALBUM_ORDER, "fields": TRACK_FIELDS}
                )
                return self._tracks(rows)
            case "lists":
                return [self.entry(MediaId("list", (name,)), name) for name in await names_of_lists(self._player)]
            case "stations":
                return self._tracks(await stations(self._player))
            case "list":
                return self._tracks(await self._rows("lists.get", {"name": thing.parts[0], "fields": TRACK_FIELDS}))
        return await self._folder(thing.parts)

    async def _shelves(self) -> list[BrowseMedia]:
        try:
            await self._player.box.refresh_library()
        except BoxError as error:
            raise failure(error) from error
        shelves = (
            [self.entry(MediaId(kind), title) for kind, title in SHELVES.items()] if self._player.box.has_library else []
        )
        if self._player.box.entry.options.get(OPTION_SOURCES, True):
            try:
                found = await self._sources(None)
            except BrowseError:
                return shelves
            # One source is shown as its content, several as a list of them.
            shelves += found.children if getattr(found, "domain", None) is None and found.children else [found]
        return shelves

    async def _sources(self, media_id: str | None) -> Any:
        return await media_source.async_browse_media(
            self._player.hass, media_id, content_filter=lambda item: item.media_content_type.startswith("audio/")
        )

    async def _albums(self, only: dict[str, Any] | None) -> list[BrowseMedia]:
        rows = await self._rows(
            "library.values", {"tag": "album", "group": ["albumArtist"], **({} if only is None else {"filter": only})}
        )
        return [
            self.entry(MediaId("album", (name, token(mapping(row.get("group")).get("albumArtist")) or "")), name)
            for row in rows
            if (name := token(row.get("value")))
        ]

    async def _folder(self, parts: tuple[str, ...]) -> list[BrowseMedia]:
        rows = await self._rows("library.browse", {"fields": TRACK_FIELDS, **({"path": parts[0]} if parts else {})})
        found: list[BrowseMedia] = []
        for row in rows:
            path = token(row.get("path"))
            if row.get("kind") == "folder" and path is not None:
                found.append(self.entry(MediaId("folder", (path,)), text(row.get("name")) or path))
            elif (track := self.track(row)) is not None:
                found.append(track)
        return found

    def _tracks(self, rows: list[Mapping[str, Any]]) -> list[BrowseMedia]:
        return [track for row in rows if (track := self.track(row)) is not None]

    async def _rows(self, method: str, parameters: dict[str, Any]) -> list[Mapping[str, Any]]:
        """Return the rows of all pages, at most MOST_ROWS."""
        rows: list[Mapping[str, Any]] = []
        # The pages of a list go by their offset, those of a question by a text.
        place = "offset" if method == "lists.get" else "after"
        more: dict[str, Any] = {}
        while True:
            answer = mapping(await self._player.call_box(method, {**parameters, "limit": PAGE, **more}))
            found = objects(answer.get("rows"), PAGE)
            rows += found
            after = answer.get("next")
            if after is None or not found or len(rows) >= MOST_ROWS:
                return rows[:MOST_ROWS]
            more = {place: after}
