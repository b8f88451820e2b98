"""Language servers that answer when a test says so."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from coder_tui.lsp.pool import FileProblems, ServerLine
from coder_tui.lsp.report import Report
from coder_tui.lsp.wire import Answered, Question
from coder_tui.protocol.diagnostics import ServerStatus


class NoServers:
    """For sessions whose tests ask no server about names."""

    async def ask(
        self, question: Question, path: Path, text: str, *, line: int = 0, character: int = 0
    ) -> Answered:
        raise NotImplementedError

    async def servers(self) -> tuple[ServerLine, ...]:
        return ()

    async def restart(self, name: str) -> bool:
        return False

    def warm(self, paths: Iterable[Path]) -> None:
        return None


@dataclass
class ScriptedServers:
    """Each answer is taken from its queue: what is not there yet is waited for. `asked` is what was asked."""

    reports: "asyncio.Queue[Report]" = field(default_factory=asyncio.Queue)
    checks: "asyncio.Queue[Report]" = field(default_factory=asyncio.Queue)
    words: "asyncio.Queue[ServerStatus]" = field(default_factory=asyncio.Queue)
    late: dict[Path, Report] = field(default_factory=dict)
    asked: "asyncio.Queue[tuple[str, object]]" = field(default_factory=asyncio.Queue)
    expected: list[tuple[str, str]] = field(default_factory=list)
    """What is about to be written, "" once it is not."""
    known: set[str] = field(default_factory=set)
    """Files that servers have before them."""
    turns: int = 0
    given_up: "asyncio.Queue[str]" = field(default_factory=asyncio.Queue)

    async def diagnostics(self, path: Path, text: str) -> FileProblems:
        self.asked.put_nowait(("diagnostics", (path.name, text)))
        return FileProblems(await self.words.get())

    async def after_change(self, paths: Sequence[Path], before: Mapping[Path, str] | None = None) -> Report:
        self.asked.put_nowait(("after_change", {path.name: (before or {}).get(path) for path in paths}))
        return await self.reports.get()

    async def expect_write(self, path: Path, text: str) -> None:
        self.expected.append((path.name, text))

    async def cancel_expected_write(self, path: Path) -> None:
        self.expected.append((path.name, ""))

    async def check_proposed(self, path: Path, text: str, before: str | None = None) -> Report:
        self.asked.put_nowait(("check_proposed", (path.name, text)))
        try:
            return await self.checks.get()
        except asyncio.CancelledError:
            self.given_up.put_nowait(path.name)
            raise

    async def notify_changes(self, paths: Iterable[Path]) -> tuple[Path, ...]:
        changed = tuple(paths)
        self.asked.put_nowait(("notify_changes", [path.name for path in changed]))
        return tuple(path for path in changed if path.name in self.known)

    def begin_turn(self) -> None:
        self.turns += 1

    def pop_late_reports(self) -> dict[Path, Report]:
        late, self.late = self.late, {}
        return late
