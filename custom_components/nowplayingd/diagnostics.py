"""Diagnostics of a box, without secrets and without titles."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from homeassistant.components.diagnostics import async_redact_data
from homeassistant.config_entries import ConfigEntry
from homeassistant.const import CONF_HOST, CONF_TOKEN
from homeassistant.core import HomeAssistant

from .data import box_of

SECRETS = {CONF_TOKEN, CONF_HOST, "id", "title", "unique_id"}
# People may want to hide their music and its folders.
PRIVATE = {
    "uri",
    "title",
    "artist",
    "album",
    "album_artist",
    "show",
    "picture",
    "by",
    "error",
    "instance",
    "output",
    "output_description",
}


async def async_get_config_entry_diagnostics(hass: HomeAssistant, entry: ConfigEntry) -> dict[str, Any]:
    """Return the facts for fault finding."""
    box = box_of(entry)
    hello = box.hello
    return {
        "entry": async_redact_data({"data": dict(entry.data), "options": dict(entry.options)}, SECRETS),
        "available": box.is_available,
        "box": None if hello is None else {"version": hello.version, "protocol": hello.protocol, "role": hello.role},
        "clock": {"known": box.clock.is_known, "bound": box.clock.bound if box.clock.is_known else None},
        "library": box.has_library,
        "outputs": len(box.outputs),
        "active": box.active_name,
        "sessions": {
            name: {
                "external": session.external,
                "state": async_redact_data(asdict(session.state), PRIVATE),
                "commands": {command.name: command.reason or command.enabled for command in session.commands.values()},
            }
            for name, session in box.sessions.items()
        },
    }
