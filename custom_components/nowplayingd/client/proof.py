"""Proofs that a box and a paired device give each other. No token is sent.

Both derive keys from the digest of the token. The box goes first, and vouches for the address that the device has dialled. See
PROOFS in nowplaying-web(1).
"""

from __future__ import annotations

from base64 import urlsafe_b64decode, urlsafe_b64encode
import binascii
from collections.abc import Mapping
from enum import StrEnum
import hashlib
import hmac
import secrets
from typing import Any

from .errors import BadProof, NotPaired
from .values import mapping, token

_DOMAIN = b"nowplaying-web proof 1\n"
_LENGTH = 32
_ROLES = ("read", "remote", "control")


class Road(StrEnum):
    """The relation of a dialled address to the box."""

    # The end of the connection at the box.
    OWN = "own"
    # Address translation leads from the address to the box, as its owner has confirmed.
    CONFIRMED = "confirmed"


class Proof:
    """One proof: the claim of this device, the answer of the box, and the header that completes it."""

    def __init__(self, access_token: str, address: str, road: Road) -> None:
        """Begin a proof for an address such as `192.0.2.7:8088` or `[2001:db8::7]:8088`.

        Raises NotPaired if no box has made this token.
        """
        content = _bytes(access_token)
        if content is None:
            raise NotPaired("the token of this device is damaged")
        self._token = content
        secret = hashlib.sha256(access_token.encode()).hexdigest().encode()
        self._box_key, self._device_key = (_code(secret, _DOMAIN + words) for words in (b"key of the box", b"key of the device"))
        self.claim = {
            "device": _code(secret, _DOMAIN + b"name")[:16].hex(),
            "address": address,
            "way": road.value,
            "sent": _text(secrets.token_bytes(_LENGTH)),
        }

    def complete(self, answer: Any) -> str:
        """Check the proof of the box, and return the value of the header `Authorization` for one request.

        Raises BadProof if the answer is not that of the box.
        """
        known: Mapping[str, Any] = mapping(answer)
        nonce, role, given = token(known.get("nonce"), 128), known.get("role"), _bytes(known.get("proof"))
        if nonce is None or not nonce.isascii() or not set("\n,=").isdisjoint(nonce) or role not in _ROLES or given is None:
            raise BadProof("the answer is no proof")
        if not hmac.compare_digest(given, _code(self._box_key, self._message("box", role, nonce))):
            raise BadProof("the answer does not come from the box, or another machine has changed it")
        mask = _code(self._device_key, self._message("device", role, nonce))
        # Only the digest of the token, which the box has, lifts the mask.
        masked = bytes(one ^ other for one, other in zip(self._token, mask, strict=True))
        members = {**self.claim, "nonce": nonce, "proof": _text(masked)}
        return "Proof " + ",".join(f"{name}={value}" for name, value in members.items())

    def _message(self, side: str, role: str, nonce: str) -> bytes:
        """Return the facts for which a side vouches, a line for each."""
        claim = self.claim
        lines = (side, role, claim["device"], claim["way"], claim["address"], claim["sent"], nonce)
        return _DOMAIN + "".join(f"{line}\n" for line in lines).encode()


def _code(key: bytes, message: bytes) -> bytes:
    return hmac.digest(key, message, "sha256")


def _text(content: bytes) -> str:
    return urlsafe_b64encode(content).decode().rstrip("=")


def _bytes(text: Any) -> bytes | None:
    """Return the 32 bytes of a text; None if it is another text."""
    if not isinstance(text, str) or len(text) != 43:
        return None
    try:
        content = urlsafe_b64decode(text + "=")
    except (binascii.Error, ValueError):
        return None
    return content if len(content) == _LENGTH and _text(content) == text else None
