"""Speaks to one MCP server; the only module that imports the SDK, in the MCP host."""

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

from coder_tui.mcp.login import Login, LoginNeededError, RedirectGuard, RefusedRedirectError, TokenFile
from coder_tui.mcp.replies import (
    MOST_ENTRIES,
    drop_invalid,
    limit_entries,
    limit_parts,
    limit_structured,
    prompt_info,
    read_contents,
    read_part,
    resource_info,
    tool_info,
)
from coder_tui.mcp.wire import Answer, Failure, Offer, ServerOrder, Transport
from coder_tui.shell.hosts.server import ServerProcess

Streams = tuple[Any, Any]
Progress = Callable[[float, float | None, str], None]
Listing = TypeVar("Listing")
_PAGES = 100
_NAME = "coder-tui"
# Messages of the SDK.
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
    """The server cannot be reached or understood; the message says why."""


class Connection:
    """A connected server. Calls may run concurrently."""

    def __init__(self, client: Client, ended: asyncio.Event, notes: list[str], login: Login) -> None:
        self._client = client
        self._notes = notes
        self._login = login
        self.ended = ended
        """Set when nothing more can come from the server."""

    async def offer(self) -> Offer:
        """Read everything that the server offers. Raises `ServerGoneError`."""
        self._notes.clear()
        has, info = self._client.server_capabilities, self._client.server_info
        try:
            tools = await _pages(self._client.list_tools, lambda page: page.tools) if has.tools else []
            prompts = (
                await _pages(self._client.list_prompts, lambda page: page.prompts) if has.prompts else []
            )
            resources = await self._resources() if has.resources else []
        except (MCPError, ValidationError, httpx2.HTTPError) as error:
            raise ServerGoneError(f"its lists cannot be read: {_sentence(error)}") from error
        note = self._notes.append
        return Offer(
            tuple(limit_entries((tool_info(_plain(each)) for each in tools), "tools", note)),
            tuple(limit_entries((prompt_info(_plain(each)) for each in prompts), "prompts", note)),
            tuple(limit_entries((resource_info(_plain(each)) for each in resources), "resources", note)),
            f"{info.name} {info.version}" if info else "",
            self._client.protocol_version,
            tuple(dict.fromkeys(self._notes)),
        )

    async def _resources(self) -> list[BaseModel]:
        found: list[BaseModel] = [*await _pages(self._client.list_resources, lambda page: page.resources)]
        # Not every server with resources supports templates.
        with contextlib.suppress(MCPError):
            read = self._client.list_resource_templates
            found += await _pages(read, lambda page: page.resource_templates)
        return found

    async def call(
        self, tool: str, arguments: dict[str, Any], seconds: float, on_progress: Progress
    ) -> Answer:
        async def report(progress: float, total: float | None, message: str | None) -> None:
            on_progress(progress, total, message or "")

        async def ask() -> Answer:
            result = await self._client.call_tool(tool, arguments, progress_callback=report)
            parts = limit_parts(tuple(read_part(_plain(block)) for block in result.content))
            return Answer(parts, limit_structured(result.structured_content), bool(result.is_error))

        return await self._answered(ask(), seconds)

    async def prompt(self, name: str, arguments: dict[str, str], seconds: float) -> Answer:
        async def ask() -> Answer:
            result = await self._client.get_prompt(name, arguments)
            return Answer(limit_parts(tuple(read_part(_plain(each.content)) for each in result.messages)))

        return await self._answered(ask(), seconds)

    async def read(self, uri: str, seconds: float) -> Answer:
        async def ask() -> Answer:
            result = await self._client.read_resource(uri)
            return Answer(limit_parts(tuple(read_contents(_plain(each)) for each in result.contents)))

        return await self._answered(ask(), seconds)

    async def changes(self) -> AsyncGenerator[None]:
        """Yield whenever a server's lists change; older protocol versions send notifications instead."""
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
        """Return whether only a new connection helps: a restarted server does not know this one."""
        is_forgotten = error.message in _FORGOTTEN and self._login.last_status in _UNKNOWN_SESSION
        return self.ended.is_set() or error.message == _CLOSED or is_forgotten


