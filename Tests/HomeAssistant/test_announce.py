"""Announcements: text to speech is uploaded, other media go by their names."""

from __future__ import annotations

import pathlib
from typing import Any

from conftest import act, eventually, shown, shows
from homeassistant.components.tts import CONF_LANG, Provider, TtsAudioType
from homeassistant.core import HomeAssistant
from homeassistant.exceptions import HomeAssistantError, ServiceValidationError
from homeassistant.setup import async_setup_component
from house import House, sound
import pytest
from pytest_homeassistant_custom_component.common import MockModule, MockPlatform, mock_integration, mock_platform


class Speaker(Provider):
    """An engine of text to speech that speaks silence."""

    def __init__(self, content: bytes) -> None:
        self.content = content
        self.messages: list[str] = []

    @property
    def default_language(self) -> str:
        return "en"

    @property
    def supported_languages(self) -> list[str]:
        return ["en", "de"]

    def get_tts_audio(self, message: str, language: str, options: dict[str, Any]) -> TtsAudioType:
        self.messages.append(f"{language}: {message}")
        return ("wav", self.content)


@pytest.fixture
async def speaker(hass: HomeAssistant, tmp_path: pathlib.Path) -> Speaker:
    """An engine of text to speech as Home Assistant has them."""
    found = Speaker(sound(tmp_path / "speech.wav", 0.4))

    async def engine(*_: Any) -> Speaker:
        return found

    platform = MockPlatform()
    platform.async_get_engine = engine
    mock_integration(hass, MockModule(domain="voice"))
    mock_platform(hass, "voice.tts", platform)
    hass.config.media_dirs = {"local": str(tmp_path)}
    assert await async_setup_component(hass, "media_source", {})
    assert await async_setup_component(hass, "tts", {"tts": [{"platform": "voice", "cache_dir": str(tmp_path / "cache")}]})
    await hass.async_block_till_done()
    return found


async def test_speech_while_music_plays(hass: HomeAssistant, house: House, entry, speaker: Speaker) -> None:
    """Text to speech plays over the music; the queue and the item stay as they are."""
    house.call("play")
    await shows(hass, state="playing", media_title="First 1")
    before = house.state()
    await act(
        hass,
        "play_media",
        media_content_id="media-source://tts/voice?message=Dinner&language=de",
        media_content_type="music",
        announce=True,
    )
    assert speaker.messages == ["de: Dinner"]
    after = house.state()
    assert (after["item"]["id"], after["queue"]["version"], after["state"]) == (before["item"]["id"], before["queue"]["version"], "playing")
    assert shown(hass).state == "playing"
    assert shown(hass, "event.kitchen_event").attributes["event_type"] == "announcement"


async def test_service(hass: HomeAssistant, house: House, entry, speaker: Speaker) -> None:
    """The service speaks a message, and returns the seconds that it took; media go by their names."""
    found = await act(
        hass, "announce", domain="nowplayingd", message="Hello", engine="voice", policy="pause_spoken", duck_to=-20, volume=0.5,
        priority=3, response=True,
    )  # fmt: skip
    assert found == {"media_player.kitchen": {"played": pytest.approx(0.4, abs=0.1), "cut": False}}
    assert speaker.messages == ["en: Hello"]
    found = await act(hass, "announce", domain="nowplayingd", media_id=f"{house.folder}/bell.wav", response=True)
    assert found == {"media_player.kitchen": {"played": pytest.approx(0.3, abs=0.1), "cut": False}}
    await act(hass, "announce", domain="nowplayingd", media_id=f"{house.folder}/bell.wav")


async def test_options_apply(hass: HomeAssistant, house: House, entry, speaker: Speaker) -> None:
    """The policy of the options holds unless a call names another: music pauses under an announcement."""
    hass.config_entries.async_update_entry(entry, options={"policy": "pause", "media_sources": True})
    house.call("play")
    await shows(hass, state="playing")
    speaker.content = sound(house.folder / "long.wav", 1.5)
    speech = hass.async_create_task(
        act(hass, "announce", domain="nowplayingd", message="Long", engine="voice", response=True)
    )
    await eventually(lambda: house.state()["anchor"]["rate"] == 0, "the pause under the announcement")
    await speech
    await eventually(lambda: house.state()["anchor"]["rate"] == 1, "the music after the announcement")


async def test_several_at_once(hass: HomeAssistant, house: House, entry, speaker: Speaker) -> None:
    """Announcements of several automations play one after the other; none is refused."""
    calls = [
        hass.async_create_task(act(hass, "announce", domain="nowplayingd", message=f"{number}", engine="voice", response=True))
        for number in range(4)
    ]
    for call in calls:
        assert (await call)["media_player.kitchen"]["played"] > 0.2


async def test_failures(hass: HomeAssistant, house: House, entry, speaker: Speaker) -> None:
    """No sound, a sound that is none, a source that is none, an engine that fails."""
    for data in (
        {},
        {"media_id": f"{house.folder}/house.conf"},
        {"media_id": "/nowhere/bell.wav"},
        {"message": "Hello", "engine": "tts.nobody"},
    ):
        with pytest.raises(ServiceValidationError):
            await act(hass, "announce", domain="nowplayingd", **data)
    with pytest.raises(HomeAssistantError):
        await act(hass, "announce", domain="nowplayingd", media_id="media-source://media_source/local/nothing.wav")
    speaker.content = b"no sound at all"
    with pytest.raises(ServiceValidationError):
        await act(hass, "announce", domain="nowplayingd", message="Noise", engine="voice")
    speaker.content = b""
    with pytest.raises(HomeAssistantError):
        await act(hass, "announce", domain="nowplayingd", message="Nothing", engine="voice")
    with pytest.raises(HomeAssistantError):
        await act(
            hass, "play_media", media_content_id="media-source://tts/nobody?message=x", media_content_type="music", announce=True
        )


async def test_local_source(hass: HomeAssistant, house: House, entry, speaker: Speaker, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file of Home Assistant is uploaded where Home Assistant names it (2025.7 and later)."""
    from homeassistant.components import media_source

    class Named(media_source.PlayMedia):
        """Media with a file."""

        path = house.folder / "bell.wav"

    async def named(*_: Any) -> Named:
        return Named("/media/local/bell.wav", "audio/wav")

    monkeypatch.setattr(media_source, "async_resolve_media", named)
    media_id = "media-source://media_source/local/bell.wav"
    found = await act(hass, "announce", domain="nowplayingd", media_id=media_id, response=True)
    assert found["media_player.kitchen"]["played"] == pytest.approx(0.3, abs=0.1)
    Named.path = house.folder / "nothing.wav"
    with pytest.raises(HomeAssistantError, match="is not available"):
        await act(hass, "announce", domain="nowplayingd", media_id=media_id)
    # Without a file the box gets an address, which it refuses here: it is that of its own machine.
    Named.path = None
    with pytest.raises(HomeAssistantError):
        await act(hass, "announce", domain="nowplayingd", media_id=media_id)


async def test_without_speech(hass: HomeAssistant, house: House, entry) -> None:
    """Without text to speech, a message is an error that says so."""
    with pytest.raises(ServiceValidationError, match="not set up"):
        await act(hass, "announce", domain="nowplayingd", message="Hello")
