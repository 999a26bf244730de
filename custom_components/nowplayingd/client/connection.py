"""One connection to a box: calls, their answers, and notifications. Its transport is a subclass."""

from __future__ import annotations

from abc import ABC, abstractmethod
import asyncio
from collections.abc import Callable, Mapping
import json
from typing import Any

from .errors import BoxError, CallError, Unreachable
from .values import mapping, token

# Seconds to wait for the answer to a call.
CALL_TIMEOUT = 10.0

Notified = Callable[[str, Mapping[str, Any]], None]


class Connection(ABC):
    """An open connection. `run` reads from it until its end."""

    def __init__(self) -> None:
        """Begin without calls."""
        self._calls: dict[int, asyncio.Future[Any]] = {}
        self._last_id = 0
        # The refusal of the whole connection: an error that answers no call.
        self._denial: CallError | None = None

    @abstractmethod
    async def run(self, notified: Notified) -> BoxError:
        """Read until the end of the connection and return its reason. `notified` gets each notification in its order."""

    @abstractmethod
    async def close(self) -> None:
        """Close the connection; calls without an answer fail."""

    @abstractmethod
    async def _send(self, line: str) -> None:
        """Send a text; raises ConnectionError if the connection has ended."""

    async def call(
        self, method: str, parameters: Mapping[str, Any] | None = None, *, timeout: float | None = CALL_TIMEOUT
    ) -> Any:
        """Send a request and return the result; raises CallError for a refusal, Unreachable if no answer comes."""
        self._last_id += 1
        number = self._last_id
        answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._calls[number] = answer
        try:
            async with asyncio.timeout(timeout):
                request = {"jsonrpc": "2.0", "id": number, "method": method, "params": dict(parameters or {})}
                await self._send(json.dumps(request))
                return await answer
        except TimeoutError as error:
            raise Unreachable(f"the box did not answer {method} within {timeout} s") from error
        except ConnectionError as error:
            raise Unreachable(f"the connection ended before {method} was sent") from error
        finally:
            self._calls.pop(number, None)

    def _take(self, line: str | bytes, notified: Notified) -> None:
        """Take a line from the box: a notification, or the answer to a call. Anything else is ignored."""
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):
            return
        message = mapping(value)
        if (method := token(message.get("method"), 64)) is not None:
            notified(method, mapping(message.get("params")))
            return
        number = message.get("id")
        if number is None and "error" in message:
            self._denial = CallError.of(message["error"])
        answer = self._calls.get(number) if isinstance(number, int) else None
        if answer is None or answer.done():
            return
        if "error" in message:
            answer.set_exception(CallError.of(message["error"]))
        else:
            answer.set_result(message.get("result"))

    def _fail_calls(self) -> None:
        for answer in self._calls.values():
            if not answer.done():
                answer.set_exception(Unreachable("the connection to the box has ended"))
