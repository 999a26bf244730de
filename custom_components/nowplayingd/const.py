"""Names that several modules share."""

from __future__ import annotations

from typing import Final

from homeassistant.const import Platform

DOMAIN: Final = "nowplayingd"
# The version of the protocol that this integration speaks.
PROTOCOL: Final = 1
# The name under which the box shows this client.
CLIENT_NAME: Final = "Home Assistant"

PLATFORMS: Final = [
    Platform.BUTTON,
    Platform.EVENT,
    Platform.MEDIA_PLAYER,
    Platform.NUMBER,
    Platform.SENSOR,
    Platform.SWITCH,
]

CONF_TLS: Final = "tls"
# True if the owner has confirmed an address that the box does not know as its own.
CONF_CONFIRMED: Final = "confirmed"
# In the data of a flow alone: the box does not know the address of its entry as its own.
CONF_UNCONFIRMED: Final = "unconfirmed"
CONF_CODE: Final = "code"

OPTION_POLICY: Final = "policy"
OPTION_DUCK_TO: Final = "duck_to"
OPTION_SOURCES: Final = "media_sources"

# The effect of an announcement on the playback; `box`: the configuration of the box decides.
POLICY_OF_BOX: Final = "box"
POLICIES: Final = ("duck", "pause", "pause_spoken", "mix")

ISSUE_PROTOCOL: Final = "newer_protocol"
ISSUE_READ_ONLY: Final = "read_only"

# The session for commands without a name.
ACTIVE: Final = "active"
