"""Speaks to one MCP server: the only module that imports the SDK, in a process of its own."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any, TypeVar

import anyio
import httpx2
import mcp_types as types
from anyio.streams.memory import MemoryObjectReceiveStream
from mcp import Client, MCPError
from mcp.client.auth import AuthorizationCodeResult, OAuthClientProvider, OAuthFlowError
from mcp.client.sse import sse_client
from mcp.client.streamable_http import streamable_http_client
from mcp.client.subscriptions import ListenNotSupportedError, SubscriptionLost
from mcp.shared._httpx_utils import create_mcp_http_client
from mcp.shared.auth import OAuthClientInformationFull, OAuthClientMetadata, OAuthToken
from mcp.shared.message import SessionMessage
from pydantic import AnyUrl, BaseModel, ValidationError

from coder_tui.mcp.login import Abroad, Login, LoginNeededError, RefusedPlaceError, TokenFile
from coder_tui.mcp.replies import (
    MOST_ENTRIES,
    affordable,
    bounded,
    contents_of,
    mended,
    part_of,
    prompt_info,
    resource_info,
    small,
    tool_info,
)
from coder_tui.mcp.wire import Answer, Failure, Offer, ServerOrder, Transport
from coder_tui.shell.hosts.server import ServerProcess

Streams = tuple[Any, Any]
Progress = Callable[[float, float | None, str], None]
Listing = TypeVar("Listing")
_PAGES = 100
_NAME = "coder-tui"
# The SDK's own words.
_CLOSED = "Connection closed"
_FORGOTTEN = ("Session terminated", "Server returned an error response")
_UNKNOWN_SESSION = (400, 404, 410)
_START_FAILURES = (
    MCPError,
    ValidationError,
    OSError,
    RuntimeError,
    httpx2.HTTPError,
    OAuthFlowError,
    LoginNeededError,
)


class ServerGoneError(Exception):
    """The server cannot be reached, or what it says cannot be understood; the sentence says why."""


class Connection:
    """A server that has answered. Calls may go on side by side."""

    def __init__(self, client: Client, ended: asyncio.Event, notes: list[str], login: Login) -> None:
        self._client = client
        self._notes = notes
        self._login = login
        self.ended = ended
        """Set when the server does not speak any more."""

    async def offer(self) -> Offer:
        """All that the server has. Raises `ServerGoneError`."""
        self._notes.clear()
        has, info = self._client.server_capabilities, self._client.server_info
        try:
            tools = await _pages(self._client.list_tools, lambda page: page.tools) if has.tools else []
            prompts = (
                await _pages(self._client.list_prompts, lambda page: page.prompts) if has.prompts else []
            )
            resources = await self._resources() if has.resources else []
        except (MCPError, ValidationError, httpx2.HTTPError) as error:
            raise ServerGoneError(f"it does not tell what it has: {_sentence(error)}") from error
        note = self._notes.append
        return Offer(
            tuple(affordable((tool_info(_plain(each)) for each in tools), "tools", note)),
            tuple(affordable((prompt_info(_plain(each)) for each in prompts), "prompts", note)),
            tuple(affordable((resource_info(_plain(each)) for each in resources), "resources", note)),
            f"{info.name} {info.version}" if info else "",
            self._client.protocol_version,
            tuple(dict.fromkeys(self._notes)),
        )

    async def _resources(self) -> list[BaseModel]:
        found: list[BaseModel] = [*await _pages(self._client.list_resources, lambda page: page.resources)]
        # Not every server that has resources knows the other question.
        with contextlib.suppress(MCPError):
            read = self._client.list_resource_templates
            found += await _pages(read, lambda page: page.resource_templates)
        return found

    async def call(self, tool: str, arguments: dict[str, Any], seconds: float, told: Progress) -> Answer:
        async def hear(progress: float, total: float | None, message: str | None) -> None:
            told(progress, total, message or "")

        async def ask() -> Answer:
            result = await self._client.call_tool(tool, arguments, progress_callback=hear)
            parts = bounded(tuple(part_of(_plain(block)) for block in result.content))
            return Answer(parts, small(result.structured_content), bool(result.is_error))

        return await self._answered(ask(), seconds)

    async def prompt(self, name: str, arguments: dict[str, str], seconds: float) -> Answer:
        async def ask() -> Answer:
            result = await self._client.get_prompt(name, arguments)
            return Answer(bounded(tuple(part_of(_plain(each.content)) for each in result.messages)))

        return await self._answered(ask(), seconds)

    async def read(self, uri: str, seconds: float) -> Answer:
        async def ask() -> Answer:
            result = await self._client.read_resource(uri)
            return Answer(bounded(tuple(contents_of(_plain(each)) for each in result.contents)))

        return await self._answered(ask(), seconds)

    async def changes(self) -> AsyncGenerator[None]:
        """Whenever the lists of a server of today become others; older ones tell by themselves."""
        try:
            async with self._client.listen(tools_list_changed=True, prompts_list_changed=True) as heard:
                async for _ in heard:
                    yield
        except (ListenNotSupportedError, SubscriptionLost, MCPError, TimeoutError):
            return

    async def _answered(self, asking: Awaitable[Answer], seconds: float) -> Answer:
        try:
            async with asyncio.timeout(seconds):
                return await asking
        except TimeoutError:
            return Answer(failure=Failure.TIMEOUT, detail=f"no answer within {seconds:g} s")
        except MCPError as error:
            failure = Failure.GONE if self._is_lost(error) else Failure.REFUSED
            return Answer(failure=failure, detail=_sentence(error))
        except (httpx2.HTTPError, anyio.ClosedResourceError, anyio.BrokenResourceError) as error:
            return Answer(failure=Failure.GONE, detail=_sentence(error))
        except (ValidationError, RuntimeError, ValueError) as error:
            return Answer(failure=Failure.UNREADABLE, detail=_sentence(error)[:2_000])

    def _is_lost(self, error: MCPError) -> bool:
        """Whether only a new connection helps: a server that was started anew knows nothing of this one."""
        is_forgotten = error.message in _FORGOTTEN and self._login.last_status in _UNKNOWN_SESSION
        return self.ended.is_set() or error.message == _CLOSED or is_forgotten


@contextlib.asynccontextmanager
async def connected(
    order: ServerOrder, process: ServerProcess | None, login: Login, changed: Callable[[], None]
) -> AsyncIterator[Connection]:
    """`process` is the server's, where it runs here; `changed` hears that its lists are others now.

    Raises `ServerGoneError` or `LoginNeededError` where it does not come about.
    """
    ended, notes = asyncio.Event(), list[str]()
    transport = _over_pipes(process) if process else _over_http(order, login)

    async def heard(message: object) -> None:
        if isinstance(message, types.ToolListChangedNotification | types.PromptListChangedNotification):
            changed()

    client = Client(
        _read_through(transport, ended, notes),
        message_handler=heard,
        client_info=types.Implementation(name=_NAME, version="1"),
        cache=None,
    )
    async with contextlib.AsyncExitStack() as stack:
        try:
            async with asyncio.timeout(seconds := login.patience or order.start_seconds):
                await stack.enter_async_context(client)
        except TimeoutError as error:
            raise ServerGoneError(f"no answer within {seconds:g} s") from error
        except (*_START_FAILURES, ExceptionGroup) as error:
            raise _start_failure(error, order, login) from error
        yield Connection(client, ended, notes, login)


def _start_failure(error: Exception, order: ServerOrder, login: Login) -> Exception:
    found = _first(error)
    if isinstance(found, RefusedPlaceError):
        return ServerGoneError(str(found))
    if isinstance(found, LoginNeededError) or login.is_needed:
        if _logs_in_by_header(order):
            return ServerGoneError("it refuses what the header Authorization says")
        return LoginNeededError(login.link)
    return ServerGoneError(_sentence(found))


def _first(error: BaseException) -> BaseException:
    """What really happened: task groups wrap it."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def _sentence(error: BaseException) -> str:
    found = _first(error)
    return str(found) or type(found).__name__


