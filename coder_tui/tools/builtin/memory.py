"""The `memory` tool: add a fact to the instructions that every session reads."""

import asyncio
from dataclasses import replace
from enum import StrEnum
from pathlib import Path

from pydantic import field_validator

from coder_tui.config.paths import display_path
from coder_tui.config.project import instruction_file
from coder_tui.protocol.access import Target, TargetKind, ToolKind
from coder_tui.protocol.errors import ErrorType, ToolError
from coder_tui.text.redact import Redactor
from coder_tui.tools.base import Access, Params, Tool, ToolContext, ToolResult
from coder_tui.tools.editing.change import FileChange, change_summary, check_text, declare, diff_block
from coder_tui.workspace.files.confine import Located, Workspace
from coder_tui.workspace.files.text import ReadLedger, load_if_there

MOST_CHARACTERS = 2_000
HEADING = "## Remembered"
NEW_FILE = "AGENTS.md"
OWN = "your own instructions"
"""The target's name if it is the user's own file, which no rule about paths covers."""


class MemoryPlace(StrEnum):
    """Whose instructions a fact is added to."""

    PROJECT = "project"
    USER = "user"


class MemoryParams(Params):
    fact: str

    @field_validator("fact")
    @classmethod
    def _is_a_fact(cls, fact: str) -> str:
        text = " ".join(fact.split())
        if not text or len(text) > MOST_CHARACTERS:
            raise ValueError(f"must be 1 to {MOST_CHARACTERS:,} characters")
        return text


class MemoryTool(Tool[MemoryParams]):
    """Adds to the project's file if sessions read one, otherwise to the user's own."""

    name = "memory"
    kind = ToolKind.EDIT
    display_name = "Memory"
    params = MemoryParams
    permission = "memory"

    def __init__(
        self,
        workspace: Workspace,
        ledger: ReadLedger,
        own: Path,
        redact: Redactor,
        *,
        reads_project: bool,
        place: MemoryPlace | None = None,
    ) -> None:
        self._workspace = workspace
        self._ledger = ledger
        self._own = own
        self._redact = redact
        self.reads_project = reads_project
        self._wanted = place

    def for_place(self, place: MemoryPlace) -> "MemoryTool":
        """Return the same tool for a fixed place."""
        return MemoryTool(
            self._workspace,
            self._ledger,
            self._own,
            self._redact,
            reads_project=self.reads_project,
            place=place,
        )

    def file(self) -> Path:
        """Return the file that a fact would be written to."""
        project = instruction_file(self._workspace.root)
        if self._wanted is MemoryPlace.PROJECT:
            return project or self._workspace.root / NEW_FILE
        if project is not None and self.reads_project and self._wanted is None:
            return project
        return instruction_file(self._own) or self._own / NEW_FILE

    def summary(self, params: MemoryParams) -> str:
        file, root = self.file(), self._workspace.root
        place = str(file.relative_to(root)) if file.is_relative_to(root) else display_path(file)
        return f"{place}: {params.fact}"

    async def access(self, params: MemoryParams, ctx: ToolContext) -> Access:
        change, is_own = await self._change(params)
        declared = await declare(change)
        if not is_own:
            return replace(declared, files=())
        name = Target(TargetKind.NAME, OWN, writes=True)
        return replace(declared, targets=(name,), is_undoable=False, files=())

    async def run(self, params: MemoryParams, ctx: ToolContext) -> ToolResult:
        change, is_own = await self._change(params)
        async with self._ledger.lock(change.located.path):
            change.check_approved(ctx)
            if is_own:
                await asyncio.to_thread(self._own.mkdir, mode=0o700, parents=True, exist_ok=True)
            await change.write(self._ledger)
        diff = await change.diff()
        shown = display_path(change.located.path) if is_own else change.located.shown
        changed = () if is_own else (shown,)
        fields = {"ok": True, "path": shown}
        return ToolResult(fields, diff_block(change, diff), change_summary(change, diff), changed)

    async def _change(self, params: MemoryParams) -> tuple[FileChange, bool]:
        check_text("fact", params.fact)
        if self._redact(params.fact) != params.fact:
            raise ToolError(ErrorType.PERMISSION_DENIED, "A secret must not be written to instructions.")
        located, is_own = self._place()
        before = await load_if_there(located)
        return FileChange(located, before, with_fact(before.text if before else "", params.fact)), is_own

    def _place(self) -> tuple[Located, bool]:
        file = self.file()
        if file.parent == self._own:
            return Workspace(self._own).locate(str(file)), True
        located = self._workspace.locate(str(file))
        self._workspace.check_write(located)
        return located, False


def with_fact(text: str, fact: str) -> str:
    """Return `text` with the fact added to its list of remembered facts."""
    newline = "\r\n" if "\r\n" in text else "\n"
    lines = text.split(newline)
    entry = f"- {fact}"
    if HEADING not in lines:
        head = text.rstrip()
        return f"{head}{newline * 2 if head else ''}{HEADING}{newline * 2}{entry}{newline}"
    start = lines.index(HEADING) + 1
    end = next((place for place in range(start, len(lines)) if lines[place].startswith("#")), len(lines))
    last = max((place for place in range(start, end) if lines[place].strip()), default=start)
    return newline.join([*lines[: last + 1], entry, *lines[last + 1 :]])