@contextlib.asynccontextmanager
async def connected(
    order: ServerOrder, process: ServerProcess | None, login: Login, changed: Callable[[], None]
) -> AsyncIterator[Connection]:
    """Connect to a server: by `process` if it runs here. `changed` is called when its lists change.

    Raises `ServerGoneError` or `LoginNeededError`.
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
    if isinstance(found, RefusedRedirectError):
        return ServerGoneError(str(found))
    if isinstance(found, LoginNeededError) or login.is_needed:
        if _logs_in_by_header(order):
            return ServerGoneError("it rejects the configured Authorization header")
        return LoginNeededError(login.link)
    return ServerGoneError(_sentence(found))


def _first(error: BaseException) -> BaseException:
    """Return the actual error, which task groups wrap."""
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
    """Drop invalid list entries of a transport; `ended` is set when nothing more can come."""
    async with inner as (read, write):
        into, out = anyio.create_memory_object_stream[SessionMessage | Exception](0)

        async def pump() -> None:
            with contextlib.suppress(anyio.ClosedResourceError, anyio.BrokenResourceError):
                async with into:
                    async for message in read:
                        await into.send(_drop_invalid(message, notes))
            ended.set()

        async with anyio.create_task_group() as group:
            group.start_soon(pump)
            try:
                yield out, write
            finally:
                group.cancel_scope.cancel()
                out.close()


def _drop_invalid(message: SessionMessage | Exception, notes: list[str]) -> SessionMessage | Exception:
    if isinstance(message, SessionMessage) and isinstance(message.message, types.JSONRPCResponse):
        message.message.result = drop_invalid(message.message.result, notes.append)
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
            # A line that is too long raises ValueError and ends the connection.
            while line := await process.stdout.readline():
                try:
                    message = types.jsonrpc_message_adapter.validate_json(line, by_name=False)
                except ValueError:
                    process.on_stderr(line[:2_000])  # printed among the messages
                    continue
                await into.send(SessionMessage(message))


async def _to_pipe(process: ServerProcess, outbox: MemoryObjectReceiveStream[SessionMessage]) -> None:
    with contextlib.suppress(OSError):
        async with outbox:
            async for message in outbox:
                text = message.message.model_dump_json(by_alias=True, exclude_unset=True)
                process.writer.write(text.encode() + b"\n")
                await process.writer.drain()


def drop_headers_elsewhere(order: ServerOrder) -> Callable[[httpx2.Request], Awaitable[None]]:
    """Return a hook that removes the server's headers, which may be keys, from requests to other hosts."""
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
    guard = RedirectGuard(order.url)

    async def check_target(request: httpx2.Request) -> None:
        await guard.check(str(request.url))

    async def look(response: httpx2.Response) -> None:
        login.last_status = response.status_code
        login.is_needed = login.is_needed or response.status_code in (401, 403)

    def client(
        headers: dict[str, str] | None = None,
        timeout: httpx2.Timeout | None = None,
        auth: httpx2.Auth | None = None,
    ) -> httpx2.AsyncClient:
        made = create_mcp_http_client(headers or order.headers, timeout, auth or _auth(order, login))
        made.event_hooks["request"] += [drop_headers_elsewhere(order), check_target]
        made.event_hooks["response"].append(look)
        return made

    if order.transport is Transport.SSE:
        async with sse_client(order.url, order.headers, httpx_client_factory=client) as streams:
            yield streams
        return
    async with client() as http, streamable_http_client(order.url, http_client=http) as streams:
        yield streams


class _Storage:
    """Stores the SDK's login data in our file; a new login starts without the old client."""

    def __init__(self, file: TokenFile, *, is_new: bool) -> None:
        self._file = file
        self._is_new = is_new

    async def get_tokens(self) -> OAuthToken | None:
        return self._read("tokens", OAuthToken)

    async def set_tokens(self, tokens: OAuthToken) -> None:
        self._file.put("tokens", tokens.model_dump(mode="json", exclude_none=True))

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        # It was registered with an earlier redirect address.
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
    guard = RedirectGuard(order.url)

    async def sent_to(link: str) -> None:
        guard.check_link(link)
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
