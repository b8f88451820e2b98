"""Time an edit in a session with language servers, next to one without and a plain script after it."""

import asyncio
import json
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from uuid import uuid4

from bench.lsp_cases import WARM_UP, Times, rest, texts
from coder_tui.agent.session import Session
from coder_tui.agent.turn.model_request import ModelChoice
from coder_tui.bootstrap.session_factory import SessionFactory
from coder_tui.llm.client import ModelRequest, StreamFinished, StreamItem, TextChunk, ToolCallChunk
from coder_tui.protocol.access import Mode
from coder_tui.protocol.diagnostics import ServerStatus
from coder_tui.protocol.events import Event, ToolFinished, ToolStarted
from coder_tui.protocol.messages import FinishReason, ToolMessage
from coder_tui.storage.store import Store
from coder_tui.tools.base import JsonObject
from tests.fakes.lsp_plain import PlainClient, plain_client
from tests.fakes.lsp_pools import server_path
from tests.fakes.lsp_real import Case
from tests.fakes.program import NO_SERVERS
from tests.fakes.real_tools import setup_in

_PATIENCE = 60.0


@dataclass(slots=True)
class Writer:
    """A model that writes one file in each turn, and keeps the result."""

    file: str
    text: str = ""
    result: JsonObject = field(default_factory=dict)

    async def stream(self, request: ModelRequest) -> AsyncIterator[StreamItem]:
        last = request.messages[-1]
        if isinstance(last, ToolMessage):
            self.result = json.loads(last.content)
            yield TextChunk("Done.")
            yield StreamFinished(FinishReason.STOP)
            return
        arguments = {"path": self.file, "content": self.text}
        yield ToolCallChunk(0, uuid4().hex, "write", json.dumps(arguments))
        yield StreamFinished(FinishReason.TOOL_CALLS)

    async def warm(self) -> None:
        return None

    async def close(self) -> None:
        return None


@dataclass(slots=True)
class Editing:
    """A session, and how long its calls take: from their start to the stored result."""

    session: Session
    model: Writer
    began: float = 0.0
    took: float = 0.0

    def hear(self, event: Event) -> None:
        match event:
            case ToolStarted():
                self.began = time.perf_counter()
            case ToolFinished():
                self.took = 1000 * (time.perf_counter() - self.began)
            case _:
                pass

    async def write(self, text: str) -> float:
        self.model.text = text
        await rest()
        await self.session.submit("Go on.")
        if not self.model.result["ok"]:
            raise SystemExit(f"{self.model.file}: {self.model.result}")
        return self.took

    @property
    def is_known(self) -> bool:
        """Return whether the result has what servers report about this text."""
        return bool(self.model.result.get("diagnostics", {}).get("server_status") == ServerStatus.FRESH)


@asynccontextmanager
async def _editing(folder: Path, file: str, servers: str) -> AsyncIterator[Editing]:
    (folder / "project").mkdir(parents=True)
    waits = {"CODER_TUI_TOOLS__EDIT_WAIT_SEC": "60"}
    setup = setup_in(folder / "home", folder / "project", Mode.EDITS, servers, **waits)
    model = Writer(file)
    core = SessionFactory(setup, await Store.open(setup.directories.database), model, ModelChoice("scripted"))
    session = await core.new_session()
    editing = Editing(session, model)
    session.subscribe(editing.hear)
    try:
        yield editing
    finally:
        await session.close()
        await core.close()


async def _with_servers(editing: Editing, text: str) -> float:
    took = await editing.write(text)
    if not editing.is_known:
        raise SystemExit(f"{editing.model.file}: {editing.model.result}")
    return took


async def _with_script(editing: Editing, client: PlainClient, path: Path, text: str, case: Case) -> float:
    took = await editing.write(text)
    await rest()
    began = time.perf_counter()
    await client.first(path, text, case.language)
    return took + 1000 * (time.perf_counter() - began)


async def _settle(editing: Editing, case: Case) -> None:
    """Wait until the server is up and knows the file."""
    async with asyncio.timeout(_PATIENCE):
        number = 1
        while not editing.is_known:
            await editing.write(case.clean(1000 + number))
            number += 1


async def measure(case: Case, folder: Path, rounds: int) -> Times:
    servers = json.dumps({"*": {"enabled": False}, case.server: {"enabled": True}})
    initialization = dict(case.spec.initialization) if case.spec.initialization else None
    times, root = Times(), folder / "plain" / "project"
    async with (
        _editing(folder / "ours", case.file, servers) as ours,
        _editing(folder / "plain", case.file, NO_SERVERS) as plain,
        plain_client(case.argv, root, server_path(), initialization=initialization) as client,
    ):
        await _settle(ours, case)
        await plain.write(case.clean(1))
        await client.check(root / case.file, case.clean(1), case.language)
        for number, text in enumerate(texts(case, rounds)):
            one = await _with_servers(ours, text)
            other = await _with_script(plain, client, root / case.file, text, case)
            if number >= WARM_UP:
                times.ours.append(one)
                times.plain.append(other)
    return times
