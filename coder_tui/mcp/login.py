"""A person's login in their browser: the address they go to, and the way back to this machine."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from urllib.parse import parse_qs, urlsplit

_HOST = "127.0.0.1"
_PATH = "/callback"
_PATIENCE = 300.0
_LONGEST = 65_536
_PAGE = (
    "HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n"
    "Done. You can close this page and go back to coder-tui.\n"
)
_NOT_HERE = "HTTP/1.1 404 Not Found\r\nConnection: close\r\n\r\n"
Returned = tuple[str, str | None, str | None]


class LoginNeededError(Exception):
    """The server wants a login that only a person can do; `link` is where, once it is known."""

    def __init__(self, link: str = "") -> None:
        super().__init__("it wants a login")
        self.link = link


class Login:
    """One attempt to reach a server; `show` gets the address where a person is there who asked for it."""

    def __init__(self, show: Callable[[str], None] | None = None) -> None:
        self._show = show
        self._back: asyncio.Future[Returned] | None = None
        self.address = f"http://{_HOST}:0{_PATH}"
        self.link = ""
        self.is_needed = False
        self.last_status = 0
        """Of the server's answers over HTTP."""
        self.patience = _PATIENCE if show else 0.0
        """Seconds that a person may take; 0 where nobody was asked."""

    @contextlib.asynccontextmanager
    async def listening(self) -> AsyncIterator[None]:
        """While a person may come back; nobody listens where nobody asked for a login."""
        if self._show is None:
            yield
            return
        self._back = asyncio.get_running_loop().create_future()
        server = await asyncio.start_server(self._serve, _HOST, 0, limit=_LONGEST)
        port = server.sockets[0].getsockname()[1]
        self.address = f"http://{_HOST}:{port}{_PATH}"
        async with server:
            yield

    async def sent_to(self, link: str) -> None:
        """The server has told where to go."""
        self.link, self.is_needed = link, True
        if self._show is None:
            raise LoginNeededError(link)
        self._show(link)

    async def returned(self) -> Returned:
        """Code, state and issuer that the browser brought back."""
        if self._back is None:
            raise LoginNeededError(self.link)
        try:
            async with asyncio.timeout(self.patience):
                return await self._back
        except TimeoutError as error:
            raise LoginNeededError(self.link) from error

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError, ValueError):
            words = (await reader.readline()).decode("latin-1").split()
            address = urlsplit(words[1] if len(words) > 1 else "")
            given = {key: values[0] for key, values in parse_qs(address.query).items()}
            is_answer = address.path == _PATH and ("code" in given or "error" in given)
            writer.write((_PAGE if is_answer else _NOT_HERE).encode())
            await writer.drain()
            if is_answer and self._back is not None and not self._back.done():
                if "code" in given:
                    self._back.set_result((given["code"], given.get("state"), given.get("iss")))
                else:
                    self._back.set_exception(LoginNeededError(self.link))
        writer.close()