@contextlib.asynccontextmanager
async def _read_through(
    inner: AbstractAsyncContextManager[Streams], ended: asyncio.Event, notes: list[str]
) -> AsyncIterator[Streams]:
    """The same transport with its lists mended; `ended` is set when nothing more can come."""
    async with inner as (read, write):
        into, out = anyio.create_memory_object_stream[SessionMessage | Exception](0)

        async def pump() -> None:
            with contextlib.suppress(anyio.ClosedResourceError, anyio.BrokenResourceError):
                async with into:
                    async for message in read:
                        await into.send(_mend(message, notes))
            ended.set()

        async with anyio.create_task_group() as group:
            group.start_soon(pump)
            try:
                yield out, write
            finally:
                group.cancel_scope.cancel()
                out.close()


def _mend(message: SessionMessage | Exception, notes: list[str]) -> SessionMessage | Exception:
    if isinstance(message, SessionMessage) and isinstance(message.message, types.JSONRPCResponse):
        message.message.result = mended(message.message.result, notes.append)
    return message


@contextlib.asynccontextmanager
async def _over_pipes(process: ServerProcess) -> AsyncIterator[Streams]:
    into, out = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    inbox, outbox = anyio.create_memory_object_stream[SessionMessage](0)
    async with anyio.create_task_group() as group:
        group.start_soon(_from_pipe, process, into)
        group.start_soon(_to_pipe, process, outbox)
        try:
            yield out, inbox
        finally:
            group.cancel_scope.cancel()
            for stream in (into, out, inbox, outbox):
                stream.close()


