"""The `system_info` tool: where the program runs, and what time it is there."""

import asyncio
import os
import platform
import re
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path

from coder_tui.protocol.access import ToolKind
from coder_tui.protocol.display import TextBlock
from coder_tui.protocol.errors import ToolError
from coder_tui.tools.base import Access, JsonObject, Params, Tool, ToolContext, ToolResult
from coder_tui.workspace.confine import Workspace
from coder_tui.workspace.git_repository import find_repository
from coder_tui.workspace.programs import find_program

_MEMORY = Path("/proc/meminfo")
_AVAILABLE = re.compile(r"^MemAvailable:\s+(\d+) kB$", re.MULTILINE)
_MEGABYTE = 1_000_000


class SystemInfoParams(Params):
    pass


class SystemInfoTool(Tool[SystemInfoParams]):
    name = "system_info"
    kind = ToolKind.READ
    display_name = "System"
    params = SystemInfoParams
    permission = "system_info"

    def __init__(self, workspace: Workspace, shell: str, environ: Mapping[str, str]) -> None:
        self._workspace = workspace
        self._shell = shell
        self._environ = environ

    def summary(self, params: SystemInfoParams) -> str:
        return "this machine"

    async def access(self, params: SystemInfoParams, ctx: ToolContext) -> Access | None:
        return None

    async def run(self, params: SystemInfoParams, ctx: ToolContext) -> ToolResult:
        facts = await asyncio.to_thread(self._facts)
        shown = "\n".join(f"{name:<10} {_words(value)}" for name, value in facts.items())
        return ToolResult({"ok": True, **facts}, TextBlock(shown))

    def _facts(self) -> JsonObject:
        return {
            "os": f"{platform.system()} {platform.release()}",
            "arch": platform.machine(),
            "shell": self._shell,
            "python": platform.python_version(),
            "cwd": str(self._workspace.root),
            "git": self._git(),
            "cpu_count": os.cpu_count(),
            "memory": {"total": _total_memory(), "available": _available_memory()},
            "terminal": _terminal(self._environ),
            "time": datetime.now().astimezone().isoformat(timespec="seconds"),
        }

    def _git(self) -> JsonObject:
        roots = (self._workspace.root, *self._workspace.extra_roots)
        try:
            repository: str | None = str(find_repository(self._workspace.root).top)
        except ToolError:
            repository = None
        return {"program": find_program("git", self._environ, roots), "repository": repository}


def _words(value: object) -> str:
    match value:
        case dict():
            return ", ".join(f"{key} {_words(item)}" for key, item in value.items())
        case None:
            return "unknown"
        case _:
            return str(value)


def _total_memory() -> int | None:
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // _MEGABYTE
    except (ValueError, OSError):  # a system that does not tell
        return None


def _available_memory() -> int | None:
    try:
        found = _AVAILABLE.search(_MEMORY.read_text(encoding="ascii"))
    except OSError:  # only Linux has it
        return None
    return int(found[1]) * 1_024 // _MEGABYTE if found else None


def _terminal(environ: Mapping[str, str]) -> str:
    names = (environ.get(name, "") for name in ("TERM", "TERM_PROGRAM", "COLORTERM"))
    return " ".join(name for name in names if name) or "none"
