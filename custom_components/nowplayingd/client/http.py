"""The paths of nowplaying-web beside the WebSocket: pairing, announcements and pictures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
import json
from typing import Any

import aiohttp

from .access import Access
from .address import BoxAddress
from .errors import BoxError, CallError, NotABox, NotPaired, PairingRefused, Unreachable, WrongName, reason
from .values import mapping, token

# A wrong code is answered late, up to eight seconds.
PAIR_TIMEOUT = 20
PICTURE_TIMEOUT = 20
# An announcement is answered at its end, and others may be before it.
ANNOUNCE_TIMEOUT = 900
LARGEST_SOUND = 16 << 20
LARGEST_PICTURE = 16 << 20
LARGEST_ANSWER = 1 << 20

ENDINGS = {
    "image/jpeg": "jpg",
    "image/png": "png",
    "image/webp": "webp",
    "image/avif": "avif",
    "image/gif": "gif",
    "image/bmp": "bmp",
}


@dataclass(frozen=True, slots=True)
class Pairing:
    """A device that was paired."""

    token: str
    id: str
    role: str


@dataclass(frozen=True, slots=True)
class Picture:
    """The bytes of a picture and their type."""

    content: bytes
    type: str


class BoxHTTP:
    """Requests to a box with a token, or without one where the box needs none."""

    def __init__(self, session: aiohttp.ClientSession, address: BoxAddress, access_token: str | None) -> None:
        """Make requests to this address."""
        self._session = session
        self._access = Access(session, address, access_token)

    async def pair(self, code: str, name: str) -> Pairing:
        """Trade a pairing code for a token; raises PairingRefused for a wrong one."""
        status, answer = await self._post(
            "pair",
            data=json.dumps({"code": code, "name": name}).encode(),
            content_type="application/json",
            timeout=PAIR_TIMEOUT,
        )
        if status == 403:
            raise PairingRefused("the code is wrong, or its time is over")
        paired = mapping(answer)
        access_token, device, role = (token(paired.get(key), 512) for key in ("token", "id", "role"))
        if status != 200 or access_token is None or device is None:
            raise NotABox(f"the pairing was answered with the status {status}")
        return Pairing(access_token, device, role or "read")

    async def announce(self, sound: bytes, parameters: Mapping[str, str | float]) -> Mapping[str, Any]:
        """Play a sound over the playback and return the answer at its end."""
        if len(sound) > LARGEST_SOUND:
            raise CallError(f"the sound has {len(sound)} bytes; an announcement has at most {LARGEST_SOUND}", status="tooLarge")
        status, answer = await self._post(
            "announce",
            data=sound,
            content_type="application/octet-stream",
            timeout=ANNOUNCE_TIMEOUT,
            query={"wait": "1", **{key: str(value) for key, value in parameters.items()}},
        )
        message = mapping(answer)
        if "error" in message:
            raise CallError.of(message["error"])
        if status == 429:
            raise CallError("other announcements have not ended", code=status, status="busy")
        if status != 200:
            raise CallError(f"the announcement was refused with the status {status}", code=status)
        return mapping(message.get("result"))

    async def picture(self, picture: str, kind: str | None, size: int | None) -> Picture | None:
        """Return a picture by its id; None if there is none, or it is no picture. `size`: pixels of the square to cover."""
        try:
            way = await self._access.way()
            url = way.base / "artwork" / f"{picture}.{ENDINGS.get(kind or '', 'jpg')}"
            async with self._session.get(
                url if size is None else url.with_query(size=size),
                headers=way.headers,
                timeout=aiohttp.ClientTimeout(total=PICTURE_TIMEOUT),
                allow_redirects=False,
            ) as response:
                if response.status != 200 or response.content_type not in ENDINGS:
                    return None
                content = await _read(response, LARGEST_PICTURE)
                return None if content is None else Picture(content, response.content_type)
        except (BoxError, aiohttp.ClientError, TimeoutError, ValueError):
            return None

    async def _post(
        self, path: str, *, data: bytes, content_type: str, timeout: float, query: Mapping[str, str] | None = None
    ) -> tuple[int, Any]:
        """Send a body; returns the status and the JSON of the answer, None if it has none."""
        way = await self._access.way()
        url = (way.base / path).with_query(dict(query or {}))
        try:
            async with self._session.post(
                url,
                data=data,
                headers={**way.headers, "Content-Type": content_type},
                timeout=aiohttp.ClientTimeout(total=timeout),
                allow_redirects=False,
            ) as response:
                content = await _read(response, LARGEST_ANSWER)
                status = response.status
        except (aiohttp.ClientError, TimeoutError, ValueError) as error:
            raise Unreachable(f"cannot reach {url.with_query(None)}: {reason(error)}") from error
        if (refusal := _REFUSALS.get(status)) is not None:
            raise refusal(f"{url.with_query(None)} was refused with the status {status}")
        try:
            return status, json.loads(content or b"")
        except ValueError:
            return status, None


_REFUSALS: dict[int, type[BoxError]] = {
    401: NotPaired,
    404: NotABox,
    405: NotABox,
    409: Unreachable,
    421: WrongName,
    502: Unreachable,
    504: Unreachable,
}


async def _read(response: aiohttp.ClientResponse, limit: int) -> bytes | None:
    """Return a body; None if it has more than `limit` bytes."""
    body = bytearray()
    async for piece in response.content.iter_chunked(1 << 16):
        body += piece
        if len(body) > limit:
            return None
    return bytes(body)
