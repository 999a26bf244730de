"""The media player: the item, the features and each command."""

from __future__ import annotations

from conftest import act, eventually, shown, shows
from custom_components.nowplayingd.features import COMMANDS, OTHERS
from homeassistant.components.media_player import MediaPlayerEntityFeature as Feature
from homeassistant.core import HomeAssistant
from homeassistant.exceptions import HomeAssistantError, ServiceValidationError
from house import House
import pytest

MAIN = "media_player.kitchen"
ALWAYS = (
    Feature.VOLUME_SET
    | Feature.VOLUME_MUTE
    | Feature.VOLUME_STEP
    | Feature.SELECT_SOUND_MODE
    | Feature.SELECT_SOURCE
    | Feature.PLAY_MEDIA
    | Feature.MEDIA_ENQUEUE
    | Feature.MEDIA_ANNOUNCE
    | Feature.BROWSE_MEDIA
    | Feature.SHUFFLE_SET
    | Feature.REPEAT_SET
)
OF_ITEM = (
    Feature.PLAY
    | Feature.PAUSE
    | Feature.STOP
    | Feature.SEEK
    | Feature.NEXT_TRACK
    | Feature.PREVIOUS_TRACK
    | Feature.CLEAR_PLAYLIST
)


async def supports(hass: HomeAssistant, features: Feature) -> None:
    """Wait until the player has these features and no others."""
    await eventually(lambda: shown(hass).attributes["supported_features"] == features, f"{features!r}")


async def test_item(hass: HomeAssistant, house: House, entry) -> None:
    """All that the player shows of an item."""
    await act(hass, "media_play")
    state = await shows(hass, state="playing", media_title="First 1", media_artist="Ann", media_duration=60)
    expected = {
        "media_album_name": "First",
        "media_album_artist": "Ann",
        "media_track": 1,
        "media_content_type": "music",
        "media_content_id": f"file://{house.songs[0]}",
        "source": "No sound",
        "source_list": ["No sound"],
        "sound_mode": "off",
        "sound_mode_list": ["off", "track", "album", "auto"],
        "volume_level": 0.7,
        "is_volume_muted": False,
        "shuffle": False,
        "repeat": "off",
        "session": "main",
        "queue_index": 0,
        "queue_size": 5,
        "device_class": "speaker",
    }
    assert {key: state.attributes.get(key) for key in expected} == expected


async def test_features_follow_the_commands(hass: HomeAssistant, house: House, entry) -> None:
    """A feature is there while its command can be called, and not else."""
    house.call("play")
    await supports(hass, ALWAYS | OF_ITEM)
    house.call("commands.configure", command="changePlaybackPosition", enabled=False, reason="a radio programme")
    await supports(hass, (ALWAYS | OF_ITEM) & ~Feature.SEEK)
    with pytest.raises(HomeAssistantError):
        await act(hass, "media_seek", seek_position=3)
    house.call("commands.configure", command="changePlaybackPosition", enabled=True)
    house.call("commands.configure", command="nextTrack", enabled=False)
    await supports(hass, (ALWAYS | OF_ITEM) & ~Feature.NEXT_TRACK)
    house.call("commands.configure", command="nextTrack", enabled=True)
    await supports(hass, ALWAYS | OF_ITEM)
    house.call("queue.clear")
    await supports(hass, ALWAYS)


def test_every_feature() -> None:
    """Each feature that Home Assistant knows has a rule, or no box has it: a box is never off, and there are no groups."""
    absent = {Feature.TURN_ON, Feature.TURN_OFF, Feature.GROUPING}
    assert {one for one in {*COMMANDS, *OTHERS} if one} == set(Feature) - absent


async def test_no_groups(hass: HomeAssistant, house: House, entry) -> None:
    """A call that joins players, or takes one out, is refused with a reason, and changes nothing."""
    house.call("play")
    await supports(hass, ALWAYS | OF_ITEM)
    for service, data in (("join", {"group_members": ["media_player.hall"]}), ("unjoin", {})):
        with pytest.raises(HomeAssistantError, match="media_player.kitchen does not support this service"):
            await act(hass, service, **data)
    assert "group_members" not in shown(hass).attributes and shown(hass).state == "playing"


