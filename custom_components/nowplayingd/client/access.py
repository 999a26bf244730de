"""The way to a box, and the headers by which it knows this device."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
import json
from typing import Any

import aiohttp
from yarl import URL

from .address import BoxAddress
from .errors import BadCertificate, BoxError, NotABox, NotItsAddress, NotPaired, TooOld, Unreachable, WrongName, reason
from .proof import Proof, Road
from .reach import reach

# Seconds to wait for an answer: a wrong key is answered late, up to eight seconds.
ANSWER_TIMEOUT = 12.0
_LARGEST_ANSWER = 4096


@dataclass(frozen=True, slots=True)
class Way:
    """The address of the next request, and its headers."""

    base: URL
    headers: Mapping[str, str]


class Access:
    """The identity of this device at a box.

    Only a box with a verified certificate gets the token. Every other one has to prove itself before each request, and gets a
    proof in return. There is no way back to the token.
    """

    def __init__(
        self, session: aiohttp.ClientSession, address: BoxAddress, access_token: str | None, *, must_prove: bool = False
    ) -> None:
        """Be the device of this token; None: a caller without rights of its own.

        `must_prove`: the box proves itself in spite of a certificate, as the address comes from the network.
        """
        self._session, self._address, self._token = session, address, access_token
        self._must_prove = must_prove or not address.is_verified

    async def way(self) -> Way:
        """Return the way for one request; raises a BoxError with the reason if the box does not prove itself."""
        if self._token is None:
            return Way(self._address.base, {})
        if not self._must_prove:
            return Way(self._address.base, {"Authorization": f"Bearer {self._token}"})
        return await self._prove(self._token)

    async def _prove(self, access_token: str) -> Way:
        """Exchange proofs with the box at one IP address, which the request then goes to."""
        address = self._address
        try:
            found = await reach(address)
        except (OSError, TimeoutError) as error:
            raise Unreachable(f"cannot connect to {address.base}: {reason(error)}") from error
        # A zone has a meaning on this machine alone.
        host = f"[{found.partition('%')[0]}]" if ":" in found else found
        proof = Proof(access_token, f"{host}:{address.port}", Road.CONFIRMED if address.confirmed else Road.OWN)
        base = address.base.with_host(found).with_port(address.port)
        headers = {"Host": address.base.raw_authority}
        answer = await self._ask(base / "prove", proof.claim, headers)
        return Way(base, {**headers, "Authorization": proof.complete(answer)})

    async def _ask(self, url: URL, claim: Mapping[str, str], headers: Mapping[str, str]) -> Any:
        """Send the claim of this device and return the answer of the box."""
        try:
            async with (
                asyncio.timeout(ANSWER_TIMEOUT),
                self._session.post(
                    url,
                    data=json.dumps(dict(claim)).encode(),
                    headers={**headers, "Content-Type": "application/json"},
                    allow_redirects=False,
                ) as response,
            ):
                content = await response.content.read(_LARGEST_ANSWER)
                status = response.status
        except aiohttp.ClientConnectorCertificateError as error:
            raise BadCertificate(f"the certificate of {url.origin()} is not valid: {error.certificate_error}") from error
        except (aiohttp.ClientError, OSError, TimeoutError, ValueError) as error:
            raise Unreachable(f"cannot reach {url}: {reason(error)}") from error
        if status != 200:
            raise _refusal(status, url)
        try:
            return json.loads(content)
        except (ValueError, RecursionError):
            return None


def _refusal(status: int, url: URL) -> BoxError:
    """Return the reason of a refused claim."""
    match status:
        case 401:
            return NotPaired("the box does not know this device")
        case 404 | 405:
            return TooOld(f"{url.parent} cannot prove that it is the box; check the path, and update nowplaying-web or use TLS")
        case 409:
            return NotItsAddress(f"{url.origin()} is not the address of the box; confirm it in the settings of the integration")
        case 421:
            return WrongName(f"the box does not accept the name of {url.origin()}")
        case 429 | 502 | 503 | 504:
            return Unreachable(f"{url} was refused with the status {status}")
        case _:
            return NotABox(f"{url} was refused with the status {status}")
