"""Text to speech while music plays, as a recording of the sound server has it."""

from __future__ import annotations

import array
import asyncio
from collections.abc import Iterator
import math
import os
import pathlib
import subprocess
from typing import Any

from conftest import act, allow_sockets, shows
from homeassistant.core import HomeAssistant
from house import House, tone, until
import pytest
from test_announce import Speaker, speaker  # noqa: F401

RATE = 16000
MUSIC, SPEECH = 400.0, 1500.0


class SoundServer:
    """A private PulseAudio with a sink that plays into nothing, and a recording of it."""

    def __init__(self, folder: pathlib.Path) -> None:
        self.address = f"unix:{folder}/pulse.sock"
        self._path = folder / "recording.raw"
        environment = {**os.environ, "HOME": str(folder), "XDG_RUNTIME_DIR": str(folder), "PULSE_SERVER": self.address}
        log = open(folder / "pulse.log", "wb")
        words = ["pulseaudio", "-n", "--daemonize=no", "--use-pid-file=no", "--exit-idle-time=-1", "--disable-shm=yes"]
        modules = [f"module-null-sink sink_name=box rate={RATE} channels=1", f"module-native-protocol-unix socket={folder}/pulse.sock"]
        self._processes = [
            subprocess.Popen(
                words + [f"--load={one}" for one in modules], env=environment, stdout=log, stderr=log, stdin=subprocess.DEVNULL
            )
        ]
        until(lambda: subprocess.run(["pactl", "info"], env=environment, capture_output=True).returncode == 0, "the sound server")
        recorder = ["parec", "--device=box.monitor", "--format=s16le", f"--rate={RATE}", "--channels=1", "--latency-msec=20"]
        self._processes.append(subprocess.Popen(recorder, env=environment, stdout=open(self._path, "wb"), stderr=log))
        log.close()

    def close(self) -> None:
        for process in reversed(self._processes):
            process.kill()
            process.wait()

    def levels(self) -> list[tuple[float, float]]:
        """Return the levels of both tones in each tenth of a second."""
        samples = array.array("h", self._path.read_bytes()[: -(len(self._path.read_bytes()) % 2) or None])
        size = RATE // 10
        return [
            (level(samples[start : start + size], MUSIC), level(samples[start : start + size], SPEECH))
            for start in range(0, len(samples) - size, size)
        ]


def level(samples: array.array[int], frequency: float) -> float:
    """Return the level of a tone in samples; 1 is full scale (Goertzel)."""
    factor = 2 * math.cos(2 * math.pi * frequency / RATE)
    last = before = 0.0
    for sample in samples:
        last, before = sample + factor * last - before, last
    return math.sqrt(max(0.0, last * last + before * before - factor * last * before)) * 2 / len(samples) / 32768


@pytest.fixture
def sound_server(tmp_path: pathlib.Path) -> Iterator[SoundServer]:
    """A sound server of its own."""
    allow_sockets()
    (tmp_path / "sound").mkdir()
    server = SoundServer(tmp_path / "sound")
    yield server
    server.close()


@pytest.fixture
def sounding_house(
    request: pytest.FixtureRequest, tmp_path: pathlib.Path, music: pathlib.Path, sound_server: SoundServer
) -> Iterator[House]:
    """A box that plays into the sound server."""
    house = House(request.config.getoption("--programs"), tmp_path / "box", music, sound_server.address)
    house.fresh()
    yield house
    house.close()


async def test_speech_over_music(
    hass: HomeAssistant, sounding_house: House, sound_server: SoundServer, add: Any, speaker: Speaker  # noqa: F811
) -> None:
    """The music gets quieter for the speech, is there meanwhile, and has its level again afterwards."""
    house = sounding_house
    await hass.async_add_executor_job(tone, house.folder / "music.wav", MUSIC, 30, 0.5)
    speaker.content = await hass.async_add_executor_job(tone, house.folder / "speech.wav", SPEECH, 1.5, 0.5)
    house.call("volume.set", volume=1)
    await add(house)
    await act(hass, "play_media", media_content_id=str(house.folder / "music.wav"), media_content_type="music")
    await shows(hass, state="playing")
    await asyncio.sleep(1.5)
    await act(hass, "announce", domain="nowplayingd", message="Dinner", engine="voice", policy="duck", duck_to=-20)
    await asyncio.sleep(1.5)
    levels = await hass.async_add_executor_job(sound_server.levels)
    music = [one for one, _ in levels]
    speech = [index for index, (_, two) in enumerate(levels) if two > 0.2]
    assert 12 <= len(speech) <= 18 and speech == list(range(speech[0], speech[-1] + 1)), speech
    begun = next(index for index, one in enumerate(music) if one > 0.45)
    # Between the begin of the music and the fade before the speech, and after the fade that follows it.
    before, after = music[begun + 1 : speech[0] - 5], music[speech[-1] + 8 :]
    assert len(before) >= 5 and len(after) >= 3
    assert all(abs(one - 0.5) < 0.02 for one in before + after), (before, after)
    during = music[speech[0] + 3 : speech[-1] - 2]
    assert all(abs(one - 0.05) < 0.01 for one in during), during
