"""What a connection to a language server needs from whoever holds it, and how its requests fail."""

from collections.abc import Awaitable
from typing import Any, Protocol


class GoneError(Exception):
    """The server ended before it answered."""


class NotAnsweredError(Exception):
    """The time was up; the answer, should it still come, is dropped."""


_LONGEST_WORDS = 1_000
# It was busy with a change, or cancelled the request itself.
_AGAIN = frozenset({-32801, -32802})


class RefusedError(Exception):
    """The server answered with an error, or with something that cannot be read."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message[:_LONGEST_WORDS])
        self.code = code

    @property
    def asks_for_another_try(self) -> bool:
        return self.code in _AGAIN


class UnknownRequestError(Exception):
    """The server asks for something that is not part of the protocol as it is known here."""


class Reader(Protocol):
    def readline(self) -> Awaitable[bytes]: ...
    def readexactly(self, n: int) -> Awaitable[bytes]: ...


class Writer(Protocol):
    def write(self, data: bytes) -> Any: ...
    def close(self) -> Any: ...


class Peer(Protocol):
    """The side that the server speaks to; all of it is called in the event loop and must not block."""

    def answer(self, method: str, params: Any) -> Any:
        """The result for a request of the server's; `UnknownRequestError` where there is none."""

    def hear(self, method: str, params: Any) -> None:
        """A notification."""

    def garbled(self, reason: str) -> None:
        """Something arrived that is no message."""
