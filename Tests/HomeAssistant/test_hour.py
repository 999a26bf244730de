"""An hour of music: the position of the card at any moment, against a recording, and the number of writes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
import contextlib
from dataclasses import dataclass
from datetime import UTC, datetime
import itertools
import pathlib
from typing import Any

from conftest import allow_sockets, shown, shows
from harness.sound import RATE, SoundServer
from homeassistant.core import HomeAssistant, State, callback
from house import House
import numpy as np
import pytest
from recording import Marks, Recording, write_code
from test_position import ALLOWED

ITEMS = 10


# A sink rounds its steps to whole frames and microseconds, and so is faster than the clock, each by another rate.
LATENCIES = {"Kitchen": 14, "Hall": 10}


@dataclass(frozen=True)
class Room:
    """A box, the sound server into which it plays, and the step of that in the units of a recorder."""

    title: str
    house: House
    server: SoundServer
    latency: int

    @property
    def player(self) -> str:
        """The name of its player."""
        return f"media_player.{self.title.lower()}"


@pytest.fixture
def rooms(request: pytest.FixtureRequest, tmp_path: pathlib.Path, music: pathlib.Path) -> Iterator[list[Room]]:
    """Two boxes that play at full volume: each sample arrives as it is in the file."""
    allow_sockets()
    with contextlib.ExitStack() as stack:
        found = []
        for title, latency in LATENCIES.items():
            server = stack.enter_context(SoundServer(tmp_path / f"sound-{title}"))
            house = House(request.config.getoption("--programs"), tmp_path / title, music, f"unix:{server.socket}")
            stack.callback(house.close)
            house.fresh()
            house.call("volume.set", volume=1)
            found.append(Room(title, house, server, latency))
        yield found


@dataclass(frozen=True)
class Write:
    """A state of the player, and the instant at which Home Assistant wrote it."""

    instant: float
    state: State

    @property
    def item(self) -> int:
        """The index of the item that a card shows as playing; -1 if none plays."""
        if self.state.state != "playing":
            return -1
        return int(pathlib.Path(self.state.attributes["media_content_id"]).stem)

    @property
    def line(self) -> tuple[float, float]:
        """The position that a card begins with, and the Unix time of it."""
        if self.item < 0:
            return 0.0, 0.0
        attributes = self.state.attributes
        return attributes["media_position"], attributes["media_position_updated_at"].timestamp()


@dataclass(frozen=True)
class Card:
    """The card beside the sound. All times are seconds."""

    # By which the card is ahead of the sound, at each mark. Positions count from the begin of the first item: none has a gap
    # before it.
    errors: np.ndarray
    # From the first frame of each item that was audible to the write that shows it.
    late: np.ndarray
    # For which the programs waited for a processor meanwhile.
    waits: np.ndarray
    gaps: int

    @classmethod
    def of(cls, marks: Marks, writes: list[Write], seconds: float) -> Card:
        """Compute what a card shows at each mark."""
        instants = np.array([one.instant for one in writes], dtype=float)
        shows = np.searchsorted(instants, marks.instants, "right") - 1
        assert shows.min() >= 0, "sound before the first write"
        items = np.array([one.item for one in writes])
        begins, updated = np.array([one.line for one in writes]).T
        sounds = marks.numbers / RATE
        errors = items[shows] * seconds + begins[shows] + marks.walls - updated[shows] - sounds

        heard = np.unique((sounds // seconds).astype(int))
        near = np.searchsorted(marks.numbers, heard * seconds * RATE)
        starts = marks.instants[near] + heard * seconds - sounds[near]
        ends = np.array([instants[items == item].min(initial=np.inf) for item in heard])
        # A thread that waits is counted when it runs again.
        after = np.minimum(np.searchsorted(marks.instants, ends) + 1, len(marks.instants) - 1)
        waits = marks.waits[after] - np.interp(starts, marks.instants, marks.waits)
        return cls(errors[items[shows] >= 0], ends - starts, waits, int(np.count_nonzero(np.diff(marks.numbers - marks.places))))


def played(frames: np.ndarray, missing: int = 0) -> Marks:
    """Return the marks of a recording: frame 0 is audible at the instant 1000, whose Unix time is 2000.

    From the instant 1005 on, the programs wait 30 ms for a processor.
    """
    marks = Marks.__new__(Marks)
    marks.places, marks.numbers = frames, np.where(frames > 6 * RATE, frames + missing, frames)
    marks.instants, marks.walls = 1000 + frames / RATE, 2000 + frames / RATE
    marks.waits = np.interp(marks.instants, [1005, 1005.03], [0, 0.03])
    return marks


def writes_at(*rows: tuple[float, str, int, float]) -> list[Write]:
    """Return writes by their instants, states, items and positions; a position is valid at the instant of its write."""
    return [
        Write(
            instant,
            State(
                "media_player.kitchen",
                word,
                {
                    "media_content_id": f"file:///x/{item}.wav",
                    "media_position": position,
                    "media_position_updated_at": datetime.fromtimestamp(instant + 1000, UTC),
                },
            ),
        )
        for instant, word, item, position in rows
    ]


# A card that is right; one that is 60 ms ahead; a new item 80 ms late; frames that were lost.
@pytest.mark.parametrize(
    ("writes", "missing", "error", "late"),
    [
        ([(900, "idle", 0, 0), (1000, "playing", 0, 0), (1005, "playing", 1, 0)], 0, 0, 0),
        ([(900, "idle", 0, 0), (1000, "playing", 0, 0.06), (1005, "playing", 1, 0.02)], 0, 0.06, 0),
        ([(900, "idle", 0, 0), (1000, "playing", 0, 0), (1005.08, "playing", 1, 0.08)], 0, 0, 0.08),
        ([(900, "idle", 0, 0), (1000, "playing", 0, 0), (1005, "playing", 1, 0)], 441, 0.01, 0),
    ],
)
def test_card_beside_marks(writes: list[tuple[float, str, int, float]], missing: int, error: float, late: float) -> None:
    """The comparison finds each fault of a card, by its size."""
    card = Card.of(played(np.arange(100, 9 * RATE, 441), missing), writes_at(*writes), 5)
    assert (len(card.late), card.gaps) == (2, 1 if missing else 0)
    assert np.abs(card.errors).max() == pytest.approx(error, abs=1e-4)
    assert card.late.tolist() == pytest.approx([0, late], abs=1e-4)
    assert card.waits.tolist() == pytest.approx([0, 0.03 if late else 0.02], abs=0.0101)


async def play(hass: HomeAssistant, room: Room, minutes: float) -> tuple[Marks, list[Write]]:
    """Play ten items. Returns the recording, and what Home Assistant wrote meanwhile; the first write is older."""
    house, seconds = room.house, minutes * 60 / ITEMS
    paths = [house.folder / f"{number}.wav" for number in range(ITEMS)]
    for number, path in enumerate(paths):
        await hass.async_add_executor_job(write_code, path, round(number * seconds * RATE), round(seconds * RATE))
    house.call("queue.clear")
    house.call("queue.add", items=[str(path) for path in paths])
    await shows(hass, room.player, "idle", queue_size=ITEMS)
    recording = await hass.async_add_executor_job(Recording, room.server, room.latency, house.waits(room.server.process.pid))
    try:
        writes = [Write(0.0, shown(hass, room.player))]
        has_ended = asyncio.Event()

        @callback
        def written(event: Any) -> None:
            if event.data["entity_id"] == room.player:
                writes.append(Write(hass.loop.time(), event.data["new_state"]))
                if [one.state.state for one in writes[-2:]] == ["playing", "idle"]:
                    has_ended.set()

        hass.bus.async_listen("state_changed", written)
        # The loop of Home Assistant does not wait for the answer, which comes with the first sound.
        await hass.async_add_executor_job(house.call, "play")
        await asyncio.wait_for(has_ended.wait(), minutes * 60 + 60)
        await hass.async_add_executor_job(recording.calibrate)
    finally:
        await hass.async_add_executor_job(recording.close)
    return recording.marks(), writes


@pytest.mark.timeout(0)
async def test_hour(
    hass: HomeAssistant, rooms: list[Room], add: Any, request: pytest.FixtureRequest, record_property: Callable[[str, str], None]
) -> None:
    """Ten items in an hour, or in a minute: the card is right within 50 ms at any moment, and at most 60 states are written."""
    minutes = request.config.getoption("--minutes") or (60.0 if request.config.getoption("--long") else 1.0)
    for room in rooms:
        await add(room.house, title=room.title)
    found = await asyncio.gather(*(play(hass, room, minutes) for room in rooms))
    cards = [Card.of(marks, writes, minutes * 60 / ITEMS) for marks, writes in found]
    for room, (marks, writes), card in zip(rooms, found, cards, strict=True):
        sizes, late = np.sort(np.abs(card.errors)) * 1000, card.late * 1000
        words = (
            f"{room.title}: {minutes:g} minutes, {len(sizes)} moments: the card is wrong by {np.median(sizes):.2f} ms (median), "
            f"{sizes[int(len(sizes) * 0.99)]:.2f} ms (99 %), {sizes[-1]:.2f} ms at most; a new item shows {np.median(late):.1f} ms "
            f"late (median), {late.max():.1f} ms at most, of which {card.waits[late.argmax()] * 1000:.1f} ms are waits for a "
            f"processor; {len(writes) - 1} writes; the sink is {marks.skew * 1e6:.1f} ppm fast, calibrated within "
            f"{marks.spread * 1000:.2f} ms"
        )
        record_property("figures", words)
    for (_, writes), card in zip(found, cards, strict=True):
        assert (len(card.late), card.gaps) == (ITEMS, 0)
        assert [word for word, _ in itertools.groupby(writes, lambda one: one.state.state)] == ["idle", "playing", "idle"]
        assert np.abs(card.errors).max() <= ALLOWED
        assert (card.late - card.waits).max() <= ALLOWED
        assert len(writes) - 1 <= 60
