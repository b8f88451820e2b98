"""The protocol's methods: sessions are opened, found, prompted and closed by id.

The MCP servers that an editor names for a session, as our settings would name them.
"""

import asyncio
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, assert_never, cast

from acp import PROTOCOL_VERSION, Agent, Client, RequestError
from acp.core import AgentSideConnection
from acp.helpers import ContentBlock
from acp.schema import (
    AcpMcpServer,
    AgentCapabilities,
    AuthenticateResponse,
    ClientCapabilities,
    CloseSessionResponse,
    ForkSessionResponse,
    HttpMcpServer,
    Implementation,
    InitializeResponse,
    ListSessionsResponse,
    LoadSessionResponse,
    McpCapabilities,
    McpServerStdio,
    NewSessionResponse,
    PromptCapabilities,
    PromptResponse,
    ResumeSessionResponse,
    SessionAdditionalDirectoriesCapabilities,
    SessionCapabilities,
    SessionCloseCapabilities,
    SessionForkCapabilities,
    SessionInfo,
    SessionListCapabilities,
    SessionResumeCapabilities,
    SetSessionConfigOptionResponse,
    SetSessionModeResponse,
    SseMcpServer,
)

from coder_tui import __version__
from coder_tui.acp.opening import Opener, Wish
from coder_tui.acp.session import ServedSession
from coder_tui.acp.updates import MODE, MODEL, modes_of
from coder_tui.acp.wire import Wire
from coder_tui.protocol.access import Mode
from coder_tui.protocol.errors import NoModelError, UsageError, UserError
from coder_tui.protocol.outcomes import NoticeLevel
from coder_tui.text.safe_text import safe_line

McpServer = HttpMcpServer | SseMcpServer | AcpMcpServer | McpServerStdio


def settings_of(servers: Iterable[McpServer]) -> dict[str, dict[str, object]]:
    """Those that speak through the editor itself are left out: `unknown` names them."""
    return {server.name: entry for server in servers if (entry := _entry(server)) is not None}


def unknown(servers: Iterable[McpServer]) -> list[str]:
    return [server.name for server in servers if _entry(server) is None]


def _entry(server: McpServer) -> dict[str, object] | None:
    match server:
        case McpServerStdio():
            variables = {each.name: each.value for each in server.env}
            return {"command": server.command, "args": list(server.args), "env": variables}
        case HttpMcpServer() | SseMcpServer():
            headers = {each.name: each.value for each in server.headers}
            return {"url": server.url, "transport": server.type, "headers": headers}
        case AcpMcpServer():
            return None
        case _:
            assert_never(server)


AUTH_REQUIRED, NOT_FOUND, INVALID, INTERNAL = -32000, -32002, -32602, -32603
PAGE = 50
MOST = 1000
McpServers = list[McpServer] | None
NOT_SPOKEN = "These MCP servers speak through the editor, which is not known here"


