"""Names of things in the library of the box, as the media browser passes them around."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, unquote

SCHEME = "nowplaying://"
LONGEST = 8192

ALBUM_ORDER = ["discNumber", "trackNumber"]
ARTIST_ORDER = ["date", "album", *ALBUM_ORDER]

# The number of parts after the name of each kind.
KINDS = {
    "": 0,
    "artists": 0,
    "albums": 0,
    "genres": 0,
    "lists": 0,
    "stations": 0,
    "folders": 0,
    "artist": 1,
    "genre": 1,
    "album": 2,
    "list": 1,
    "folder": 1,
    "track": 1,
    "station": 1,
}


@dataclass(frozen=True, slots=True)
class MediaId:
    """A thing in the library: its kind, and the parts of its name."""

    kind: str
    parts: tuple[str, ...] = ()

    def __str__(self) -> str:
        """Return the text that `read` reads."""
        return SCHEME + "/".join((self.kind, *(quote(part, safe="") for part in self.parts)))

    @classmethod
    def read(cls, value: str) -> MediaId | None:
        """Read a text; None if it names no thing in the library."""
        if not value.startswith(SCHEME) or len(value) > LONGEST:
            return None
        kind, *parts = value.removeprefix(SCHEME).split("/")
        if KINDS.get(kind) != len(parts):
            return None
        return cls(kind, tuple(unquote(part) for part in parts))

    @property
    def filter(self) -> dict[str, Any] | None:
        """The filter of nowplaying-library-protocol(7) for its tracks; None if it is no set of tracks by tags."""
        match self.kind, self.parts:
            case "artist", (name,):
                return {"artist": {"is": name}}
            case "genre", (name,):
                return {"genre": {"is": name}}
            case "album", (name, ""):
                return {"all": [{"album": {"is": name}}, {"albumArtist": {"missing": True}}]}
            case "album", (name, artist):
                return {"all": [{"album": {"is": name}}, {"albumArtist": {"is": artist}}]}
        return None

    @property
    def addition(self) -> dict[str, Any] | None:
        """The parameters of `library.add` that add it to the queue; None if it can only be opened."""
        match self.kind, self.parts:
            case ("artist" | "genre"), _:
                return {"filter": self.filter, "sort": ARTIST_ORDER}
            case "album", _:
                return {"filter": self.filter, "sort": ALBUM_ORDER}
            case "list", (name,):
                return {"list": name}
            case ("folder" | "track" | "station"), (place,):
                return {"uris": [place]}
        return None