async def test_every_command(hass: HomeAssistant, house: House, entry) -> None:
    """Each service of a media player reaches the box, and the player shows its effect."""
    await act(hass, "media_play")
    await shows(hass, state="playing")
    await supports(hass, ALWAYS | OF_ITEM)
    await act(hass, "media_pause")
    await shows(hass, state="paused")
    await act(hass, "media_play_pause")
    await shows(hass, state="playing")
    await act(hass, "media_next_track")
    await shows(hass, media_title="First 2")
    await act(hass, "media_previous_track")
    await shows(hass, media_title="First 1")
    await act(hass, "media_pause")
    await act(hass, "media_seek", seek_position=12.25)
    await shows(hass, state="paused", media_position=12.25)
    for name, data, attributes in (
        ("volume_set", {"volume_level": 0.4}, {"volume_level": 0.4}),
        ("volume_up", {}, {"volume_level": 0.45}),
        ("volume_down", {}, {"volume_level": 0.4}),
        ("volume_mute", {"is_volume_muted": True}, {"is_volume_muted": True}),
        ("volume_mute", {"is_volume_muted": False}, {"is_volume_muted": False}),
        ("shuffle_set", {"shuffle": True}, {"shuffle": True}),
        ("shuffle_set", {"shuffle": False}, {"shuffle": False}),
        ("repeat_set", {"repeat": "one"}, {"repeat": "one"}),
        ("repeat_set", {"repeat": "all"}, {"repeat": "all"}),
        ("select_sound_mode", {"sound_mode": "album"}, {"sound_mode": "album"}),
        ("select_source", {"source": "No sound"}, {"source": "No sound"}),
    ):
        await act(hass, name, **data)
        await shows(hass, **attributes)
    await act(hass, "media_stop")
    await shows(hass, state="idle")
    await act(hass, "clear_playlist")
    await shows(hass, queue_size=0)
    assert "media_title" not in shown(hass).attributes


async def test_refusals(hass: HomeAssistant, house: House, entry) -> None:
    """A refusal of the box is an error in the words of the box, and loses nothing."""
    house.call("play")
    await supports(hass, ALWAYS | OF_ITEM)
    with pytest.raises(ServiceValidationError, match="there is no output Hall"):
        await act(hass, "select_source", source="Hall")
    with pytest.raises(ServiceValidationError) as refused:
        await act(hass, "play_media", media_content_id="/nowhere/a.flac", media_content_type="music")
    assert refused.value.translation_key == "refused"
    assert house.state()["queue"]["count"] == 5
    with pytest.raises(ServiceValidationError):
        await act(hass, "media_seek", seek_position=900)


async def test_words_of_the_box(hass: HomeAssistant, house: House, entry) -> None:
    """Hostile titles are shown as one line of text."""
    house.call("play")
    item = house.state()["item"]["id"]
    title = "<b>{{ states('sun.sun') }}</b>\n\u202e\u0007" + "x" * 3000
    house.call("item.update", id=item, title=title, artist="\u0000\u200b \n", albumTitle=" \t ")
    await eventually(lambda: shown(hass).attributes.get("media_title", "").startswith("<b>"), "the title")
    shown_title = shown(hass).attributes["media_title"]
    assert len(shown_title) == 255 and shown_title.isprintable()
    assert shown_title.startswith("<b>{{ states('sun.sun') }}</b> xx")
    assert "media_artist" not in shown(hass).attributes and "media_album_name" not in shown(hass).attributes


async def test_stalled_and_unknown(hass: HomeAssistant, house: House, entry) -> None:
    """Each change of the box's own clients is shown, too."""
    house.call("play", index=3)
    await shows(hass, state="playing", media_title="Second 1", media_artist="Béla", queue_index=3)
    house.call("volume.set", volume=0.2, muted=True)
    await shows(hass, volume_level=0.2, is_volume_muted=True)
    house.call("queue.remove", ids=[house.state()["item"]["id"]])
    await shows(hass, media_title="Second 2", queue_size=4)
    house.call("stop")
    await shows(hass, state="idle")