class CoderAgent:
    """One editor's sessions. `on_connect` comes first; `close` ends them all."""

    def __init__(self, opener: Opener) -> None:
        self._opener = opener
        self._client: Client | None = None
        self._sessions: dict[str, ServedSession] = {}
        self._tells_files = False

    def on_connect(self, conn: Client) -> None:
        self._client = conn

    async def close(self) -> None:
        served, self._sessions = tuple(self._sessions.values()), {}
        await asyncio.gather(*(each.close() for each in served))

    async def initialize(
        self,
        protocol_version: int,
        client_capabilities: ClientCapabilities | None = None,
        client_info: Implementation | None = None,
        **_: Any,
    ) -> InitializeResponse:
        files = client_capabilities.fs if client_capabilities else None
        self._tells_files = bool(files and files.read_text_file)
        return InitializeResponse(
            protocol_version=min(protocol_version, PROTOCOL_VERSION),
            agent_info=Implementation(name="coder-tui", title="coder-tui", version=__version__),
            auth_methods=[],
            agent_capabilities=AgentCapabilities(
                load_session=True,
                prompt_capabilities=PromptCapabilities(image=True, audio=False, embedded_context=True),
                mcp_capabilities=McpCapabilities(http=True, sse=True),
                session_capabilities=SessionCapabilities(
                    list=SessionListCapabilities(),
                    fork=SessionForkCapabilities(),
                    resume=SessionResumeCapabilities(),
                    close=SessionCloseCapabilities(),
                    additional_directories=SessionAdditionalDirectoriesCapabilities(),
                ),
            ),
        )

    async def authenticate(self, method_id: str, **_: Any) -> AuthenticateResponse:
        """There is nothing to prove: whoever started the process may use it."""
        return AuthenticateResponse()

    async def new_session(
        self,
        cwd: str,
        additional_directories: list[str] | None = None,
        mcp_servers: McpServers = None,
        **_: Any,
    ) -> NewSessionResponse:
        served = await self._open(Wish(cwd, tuple(additional_directories or ())), mcp_servers)
        # Its updates are sent behind this answer, which tells the editor of the session.
        served.begin()
        modes, options = modes_of(served.session.mode), [*served.options]
        return NewSessionResponse(session_id=served.session.id, modes=modes, config_options=options)

    async def load_session(
        self,
        cwd: str,
        session_id: str,
        mcp_servers: McpServers = None,
        additional_directories: list[str] | None = None,
        **_: Any,
    ) -> LoadSessionResponse:
        served = await self._resumed(cwd, session_id, additional_directories, mcp_servers)
        await served.replay()
        return LoadSessionResponse(modes=modes_of(served.session.mode), config_options=[*served.options])

    async def resume_session(
        self,
        session_id: str,
        cwd: str,
        additional_directories: list[str] | None = None,
        mcp_servers: McpServers = None,
        **_: Any,
    ) -> ResumeSessionResponse:
        served = await self._resumed(cwd, session_id, additional_directories, mcp_servers)
        return ResumeSessionResponse(modes=modes_of(served.session.mode), config_options=[*served.options])

    async def fork_session(
        self,
        session_id: str,
        cwd: str,
        additional_directories: list[str] | None = None,
        mcp_servers: McpServers = None,
        **_: Any,
    ) -> ForkSessionResponse:
        """A session with all that was said in an open one, which stays as it is."""
        served = self._served(session_id)
        with self._told():
            forked = await served.session.forks.fork()
        fork = await self._resumed(cwd, forked.session_id, additional_directories, mcp_servers)
        fork.begin()
        modes, options = modes_of(fork.session.mode), [*fork.options]
        return ForkSessionResponse(session_id=forked.session_id, modes=modes, config_options=options)

    async def list_sessions(
        self, cwd: str | None = None, cursor: str | None = None, **_: Any
    ) -> ListSessionsResponse:
        start = _start(cursor)
        with self._told():
            stored = await self._opener.stored(cwd, MOST)
        page = stored[start : start + PAGE]
        more = str(start + PAGE) if start + PAGE < len(stored) else None
        listed = [
            SessionInfo(
                session_id=info.id,
                cwd=info.directory,
                title=safe_line(info.title) or None,
                updated_at=info.updated.isoformat(),
            )
            for info in page
        ]
        return ListSessionsResponse(sessions=listed, next_cursor=more)

    async def close_session(self, session_id: str, **_: Any) -> CloseSessionResponse:
        served = self._served(session_id)
        del self._sessions[session_id]
        with self._told():
            await served.close()
        return CloseSessionResponse()

    async def set_session_mode(self, session_id: str, mode_id: str, **_: Any) -> SetSessionModeResponse:
        await self._served(session_id).set_mode(_mode(mode_id))
        return SetSessionModeResponse()

    async def set_config_option(
        self, config_id: str, session_id: str, value: str | bool, **_: Any
    ) -> SetSessionConfigOptionResponse:
        served = self._served(session_id)
        if config_id == MODE:
            await served.set_mode(_mode(str(value)))
        elif config_id == MODEL:
            with self._told():
                await served.set_model(str(value))
        else:
            raise RequestError(INVALID, f"there is nothing to set that is called {config_id!r}")
        return SetSessionConfigOptionResponse(config_options=[*served.options])

    async def prompt(self, session_id: str, prompt: list[ContentBlock], **_: Any) -> PromptResponse:
        served = self._served(session_id)
        with self._told():
            return PromptResponse(stop_reason=await served.prompt(prompt))

    async def cancel(self, session_id: str, **_: Any) -> None:
        if served := self._sessions.get(session_id):
            served.cancel()

    async def _resumed(
        self, cwd: str, session_id: str, added: list[str] | None, mcp_servers: McpServers
    ) -> ServedSession:
        """One that is open here already is closed first: the editor forgot of it, and wants it anew."""
        served = self._sessions.get(session_id)
        # With another folder it is refused below, and what is open goes on.
        if served and await asyncio.to_thread(os.path.realpath, cwd) == str(served.session.directory):
            del self._sessions[session_id]
            await served.close()
        return await self._open(Wish(cwd, tuple(added or ()), session_id), mcp_servers)

    async def _open(self, wish: Wish, mcp_servers: McpServers) -> ServedSession:
        assert self._client is not None
        if not Path(wish.directory).is_absolute():
            raise RequestError(INVALID, f"cwd must be an absolute path, and {wish.directory!r} is none")
        wish = replace(wish, servers=settings_of(mcp_servers or ()))
        with self._told():
            opened = await self._opener.open(wish)
        if names := unknown(mcp_servers or ()):
            opened.session.notice(NoticeLevel.WARNING, f"{NOT_SPOKEN}: {', '.join(names)}.")
        served = ServedSession(wish, opened, self._opener, self._client, asks_editor=self._tells_files)
        self._sessions[opened.session.id] = served
        return served

    def _served(self, session_id: str) -> ServedSession:
        try:
            return self._sessions[session_id]
        except KeyError:
            raise RequestError(NOT_FOUND, f"no session {session_id!r} is open here") from None

    @contextmanager
    def _told(self) -> Iterator[None]:
        """What a person can mend, as the protocol tells it."""
        try:
            yield
        except NoModelError as error:
            raise RequestError(AUTH_REQUIRED, self._opener.redact(str(error))) from error
        except UsageError as error:
            raise RequestError(INVALID, self._opener.redact(str(error))) from error
        except UserError as error:
            raise RequestError(INTERNAL, self._opener.redact(str(error))) from error


def _mode(name: str) -> Mode:
    if name not in list(Mode):
        raise RequestError(INVALID, f"there is no mode {name!r}; choose from {', '.join(Mode)}")
    return Mode(name)


def _start(cursor: str | None) -> int:
    if cursor is None:
        return 0
    if not (cursor.isdecimal() and len(cursor) < 10):
        raise RequestError(INVALID, f"{cursor!r} is no cursor of ours")
    return int(cursor)


async def serve(wire: Wire, opener: Opener) -> None:
    """Until the editor goes away; then nothing of it is left running."""
    agent = CoderAgent(opener)
    # The methods that are missing are told to be, which the library does for what is not there.
    connection = AgentSideConnection(cast(Agent, agent), wire, listening=False, use_unstable_protocol=True)
    try:
        await connection.listen()
    finally:
        await agent.close()
        await connection.close()
