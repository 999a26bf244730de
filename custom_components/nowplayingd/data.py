"""The parts of a config entry."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from homeassistant.config_entries import ConfigEntry
from homeassistant.const import CONF_HOST, CONF_PATH, CONF_PORT, CONF_TOKEN, CONF_VERIFY_SSL
from homeassistant.core import HomeAssistant

from .client import BoxAddress
from .client.address import ROOT
from .const import CONF_CONFIRMED, CONF_TLS, DOMAIN

if TYPE_CHECKING:
    from .coordinator import Box


def address(entry: ConfigEntry) -> BoxAddress:
    """Return the address of the box of an entry."""
    return address_in(entry.data)


def address_in(data: Mapping[str, Any]) -> BoxAddress:
    """Return the address in the data of an entry or of a flow. Entries of earlier versions have fewer keys."""
    return BoxAddress(
        host=data[CONF_HOST],
        port=data[CONF_PORT],
        tls=data.get(CONF_TLS, False),
        verify=data.get(CONF_VERIFY_SSL, True),
        confirmed=data.get(CONF_CONFIRMED, False),
        path=data.get(CONF_PATH, ROOT),
    )


def place_in(data: Mapping[str, Any]) -> tuple[str, int, str]:
    """Return host, port and path in such data. Boxes behind one proxy differ by their paths alone."""
    return data[CONF_HOST], data[CONF_PORT], data.get(CONF_PATH, ROOT)


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
