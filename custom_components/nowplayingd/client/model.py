"""States, commands and lists of the box, read from JSON that may hold anything."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .errors import NotABox
from .values import mapping, number, objects, text, texts, token, whole

LONGEST_TIME = 1e7
STATES = ("stopped", "playing", "paused", "interrupted", "stalled")


@dataclass(frozen=True, slots=True)
class Hello:
    """The answer to `hello`."""

    protocol: int
    version: str
    instance: str
    role: str
    # The lasting id of the box; None: this version of nowplaying-web does not say it.
    id: str | None

    @classmethod
    def of(cls, value: Any) -> Hello:
        """Read the answer; raises NotABox if another program gave it."""
        answer = mapping(value)
        protocol = whole(answer.get("protocol"), 1)
        if protocol is None or answer.get("server") != "nowplayingd":
            raise NotABox("hello is not answered by nowplayingd")
        return cls(
            protocol=protocol,
            version=text(answer.get("version"), 32) or "unknown",
            instance=token(answer.get("instance")) or "",
            role=answer["role"] if answer.get("role") in ("read", "control", "admin") else "read",
            id=token(answer.get("id"), 64),
        )

    @property
    def controls(self) -> bool:
        """True if calls may change anything."""
        return self.role != "read"


@dataclass(frozen=True, slots=True)
class Anchor:
    """An instant of the box's clock, and the position that is audible then."""

    elapsed: float = 0.0
    rate: float = 0.0
    skew: float = 0.0
    monotonic: float = 0.0

    @classmethod
    def of(cls, value: Any) -> Anchor:
        """Read an anchor; members that make no sense are those of an anchor that stands."""
        anchor = mapping(value)
        monotonic = number(anchor.get("monotonic"), 0)
        return cls(
            elapsed=number(anchor.get("elapsed"), 0, LONGEST_TIME) or 0.0,
            rate=0.0 if monotonic is None else number(anchor.get("rate"), -16, 16) or 0.0,
            skew=number(anchor.get("skew"), -0.1, 0.1) or 0.0,
            monotonic=monotonic or 0.0,
        )

    @property
    def speed(self) -> float:
        """Seconds of the item per second of the box's clock."""
        return self.rate * (1 + self.skew)

    def position(self, now: float, duration: float | None) -> float:
        """Return the position at an instant of the box's clock, inside of the item."""
        position = max(0.0, self.elapsed + self.speed * max(0.0, now - self.monotonic))
        return position if duration is None else min(position, duration)


@dataclass(frozen=True, slots=True)
class Item:
    """The current item of a session."""

    id: int | None = None
    play: int | None = None
    uri: str | None = None
    title: str | None = None
    artist: str | None = None
    album: str | None = None
    album_artist: str | None = None
    show: str | None = None
    track: int | None = None
    duration: float | None = None
    media_type: str = "audio"
    is_live: bool = False
    is_liked: bool = False
    rating: float | None = None
    # Id and type of the still picture.
    picture: str | None = None
    picture_type: str | None = None

    @classmethod
    def of(cls, value: Any) -> Item | None:
        """Read an item; None for null."""
        if not isinstance(value, dict):
            return None
        item: Mapping[str, Any] = value
        picture: Mapping[str, Any] = next(
            (one for one in objects(item.get("artwork"), 64) if one.get("kind") == "image" and token(one.get("id"), 128)),
            {},
        )
        return cls(
            id=whole(item.get("id"), 1),
            play=whole(item.get("play")),
            uri=token(item.get("uri")),
            title=text(item.get("title")),
            artist=text(item.get("artist")),
            album=text(item.get("albumTitle")),
            album_artist=text(item.get("albumArtist")),
            show=text(item.get("show")),
            track=whole(item.get("trackNumber"), 0, 10**6),
            duration=number(item.get("duration"), 0, LONGEST_TIME),
            media_type=text(item.get("mediaType"), 16) or "audio",
            is_live=item.get("isLiveStream") is True,
            is_liked=item.get("isLiked") is True,
            rating=number(item.get("rating"), 0, 5),
            picture=picture.get("id"),
            picture_type=text(picture.get("type"), 32),
        )


