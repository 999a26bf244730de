"""The address of a box."""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import ip_address
import re

from yarl import URL

DEFAULT_PORT = 8088
_NAME = re.compile(r"[\w.-]{1,253}")


def host_of(words: str) -> str | None:
    """Return the typed host name or IP address; None for anything else, such as an address of a page."""
    host = words.strip().removeprefix("[").removesuffix("]")
    try:
        ip_address(host)
    except ValueError:
        try:
            return host if _NAME.fullmatch(host) and host.encode("idna") else None
        except UnicodeError:
            return None
    return host


@dataclass(frozen=True, slots=True)
class BoxAddress:
    """Host, port and kind of connection of a nowplaying-web."""

    host: str
    port: int = DEFAULT_PORT
    tls: bool = False
    # False for a session of aiohttp that accepts any certificate, such as one that the box has made itself.
    verify: bool = True
    # True: the owner has confirmed that the address leads to the box, which cannot know it, such as that of a container's host.
    confirmed: bool = False

    @property
    def is_verified(self) -> bool:
        """True if a certificate shows that the other end is the box."""
        return self.tls and self.verify

    @property
    def base(self) -> URL:
        """The address of the page."""
        return URL.build(scheme="https" if self.tls else "http", host=self.host, port=self.port, path="/")
