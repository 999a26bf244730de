"""The features of a player, computed from the commands that the box allows now."""

from __future__ import annotations

from collections.abc import Callable

from homeassistant.components.media_player import MediaPlayerEntityFeature as Feature

from .compat import SEARCH_MEDIA
from .coordinator import Box
from .session import Session

# Features that are one remote command each.
COMMANDS: dict[Feature, str] = {
    Feature.PLAY: "play",
    Feature.PAUSE: "pause",
    Feature.STOP: "stop",
    Feature.SEEK: "changePlaybackPosition",
    Feature.NEXT_TRACK: "nextTrack",
    Feature.PREVIOUS_TRACK: "previousTrack",
    Feature.SHUFFLE_SET: "changeShuffleMode",
    Feature.REPEAT_SET: "changeRepeatMode",
}


def _is_local(box: Box, session: Session) -> bool:
    # The player of an external session has a volume of its own, which the box does not reach.
    return not session.external


def _always(box: Box, session: Session) -> bool:
    return True


OTHERS: dict[Feature, Callable[[Box, Session], bool]] = {
    Feature.VOLUME_SET: _is_local,
    Feature.VOLUME_MUTE: _is_local,
    Feature.VOLUME_STEP: _is_local,
    Feature.SELECT_SOUND_MODE: _is_local,
    Feature.PLAY_MEDIA: _is_local,
    Feature.MEDIA_ENQUEUE: _is_local,
    Feature.MEDIA_ANNOUNCE: _always,
    Feature.BROWSE_MEDIA: _is_local,
    Feature.CLEAR_PLAYLIST: lambda box, session: not session.external and session.state.queue_count > 0,
    Feature.SELECT_SOURCE: lambda box, session: bool(box.outputs),
    SEARCH_MEDIA: lambda box, session: box.has_library and not session.external,
}


def features(box: Box, session: Session) -> Feature:
    """Return the features of a session now; none for a device that may only look."""
    found = Feature(0)
    if not box.controls:
        return found
    for feature, command in COMMANDS.items():
        if session.allows(command):
            found |= feature
    for feature, holds in OTHERS.items():
        if holds(box, session):
            found |= feature
    return found
