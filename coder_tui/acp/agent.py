"""The protocol's methods: opens, finds, prompts and closes sessions by id.

MCP servers that an editor names for a session are converted to our settings.
"""

import asyncio
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, assert_never, cast

from acp import PROTOCOL_VERSION, Agent, Client, RequestError, schema
from acp.core import AgentSideConnection
from acp.helpers import ContentBlock

from coder_tui import __version__
from coder_tui.acp.session import Opener, OpenOptions, ServedSession
from coder_tui.acp.updates import MODE, MODEL
from coder_tui.acp.wire import Wire
from coder_tui.protocol.access import Mode
from coder_tui.protocol.errors import NoModelError, UsageError, UserError
from coder_tui.protocol.outcomes import NoticeLevel
from coder_tui.text.safe_text import safe_line

McpServer = schema.HttpMcpServer | schema.SseMcpServer | schema.AcpMcpServer | schema.McpServerStdio


def _entry(server: McpServer) -> dict[str, object] | None:
    """Return the server as settings, or None if it runs through the editor itself."""
    match server:
        case schema.McpServerStdio():
            variables = {each.name: each.value for each in server.env}
            return {"command": server.command, "args": list(server.args), "env": variables}
        case schema.HttpMcpServer() | schema.SseMcpServer():
            headers = {each.name: each.value for each in server.headers}
            return {"url": server.url, "transport": server.type, "headers": headers}
        case schema.AcpMcpServer():
            return None
        case _:
            assert_never(server)


AUTH_REQUIRED, NOT_FOUND, INVALID, INTERNAL = -32000, -32002, -32602, -32603
PAGE = 50
MOST = 1000
McpServers = list[McpServer] | None
UNSUPPORTED = "MCP servers that run through the editor are not supported and were left out"


