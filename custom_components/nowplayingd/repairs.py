"""Findings for the user to repair."""

from __future__ import annotations

from homeassistant.config_entries import ConfigEntry
from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers import issue_registry as ir

from .client import Hello
from .const import DOMAIN, ISSUE_PROTOCOL, ISSUE_READ_ONLY, PROTOCOL
from .data import address


def _id(kind: str, entry: ConfigEntry) -> str:
    return f"{kind}_{entry.entry_id}"


@callback
def show_issues(hass: HomeAssistant, entry: ConfigEntry, hello: Hello) -> None:
    """Show the findings about a box, and remove the obsolete ones."""
    findings = {
        ISSUE_PROTOCOL: (hello.protocol > PROTOCOL, ir.IssueSeverity.ERROR),
        ISSUE_READ_ONLY: (not hello.controls, ir.IssueSeverity.WARNING),
    }
    for kind, (holds, severity) in findings.items():
        if not holds:
            ir.async_delete_issue(hass, DOMAIN, _id(kind, entry))
            continue
        ir.async_create_issue(
            hass,
            DOMAIN,
            _id(kind, entry),
            is_fixable=False,
            severity=severity,
            translation_key=kind,
            translation_placeholders={
                "name": entry.title,
                "version": hello.version,
                "protocol": str(hello.protocol),
                "known": str(PROTOCOL),
                "address": str(address(entry).base),
            },
        )


@callback
def forget_issues(hass: HomeAssistant, entry: ConfigEntry) -> None:
    """Forget all findings about a box."""
    for kind in (ISSUE_PROTOCOL, ISSUE_READ_ONLY):
        ir.async_delete_issue(hass, DOMAIN, _id(kind, entry))
