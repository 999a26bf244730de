"""The parts of a config entry."""

from __future__ import annotations

from typing import TYPE_CHECKING

from homeassistant.config_entries import ConfigEntry
from homeassistant.const import CONF_HOST, CONF_PORT, CONF_TOKEN, CONF_VERIFY_SSL
from homeassistant.core import HomeAssistant

from .client import BoxAddress
from .const import CONF_CONFIRMED, CONF_TLS, DOMAIN

if TYPE_CHECKING:
    from .coordinator import Box


def address(entry: ConfigEntry) -> BoxAddress:
    """Return the address of the box of an entry."""
    return BoxAddress(
        host=entry.data[CONF_HOST],
        port=entry.data[CONF_PORT],
        tls=entry.data.get(CONF_TLS, False),
        verify=entry.data.get(CONF_VERIFY_SSL, True),
        confirmed=entry.data.get(CONF_CONFIRMED, False),
    )


def access_token(entry: ConfigEntry) -> str | None:
    """Return the token of an entry; None if the box needs none."""
    found: str | None = entry.data.get(CONF_TOKEN)
    return found


def box_of(entry: ConfigEntry) -> Box:
    """Return the box of an entry that is loaded."""
    box: Box = entry.runtime_data  # type: ignore[attr-defined]
    return box


def loaded_boxes(hass: HomeAssistant) -> list[Box]:
    """Return the boxes of all entries that are loaded."""
    return [
        entry.runtime_data  # type: ignore[attr-defined]
        for entry in hass.config_entries.async_entries(DOMAIN)
        if getattr(entry, "runtime_data", None) is not None
    ]
