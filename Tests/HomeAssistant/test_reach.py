"""The attempts to reach a box."""

from __future__ import annotations

import asyncio
from typing import Any

from custom_components.nowplayingd.client import BoxAddress, BoxSocket, Delays, Unreachable, reach as client_reach
from homeassistant.core import HomeAssistant
from homeassistant.helpers.aiohttp_client import async_get_clientsession
from house import House
import pytest


async def test_attempts_without_an_answer(hass: HomeAssistant, house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """While an attempt has no answer, others begin: the first one that has an answer counts, and all others end."""
    touch = client_reach._touch
    lost: list[asyncio.Task[Any]] = []

    async def touch_later(places: list[Any]) -> str:
        if len(lost) < 2:
            lost.append(asyncio.current_task())
            await asyncio.Event().wait()
        return await touch(places)

    monkeypatch.setattr(client_reach, "_touch", touch_later)
    socket = await BoxSocket.open(async_get_clientsession(hass), BoxAddress("127.0.0.1", house.port), None)
    await socket.close()
    await asyncio.wait(lost)
    assert [one.cancelled() for one in lost] == [True, True]
    # Without any answer the attempts end.
    lost.clear()
    monkeypatch.setattr(client_reach, "CONNECT_TIMEOUT", 0.1)
    with pytest.raises(Unreachable, match="no answer"):
        await BoxSocket.open(async_get_clientsession(hass), BoxAddress("127.0.0.1", house.port), None)
    await asyncio.wait(lost)
    assert lost[0].cancelled()


async def test_several_addresses(hass: HomeAssistant, house: House) -> None:
    """A name has several addresses: the first one that accepts counts, else the last failure."""
    refused, accepted = ((2, 1, 6, "", ("127.0.0.1", port)) for port in (1, house.port))
    assert await client_reach._touch([refused, accepted]) == "127.0.0.1"
    with pytest.raises(ConnectionRefusedError):
        await client_reach._touch([refused])
    with pytest.raises(OSError, match="no address"):
        await client_reach._touch([])


def test_delays() -> None:
    """Attempts come soon, then several times a second, and once a second after a long time."""
    delays = [wait for wait, _ in zip(Delays(patience=20), range(40), strict=False)]
    assert delays[0] <= 0.05 and all(0.125 <= wait <= 0.25 for wait in delays[5:20])
    assert all(0.5 <= wait <= 1 for wait in delays[21:])
