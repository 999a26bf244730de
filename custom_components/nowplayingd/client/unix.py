"""The control socket of nowplayingd on this machine."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
import os

from .connection import Connection, Notified
from .errors import BoxError, NotPaired, Unreachable, reason

# Bytes of one line from the daemon: a page of the queue, or the answers of a batch.
LONGEST_LINE = 16 << 20
# The code of the refusal of a user without any rights, after which the daemon closes the connection.
_DENIED = 403


def socket_paths() -> Iterator[str]:
    """Return the sockets to try in their order: that of NOWPLAYING_SOCKET alone, else the usual ones."""
    if named := os.environ.get("NOWPLAYING_SOCKET"):
        yield named
        return
    if folder := os.environ.get("XDG_RUNTIME_DIR"):
        yield f"{folder}/nowplayingd/control.sock"
    yield f"/run/user/{os.getuid()}/nowplayingd/control.sock"
    yield "/run/nowplayingd/control.sock"


def boot_id() -> str:
    """Return the boot of this machine to which its monotonic clock belongs; empty if the system does not say it."""
    try:
        with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
            return file.read().strip()
    except OSError:
        return ""


class UnixSocket(Connection):
    """An open control socket. `run` reads from it until its end."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Take over a socket that is open."""
        super().__init__()
        self._reader, self._writer = reader, writer

    @classmethod
    async def open(cls, path: str | None = None) -> UnixSocket:
        """Connect to a socket; None: to the first usual one that accepts. Raises Unreachable with the reason of each."""
        refusals = []
        for one in [path] if path is not None else list(dict.fromkeys(socket_paths())):
            try:
                return cls(*await asyncio.open_unix_connection(one, limit=LONGEST_LINE))
            except (OSError, ValueError) as error:
                refusals.append(f"cannot connect to {one}: {reason(error)}")
        raise Unreachable("; ".join(refusals))

    async def run(self, notified: Notified) -> BoxError:
        """Read until the end of the connection and return its reason. `notified` gets each notification in its order."""
        try:
            while line := await self._reader.readline():
                self._take(line, notified)
            if self._denial is not None and self._denial.code == _DENIED:
                return NotPaired(str(self._denial))
            return Unreachable("nowplayingd has ended the connection")
        except (OSError, ValueError) as error:
            return Unreachable(f"the connection failed: {reason(error)}")
        finally:
            self._fail_calls()

    async def close(self) -> None:
        """Close the connection; calls without an answer fail."""
        self._fail_calls()
        self._writer.close()

    async def _send(self, line: str) -> None:
        """Send a line; raises ConnectionError if the connection has ended."""
        try:
            self._writer.write(line.encode() + b"\n")
            await self._writer.drain()
        except (OSError, RuntimeError) as error:
            raise ConnectionError(reason(error)) from error
