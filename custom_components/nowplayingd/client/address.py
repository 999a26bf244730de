"""The address of a box."""

from __future__ import annotations

from dataclasses import dataclass

from yarl import URL

DEFAULT_PORT = 8088


@dataclass(frozen=True, slots=True)
class BoxAddress:
    """Host, port and kind of connection of a nowplaying-web."""

    host: str
    port: int = DEFAULT_PORT
    tls: bool = False
    # False for a session of aiohttp that accepts any certificate, such as one that the box has made itself.
    verify: bool = True

    @property
    def base(self) -> URL:
        """The address of the page."""
        return URL.build(scheme="https" if self.tls else "http", host=self.host, port=self.port, path="/")

    @property
    def socket(self) -> URL:
        """The address of the WebSocket."""
        return self.base.with_scheme("wss" if self.tls else "ws") / "rpc"
