"""Readers of JSON from the box. Its strings come from tags, names and other clients, so they are untrusted."""

from __future__ import annotations

from collections.abc import Mapping
import math
from typing import Any
import unicodedata

# Home Assistant shows titles in one line; longer titles are hostile.
LONGEST_TEXT = 255
# Control characters, format characters such as marks of direction, and halves of characters.
_UNSAFE = {"Cc", "Cf", "Cs", "Zl", "Zp"}
# Format characters that scripts and emoji need.
_NEEDED = {"\u200c", "\u200d"}


def text(value: Any, limit: int = LONGEST_TEXT) -> str | None:
    """Return a string of one line without control characters, at most `limit` characters; None if it is no text."""
    if not isinstance(value, str):
        return None
    # A text is not searched as a whole if only its beginning can be kept.
    kept = (
        character if character in _NEEDED or unicodedata.category(character) not in _UNSAFE else " "
        for character in value[: limit * 4]
    )
    words = " ".join("".join(kept).split())
    return (words if len(words) <= limit else words[: limit - 1].rstrip() + "…") or None


def token(value: Any, limit: int = 4096) -> str | None:
    """Return a string that is sent back to the box as it came; None if it is no string or too long."""
    return value if isinstance(value, str) and 0 < len(value) <= limit and value.isprintable() else None


def number(value: Any, low: float = -1e15, high: float = 1e15) -> float | None:
    """Return a finite number in this range; None otherwise."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        found = float(value)
    except OverflowError:
        return None
    return found if math.isfinite(found) and low <= found <= high else None


def whole(value: Any, low: int = -(2**53), high: int = 2**53) -> int | None:
    """Return a whole number in this range; None otherwise."""
    if isinstance(value, bool) or not isinstance(value, int):
        return None
    return value if low <= value <= high else None


def mapping(value: Any) -> Mapping[str, Any]:
    """Return an object; an empty one for anything else."""
    return value if isinstance(value, dict) else {}


def objects(value: Any, limit: int = 100_000) -> list[Mapping[str, Any]]:
    """Return the objects in an array, at most `limit`; none for anything else."""
    if not isinstance(value, list):
        return []
    return [one for one in value[:limit] if isinstance(one, dict)]


def texts(value: Any, limit: int = 64) -> tuple[str, ...]:
    """Return the strings in an array that can be sent back; none for anything else."""
    if not isinstance(value, list):
        return ()
    return tuple(one for one in value[:limit] if token(one) is not None)