class CoderAgent:
    """The sessions of one editor. Call `on_connect` first; `close` ends all sessions."""

    def __init__(self, opener: Opener) -> None:
        self._opener = opener
        self._client: Client | None = None
        self._sessions: dict[str, ServedSession] = {}
        self._reads_files = False

    def on_connect(self, conn: Client) -> None:
        self._client = conn

    async def close(self) -> None:
        served, self._sessions = tuple(self._sessions.values()), {}
        await asyncio.gather(*(each.close() for each in served))

    async def initialize(
        self,
        protocol_version: int,
        client_capabilities: schema.ClientCapabilities | None = None,
        client_info: schema.Implementation | None = None,
        **_: Any,
    ) -> schema.InitializeResponse:
        files = client_capabilities.fs if client_capabilities else None
        self._reads_files = bool(files and files.read_text_file)
        return schema.InitializeResponse(
            protocol_version=min(protocol_version, PROTOCOL_VERSION),
            agent_info=schema.Implementation(name="coder-tui", title="coder-tui", version=__version__),
            auth_methods=[],
            agent_capabilities=schema.AgentCapabilities(
                load_session=True,
                prompt_capabilities=schema.PromptCapabilities(image=True, audio=False, embedded_context=True),
                mcp_capabilities=schema.McpCapabilities(http=True, sse=True),
                session_capabilities=schema.SessionCapabilities(
                    list=schema.SessionListCapabilities(),
                    fork=schema.SessionForkCapabilities(),
                    resume=schema.SessionResumeCapabilities(),
                    close=schema.SessionCloseCapabilities(),
                    additional_directories=schema.SessionAdditionalDirectoriesCapabilities(),
                ),
            ),
        )

    async def authenticate(self, method_id: str, **_: Any) -> schema.AuthenticateResponse:
        """Accept: the editor started this process, so it may use it."""
        return schema.AuthenticateResponse()

    async def new_session(
        self,
        cwd: str,
        additional_directories: list[str] | None = None,
        mcp_servers: McpServers = None,
        **_: Any,
    ) -> schema.NewSessionResponse:
        served = await self._open(OpenOptions(cwd, tuple(additional_directories or ())), mcp_servers)
        # Updates are sent after this response, from which the editor learns the session's id.
        served.begin()
        return schema.NewSessionResponse(session_id=served.session.id, **served.state)

    async def load_session(
        self,
        cwd: str,
        session_id: str,
        mcp_servers: McpServers = None,
        additional_directories: list[str] | None = None,
        **_: Any,
    ) -> schema.LoadSessionResponse:
        served = await self._resumed(cwd, session_id, additional_directories, mcp_servers)
        await served.replay()
        return schema.LoadSessionResponse(**served.state)

    async def resume_session(
        self,
        session_id: str,
        cwd: str,
        additional_directories: list[str] | None = None,
        mcp_servers: McpServers = None,
        **_: Any,
    ) -> schema.ResumeSessionResponse:
        served = await self._resumed(cwd, session_id, additional_directories, mcp_servers)
        return schema.ResumeSessionResponse(**served.state)

    async def fork_session(
        self,
        session_id: str,
        cwd: str,
        additional_directories: list[str] | None = None,
        mcp_servers: McpServers = None,
        **_: Any,
    ) -> schema.ForkSessionResponse:
        """Copy an open session, which stays as it is."""
        served = self._served(session_id)
        with self._protocol_errors():
            forked = await served.session.forks.fork()
        fork = await self._resumed(cwd, forked.session_id, additional_directories, mcp_servers)
        fork.begin()
        return schema.ForkSessionResponse(session_id=forked.session_id, **fork.state)

    async def list_sessions(
        self, cwd: str | None = None, cursor: str | None = None, **_: Any
    ) -> schema.ListSessionsResponse:
        start = _start(cursor)
        with self._protocol_errors():
            stored = await self._opener.stored(cwd, MOST)
        page = stored[start : start + PAGE]
        more = str(start + PAGE) if start + PAGE < len(stored) else None
        listed = [
            schema.SessionInfo(
                session_id=info.id,
                cwd=info.directory,
                title=safe_line(info.title) or None,
                updated_at=info.updated.isoformat(),
            )
            for info in page
        ]
        return schema.ListSessionsResponse(sessions=listed, next_cursor=more)

    async def close_session(self, session_id: str, **_: Any) -> schema.CloseSessionResponse:
        served = self._served(session_id)
        del self._sessions[session_id]
        with self._protocol_errors():
            await served.close()
        return schema.CloseSessionResponse()

    async def set_session_mode(
        self, session_id: str, mode_id: str, **_: Any
    ) -> schema.SetSessionModeResponse:
        await self._served(session_id).set_mode(_mode(mode_id))
        return schema.SetSessionModeResponse()

    async def set_config_option(
        self, config_id: str, session_id: str, value: str | bool, **_: Any
    ) -> schema.SetSessionConfigOptionResponse:
        served = self._served(session_id)
        if config_id == MODE:
            await served.set_mode(_mode(str(value)))
        elif config_id == MODEL:
            with self._protocol_errors():
                await served.set_model(str(value))
        else:
            raise RequestError(INVALID, f"there is no option {config_id!r}; choose {MODE} or {MODEL}")
        return schema.SetSessionConfigOptionResponse(config_options=[*served.options])

    async def prompt(self, session_id: str, prompt: list[ContentBlock], **_: Any) -> schema.PromptResponse:
        served = self._served(session_id)
        with self._protocol_errors():
            return schema.PromptResponse(stop_reason=await served.prompt(prompt))

    async def cancel(self, session_id: str, **_: Any) -> None:
        if served := self._sessions.get(session_id):
            served.cancel()

    async def _resumed(
        self, cwd: str, session_id: str, added: list[str] | None, mcp_servers: McpServers
    ) -> ServedSession:
        """Open a stored session. If it is already open here, it is closed first."""
        served = self._sessions.get(session_id)
        # With another folder it is refused below, and the open session continues.
        if served and await asyncio.to_thread(os.path.realpath, cwd) == str(served.session.directory):
            del self._sessions[session_id]
            await served.close()
        return await self._open(OpenOptions(cwd, tuple(added or ()), session_id), mcp_servers)

    async def _open(self, options: OpenOptions, mcp_servers: McpServers) -> ServedSession:
        assert self._client is not None
        if not Path(options.directory).is_absolute():
            raise RequestError(INVALID, f"cwd must be an absolute path, but is {options.directory!r}")
        entries = [(server.name, _entry(server)) for server in mcp_servers or ()]
        known = {name: entry for name, entry in entries if entry is not None}
        options = replace(options, servers=known)
        with self._protocol_errors():
            opened = await self._opener.open(options)
        if names := sorted({name for name, _ in entries} - known.keys()):
            opened.session.notice(NoticeLevel.WARNING, f"{UNSUPPORTED}: {', '.join(names)}.")
        served = ServedSession(options, opened, self._opener, self._client, asks_editor=self._reads_files)
        self._sessions[opened.session.id] = served
        return served

    def _served(self, session_id: str) -> ServedSession:
        try:
            return self._sessions[session_id]
        except KeyError:
            raise RequestError(NOT_FOUND, f"session {session_id!r} is not open") from None

    @contextmanager
    def _protocol_errors(self) -> Iterator[None]:
        """Turn errors that the user can fix into errors of the protocol."""
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
        raise RequestError(INVALID, f"invalid cursor {cursor!r}")
    return int(cursor)


async def serve(wire: Wire, opener: Opener) -> None:
    """Serve until the editor disconnects, then close all sessions."""
    agent = CoderAgent(opener)
    # The library reports methods that CoderAgent does not have as not implemented.
    connection = AgentSideConnection(cast(Agent, agent), wire, listening=False, use_unstable_protocol=True)
    try:
        await connection.listen()
    finally:
        await agent.close()
        await connection.close()
