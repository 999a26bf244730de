"""The address of a box."""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import ip_address
import re

from yarl import URL

DEFAULT_PORT = 8088
ROOT = "/"
_NAME = re.compile(r"[\w.-]{1,253}")
_PART = re.compile(r"[A-Za-z0-9._~-]+")
# Most characters of a path without the slash at its end, as of `base-path`.
_LONGEST_PATH = 128


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


def path_of(words: str) -> str | None:
    """Return the typed or announced path with a slash at both ends; None for anything else.

    The rule is that of `base-path` in nowplaying-web(1): letters, digits and `-._~` between single slashes.
    """
    if words == ROOT:
        return ROOT
    path = words.removesuffix("/")
    if not path.startswith("/") or len(path) > _LONGEST_PATH:
        return None
    parts = path[1:].split("/")
    return f"{path}/" if all(_PART.fullmatch(part) and part not in (".", "..") for part in parts) else None


@dataclass(frozen=True, slots=True)
class BoxAddress:
    """Host, port, kind of connection and path of a nowplaying-web. Raises ValueError for a path that `path_of` refuses."""

    host: str
    port: int = DEFAULT_PORT
    tls: bool = False
    # False for a session of aiohttp that accepts any certificate, such as one that the box has made itself.
    verify: bool = True
    # True: the owner has confirmed that the address leads to the box, which cannot know it, such as that of a container's host.
    confirmed: bool = False
    # `base-path` of the box, or the path at which a proxy has it.
    path: str = ROOT

    def __post_init__(self) -> None:
        """Give the path a slash at both ends."""
        path = path_of(self.path)
        if path is None:
            raise ValueError(f"invalid path {self.path!r} (expected a path such as /music)")
        object.__setattr__(self, "path", path)

    @property
    def is_verified(self) -> bool:
        """True if a certificate shows that the other end is the box."""
        return self.tls and self.verify

    @property
    def base(self) -> URL:
        """The address of the page."""
        return URL.build(scheme="https" if self.tls else "http", host=self.host, port=self.port, path=self.path)
