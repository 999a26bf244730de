"""An hour of music: the position of the card at any moment, against a recording, and the number of writes."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass
import pathlib
from typing import Any

from conftest import allow_sockets, shown
from harness.sound import RATE, SoundServer
from homeassistant.core import HomeAssistant, State, callback
from house import House
import numpy as np
import pytest
from recording import Marks, Recording, write_code
from test_position import ALLOWED

ITEMS = 10
PLAYER = "media_player.kitchen"


@pytest.fixture
def sound_server(tmp_path: pathlib.Path) -> Iterator[SoundServer]:
    """A sound server whose sink works in the steps of a real device."""
    allow_sockets()
    with SoundServer(tmp_path / "sound") as server:
        yield server


@pytest.fixture
def coded_house(
    request: pytest.FixtureRequest, tmp_path: pathlib.Path, music: pathlib.Path, sound_server: SoundServer
) -> Iterator[House]:
    """A box that plays into the sound server, at full volume: each sample arrives as it is in the file."""
    house = House(request.config.getoption("--programs"), tmp_path / "box", music, f"unix:{sound_server.socket}")
    house.fresh()
    house.call("volume.set", volume=1)
    yield house
    house.close()


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
    """The card beside the sound, at each mark of the recording. All times are seconds."""

    # By which the card is ahead of the sound. Positions count from the begin of the first item: no item has a gap before it.
    errors: np.ndarray
    # The longest time for which the card shows another item than the one that is audible, or none.
    late: float
    heard: int
    gaps: int

    @classmethod
    def of(cls, marks: Marks, writes: list[Write], seconds: float) -> Card:
        """Compute what a card shows at each mark."""
        shows = np.searchsorted([one.instant for one in writes], marks.instants, "right") - 1
        assert shows.min() >= 0, "sound before the first write"
        items = np.array([one.item for one in writes])[shows]
        begins, updated = np.array([one.line for one in writes]).T
        sounds = marks.numbers / RATE
        audible = (sounds // seconds).astype(int)
        errors = items * seconds + begins[shows] + marks.walls - updated[shows] - sounds
        wrong = np.concatenate(([0], items != audible, [0]))
        starts, ends = np.flatnonzero(np.diff(wrong) > 0), np.flatnonzero(np.diff(wrong) < 0)
        instants = np.append(marks.instants, marks.instants[-1])
        late = max((float(instants[end] - instants[start]) for start, end in zip(starts, ends, strict=True)), default=0.0)
        gaps = int(np.count_nonzero(np.diff(marks.numbers - marks.places)))
        return cls(errors[items >= 0], late, len(np.unique(audible)), gaps)


# A sink rounds its steps to whole frames and microseconds: one of 7 ms is 20 ppm fast, one of 5 ms 133 ppm.
@pytest.mark.parametrize("latency", [14, 10])
@pytest.mark.timeout(0)
async def test_hour(
    hass: HomeAssistant, coded_house: House, sound_server: SoundServer, add: Any, request: pytest.FixtureRequest, latency: int
) -> None:
    """Ten items in an hour, or in a minute: the card is right within 50 ms at any moment, and at most 60 states are written."""
    minutes = request.config.getoption("--minutes") or (60.0 if request.config.getoption("--long") else 1.0)
    house, seconds = coded_house, minutes * 60 / ITEMS
    paths = [house.folder / f"{number}.wav" for number in range(ITEMS)]
    for number, path in enumerate(paths):
        await hass.async_add_executor_job(write_code, path, round(number * seconds * RATE), round(seconds * RATE))
    house.call("queue.clear")
    house.call("queue.add", items=[str(path) for path in paths])
    await add(house)
    recording = await hass.async_add_executor_job(Recording, sound_server, latency)
    try:
        writes = [Write(0.0, shown(hass, PLAYER))]
        has_ended = asyncio.Event()

        @callback
        def written(event: Any) -> None:
            if event.data["entity_id"] == PLAYER:
                writes.append(Write(hass.loop.time(), event.data["new_state"]))
                if writes[-1].state.state == "idle":
                    has_ended.set()

        hass.bus.async_listen("state_changed", written)
        house.call("play")
        await asyncio.wait_for(has_ended.wait(), minutes * 60 + 60)
        await hass.async_add_executor_job(recording.calibrate)
    finally:
        await hass.async_add_executor_job(recording.close)
    marks = recording.marks()
    card = Card.of(marks, writes, seconds)
    count, sizes = len(writes) - 1, np.sort(np.abs(card.errors)) * 1000
    print(
        f"\n{minutes:g} minutes, {len(sizes)} moments: the card is wrong by {np.median(sizes):.2f} ms (median), "
        f"{sizes[int(len(sizes) * 0.99)]:.2f} ms (99 %), {sizes[-1]:.2f} ms at most; it shows a new item {card.late * 1000:.1f} ms "
        f"late at most; {count} writes; the sink is {marks.skew * 1e6:.1f} ppm fast, calibrated within {marks.spread * 1000:.2f} ms"
    )
    assert (card.heard, card.gaps) == (ITEMS, 0)
    assert sizes[-1] <= ALLOWED * 1000
    assert card.late <= ALLOWED
    assert count <= 60
