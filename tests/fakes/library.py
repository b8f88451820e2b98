"""Stored sessions and models as a test says."""

import asyncio
from datetime import UTC, datetime, timedelta
from typing import cast

from coder_tui.agent.session import Session
from coder_tui.llm.catalog import CatalogEntry
from coder_tui.protocol.access import Mode
from coder_tui.protocol.errors import UserError
from coder_tui.storage.index import Hit
from coder_tui.storage.records import SessionInfo
from tests.fakes.fake_session import FakeSession


def stored(id: str, title: str, hours: int = 1, directory: str = "/srv/project") -> SessionInfo:
    when = datetime.now(UTC) - timedelta(hours=hours, minutes=1)
    return SessionInfo(id, title, directory, "demo/model", Mode.ASK, when, when, 14, 0.37)


def model(id: str, missing: str = "", cost: float = 2.0) -> CatalogEntry:
    provider = id.partition("/")[0]
    return CatalogEntry(id, provider, ("main",), 200_000, cost, cost * 5, not missing, missing)


class FakeLibrary:
    def __init__(self, *infos: SessionInfo) -> None:
        self.infos = list(infos)
        self.elsewhere: frozenset[str] = frozenset()
        self.opened: dict[str, FakeSession] = {}
        self.asked: list[str] = []
        self.problem = ""
        self.deleted: list[SessionInfo] = []
        self.said: dict[str, str] = {}
        """What was said in a session, by its id."""
        self.sought, self.looks = asyncio.Event(), asyncio.Event()
        """Cleared, searches take as long as the test says."""
        self.looks.set()
        self.keys: dict[str, str] = {}
        self.known = (
            model("anthropic/sonnet"),
            model("openai/gpt", "set OPENAI_API_KEY"),
            model("demo/model"),
        )
        self.local = (model("ollama/qwen"),)

    async def sessions(self, *, everywhere: bool) -> tuple[SessionInfo, ...]:
        return tuple(info for info in self.infos if everywhere or info.directory == "/srv/project")

    async def open_elsewhere(self) -> frozenset[str]:
        return self.elsewhere

    async def search(self, words: str, *, everywhere: bool) -> tuple[Hit, ...]:
        self.sought.set()
        await self.looks.wait()
        self._check()
        fitting = (info for info in await self.sessions(everywhere=everywhere) if info.id in self.said)
        found = (Hit(info, self.said[info.id], 1) for info in fitting)
        return tuple(hit for hit in found if all(word in hit.excerpt for word in words.split()))

    async def rename(self, session_id: str, title: str) -> None:
        self._check()
        self.asked.append(f"rename {session_id} {title}")

    async def delete(self, session_id: str) -> None:
        self._check()
        self.deleted += [info for info in self.infos if info.id == session_id]
        self.infos = [info for info in self.infos if info.id != session_id]
        self.asked.append(f"delete {session_id}")

    async def restore(self, *, everywhere: bool) -> SessionInfo:
        self._check()
        self.infos.append(self.deleted.pop())
        self.asked.append(f"restore {self.infos[-1].id}")
        return self.infos[-1]

    async def open(self, session_id: str) -> Session:
        self._check()
        self.asked.append(f"open {session_id}")
        return cast(Session, self.opened[session_id])

    async def models(self, *, looks_around: bool) -> tuple[CatalogEntry, ...]:
        return self.known + (self.local if looks_around else ())

    async def use_model(self, name: str) -> None:
        self._check()
        self.asked.append(f"model {name}")

    async def keep_key(self, model: str, key: str) -> str:
        self._check()
        self.keys[model] = key
        return f"The key for {model} is kept."

    def _check(self) -> None:
        if self.problem:
            raise UserError(self.problem)
