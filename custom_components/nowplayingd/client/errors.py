"""Failures of the box, of the network and of calls."""

from __future__ import annotations

from typing import Any

from .values import mapping, text, whole


# Addresses in a message are long, and its reason follows them.
LONGEST = 2048


def reason(error: Exception) -> str:
    """Return the words of a failure of the network, which may have come from the other end."""
    return text(str(error)) or ("no answer" if isinstance(error, TimeoutError) else type(error).__name__)


class BoxError(Exception):
    """A failure of the box or of the way to it."""


class Unreachable(BoxError):
    """No connection, or nowplaying-web has no nowplayingd."""


class BadCertificate(Unreachable):
    """This machine does not trust the certificate of the box."""


class NotABox(BoxError):
    """Another program answers at this address."""


class NotPaired(BoxError):
    """The box requires a token, or does not know this one."""


class NotItsAddress(BoxError):
    """The box does not know the address that this machine has dialled as its own."""


class BadProof(BoxError):
    """Another machine answers in place of the box."""


class TooOld(BoxError):
    """The box has no proofs yet."""


class WrongName(BoxError):
    """The box does not accept requests for this host name (`hosts` in [web])."""


class PairingRefused(BoxError):
    """The pairing code is wrong, or its time is over."""


class CallError(BoxError):
    """The box refused a call.

    `status` is a name from ERROR CODES of nowplayingd-protocol(7), `reason` its reason; empty if there is none.
    """

    def __init__(self, message: str, *, code: int = 0, status: str = "", reason: str = "") -> None:
        """Make a refusal, by its parts."""
        super().__init__(message)
        self.code = code
        self.status = status
        self.reason = reason

    @classmethod
    def of(cls, value: Any) -> CallError:
        """Read the member `error` of an answer."""
        error = mapping(value)
        data = mapping(error.get("data"))
        return cls(
            text(error.get("message"), LONGEST) or "the box refused the call without a reason",
            code=whole(error.get("code")) or 0,
            status=text(data.get("status"), 64) or "",
            reason=text(data.get("reason"), 64) or "",
        )