async def _from_pipe(process: ServerProcess, into: Any) -> None:
    with contextlib.suppress(ValueError, anyio.BrokenResourceError, anyio.ClosedResourceError):
        async with into:
            # A line that is longer than any may be ends it, as ValueError.
            while line := await process.stdout.readline():
                try:
                    message = types.jsonrpc_message_adapter.validate_json(line, by_name=False)
                except ValueError:
                    process.hear(line[:2_000])  # printed where only messages belong
                    continue
                await into.send(SessionMessage(message))


async def _to_pipe(process: ServerProcess, outbox: MemoryObjectReceiveStream[SessionMessage]) -> None:
    with contextlib.suppress(OSError):
        async with outbox:
            async for message in outbox:
                text = message.message.model_dump_json(by_alias=True, exclude_unset=True)
                process.writer.write(text.encode() + b"\n")
                await process.writer.drain()


def only_at_home(order: ServerOrder) -> Callable[[httpx2.Request], Awaitable[None]]:
    """Keeps the server's headers, which may be keys, from where it sends us on to."""
    home = httpx2.URL(order.url)

    async def check(request: httpx2.Request) -> None:
        url = request.url
        is_safer = (home.scheme, url.scheme, home.host) == ("http", "https", url.host)
        if url.origin != home.origin and not is_safer:
            for name in order.headers:
                request.headers.pop(name, None)

    return check


@contextlib.asynccontextmanager
async def _over_http(order: ServerOrder, login: Login) -> AsyncIterator[Streams]:
    abroad = Abroad(order.url)

    async def go_abroad(request: httpx2.Request) -> None:
        await abroad.check(str(request.url))

    async def look(response: httpx2.Response) -> None:
        login.last_status = response.status_code
        login.is_needed = login.is_needed or response.status_code in (401, 403)

    def client(
        headers: dict[str, str] | None = None,
        timeout: httpx2.Timeout | None = None,
        auth: httpx2.Auth | None = None,
    ) -> httpx2.AsyncClient:
        made = create_mcp_http_client(headers or order.headers, timeout, auth or _auth(order, login))
        made.event_hooks["request"] += [only_at_home(order), go_abroad]
        made.event_hooks["response"].append(look)
        return made

    if order.transport is Transport.SSE:
        async with sse_client(order.url, order.headers, httpx_client_factory=client) as streams:
            yield streams
        return
    async with client() as http, streamable_http_client(order.url, http_client=http) as streams:
        yield streams


class _Storage:
    """What the SDK keeps of a login, in a file of ours; a new login begins without the old one's."""

    def __init__(self, file: TokenFile, *, is_new: bool) -> None:
        self._file = file
        self._is_new = is_new

    async def get_tokens(self) -> OAuthToken | None:
        return self._read("tokens", OAuthToken)

    async def set_tokens(self, tokens: OAuthToken) -> None:
        self._file.put("tokens", tokens.model_dump(mode="json", exclude_none=True))

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        # It was registered with the address of an earlier way back.
        return None if self._is_new else self._read("client", OAuthClientInformationFull)

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self._file.put("client", client_info.model_dump(mode="json", exclude_none=True))

    def _read(self, key: str, kind: type[Listing]) -> Listing | None:
        stored = self._file.get(key)
        try:
            return None if stored is None else kind(**stored)
        except (ValidationError, TypeError):
            return None


def _logs_in_by_header(order: ServerOrder) -> bool:
    return any(name.lower() == "authorization" for name in order.headers)


def _auth(order: ServerOrder, login: Login) -> httpx2.Auth | None:
    if not order.tokens or _logs_in_by_header(order):
        return None

    async def returned() -> AuthorizationCodeResult:
        code, state, issuer = await login.returned()
        return AuthorizationCodeResult(code=code, state=state, iss=issuer)

    metadata = OAuthClientMetadata(client_name=_NAME, redirect_uris=[AnyUrl(login.address)])
    storage = _Storage(TokenFile(Path(order.tokens), order.url), is_new=bool(login.patience))
    abroad = Abroad(order.url)

    async def sent_to(link: str) -> None:
        abroad.check_link(link)
        await login.sent_to(link)

    return OAuthClientProvider(order.url, metadata, storage, sent_to, returned)


async def _pages(
    read: Callable[..., Awaitable[Any]], entries: Callable[[Any], list[Listing]]
) -> list[Listing]:
    found: list[Listing] = []
    cursor: str | None = None
    for _ in range(_PAGES):
        page = await read(cursor=cursor)
        found += entries(page)
        cursor = page.next_cursor
        if not cursor or len(found) > MOST_ENTRIES:
            break
    return found


def _plain(model: BaseModel) -> dict[str, Any]:
    return model.model_dump(mode="json", by_alias=True, exclude_none=True)