@dataclass(frozen=True, slots=True)
class State:
    """A published state of a session."""

    session: str
    instance: str
    seq: int
    cause: str
    causes: tuple[str, ...]
    reason: str | None
    by: str | None
    state: str
    stall: str | None
    anchor: Anchor
    item: Item | None
    volume: float | None
    muted: bool
    repeat: str
    shuffle: str
    loudness: str | None
    crossfade: float
    commands_version: int
    queue_index: int | None
    queue_count: int
    # The sleep timer: an instant of the box's clock, or the end of the item.
    sleep_ends: float | None
    sleeps_at_end_of_item: bool
    output: str | None
    output_description: str | None
    output_delay: float | None
    error: str | None

    @classmethod
    def of(cls, value: Any) -> State:
        """Read a state; raises NotABox for something else."""
        state = mapping(value)
        session, word = token(state.get("session"), 64), state.get("state")
        if session is None or word not in STATES:
            raise NotABox("a state of the box has no session or no state")
        sleep, output, queue = (mapping(state.get(name)) for name in ("sleep", "output", "queue"))
        cause = text(state.get("cause"), 32) or "snapshot"
        return cls(
            session=session,
            instance=token(state.get("instance")) or "",
            seq=whole(state.get("seq"), 0) or 0,
            cause=cause,
            causes=texts(state.get("causes")) or (cause,),
            reason=text(state.get("reason"), 64),
            by=text(mapping(state.get("by")).get("client"), 64),
            state=word,
            stall=text(mapping(state.get("stall")).get("reason"), 64),
            anchor=Anchor.of(state.get("anchor")),
            item=Item.of(state.get("item")),
            volume=number(state.get("volume"), 0, 1),
            muted=state.get("muted") is True,
            repeat=text(state.get("repeatMode"), 16) or "off",
            shuffle=text(state.get("shuffleMode"), 16) or "off",
            loudness=text(mapping(state.get("loudness")).get("mode"), 16),
            crossfade=number(mapping(state.get("crossfade")).get("seconds"), 0, 30) or 0.0,
            commands_version=whole(state.get("commandsVersion")) or 0,
            queue_index=whole(queue.get("index"), 0),
            queue_count=whole(queue.get("count"), 0) or 0,
            sleep_ends=number(sleep.get("endsMonotonic"), 0),
            sleeps_at_end_of_item=sleep.get("endOf") == "item",
            output=token(output.get("name")),
            output_description=text(output.get("description")),
            output_delay=number(output.get("delay"), 0, 10),
            error=text(mapping(state.get("error")).get("message")),
        )

    @property
    def duration(self) -> float | None:
        """The duration of the item in seconds; None if it is unknown."""
        return self.item.duration if self.item else None

    @property
    def is_moving(self) -> bool:
        """True if the position moves."""
        return self.item is not None and self.anchor.rate != 0


@dataclass(frozen=True, slots=True)
class Command:
    """A remote command as it can be called now."""

    name: str
    enabled: bool
    reason: str | None = None

    @classmethod
    def all_of(cls, value: Any) -> dict[str, Command]:
        """Read the answer to `commands.list`, by the names of the commands."""
        return {
            name: cls(name, one.get("enabled") is True, text(one.get("reason")))
            for one in objects(mapping(value).get("commands"), 256)
            if (name := token(one.get("command"), 64))
        }


@dataclass(frozen=True, slots=True)
class Output:
    """An output of the sound server."""

    name: str
    description: str
    delay: float | None = None

    @classmethod
    def all_of(cls, value: Any) -> list[Output]:
        """Read the answer to `output.list`. Descriptions that occur twice get the name appended."""
        found = [
            cls(name, text(one.get("description")) or name, number(one.get("delay"), 0, 10))
            for one in objects(mapping(value).get("outputs"), 256)
            if (name := token(one.get("name")))
        ]
        descriptions = [one.description for one in found]
        return [
            one
            if descriptions.count(one.description) == 1
            else cls(one.name, text(f"{one.description} ({one.name})") or one.name, one.delay)
            for one in found
        ]


@dataclass(frozen=True, slots=True)
class SessionInfo:
    """A row of `session.list`."""

    name: str
    active: bool
    external: bool

    @classmethod
    def all_of(cls, value: Any) -> list[SessionInfo]:
        """Read the answer to `session.list`."""
        return [
            cls(name, one.get("active") is True, one.get("external") is True)
            for one in objects(mapping(value).get("sessions"), 64)
            if (name := token(one.get("name"), 64))
        ]
