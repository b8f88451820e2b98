"""The `env_var`, `system_info` and `models` tools: what the program's surroundings offer."""

import asyncio
import os
import platform
import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator

from coder_tui.llm.catalog import CatalogEntry, available_models
from coder_tui.llm.providers import LOCAL_SERVERS, LocalServer
from coder_tui.protocol.access import Target, TargetKind, ToolKind
from coder_tui.protocol.display import TableBlock, TextBlock
from coder_tui.protocol.errors import ToolError
from coder_tui.shell.environment import find_program, is_secret_name
from coder_tui.text.redact import Redactor
from coder_tui.tools.base import Access, JsonObject, NoParams, Params, PureTool, Tool, ToolContext, ToolResult
from coder_tui.workspace.files.confine import Workspace
from coder_tui.workspace.git.repository import find_repository

LONGEST_NAME = 256
WITHHELD = "set; the value looks like a secret and is withheld"


def _variable_name(name: str) -> str:
    if not name or len(name) > LONGEST_NAME or "=" in name or "\0" in name:
        raise ValueError("must be the name of a variable")
    return name


class EnvVarParams(Params):
    name: Annotated[str, AfterValidator(_variable_name)]


class EnvVarTool(Tool[EnvVarParams]):
    name = "env_var"
    kind = ToolKind.READ
    display_name = "Variable"
    params = EnvVarParams
    permission = "env_var"

    def __init__(self, environ: Mapping[str, str], redact: Redactor) -> None:
        self._environ = environ
        self._redact = redact

    def summary(self, params: EnvVarParams) -> str:
        return params.name

    async def access(self, params: EnvVarParams, ctx: ToolContext) -> Access:
        return Access((Target(TargetKind.NAME, params.name),))

    async def run(self, params: EnvVarParams, ctx: ToolContext) -> ToolResult:
        value = self._environ.get(params.name)
        fields: JsonObject = {"ok": True, "name": params.name, "set": value is not None}
        if value is None:
            return ToolResult({**fields, "value": None}, TextBlock("not set"))
        if is_secret_name(params.name):
            return ToolResult(fields, TextBlock(WITHHELD))
        # The value is checked as well: it may be an address with a password, or a key under a harmless name.
        shown = self._redact(value)
        return ToolResult({**fields, "value": shown}, TextBlock(shown))


_MEMORY = Path("/proc/meminfo")
_AVAILABLE = re.compile(r"^MemAvailable:\s+(\d+) kB$", re.MULTILINE)
_MEGABYTE = 1_000_000


class SystemInfoTool(PureTool[NoParams]):
    name = "system_info"
    kind = ToolKind.READ
    display_name = "System"
    params = NoParams
    permission = "system_info"

    def __init__(self, workspace: Workspace, shell: str, environ: Mapping[str, str]) -> None:
        self._workspace = workspace
        self._shell = shell
        self._environ = environ

    def summary(self, params: NoParams) -> str:
        return "this machine"

    async def run(self, params: NoParams, ctx: ToolContext) -> ToolResult:
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
    except (ValueError, OSError):  # not every system knows
        return None


def _available_memory() -> int | None:
    try:
        found = _AVAILABLE.search(_MEMORY.read_text(encoding="ascii"))
    except OSError:  # Linux only
        return None
    return int(found[1]) * 1_024 // _MEGABYTE if found else None


def _terminal(environ: Mapping[str, str]) -> str:
    names = (environ.get(name, "") for name in ("TERM", "TERM_PROGRAM", "COLORTERM"))
    return " ".join(name for name in names if name) or "none"


class ModelsTool(PureTool[NoParams]):
    name = "models"
    kind = ToolKind.READ
    display_name = "Models"
    params = NoParams
    permission = "models"

    def __init__(self, environ: Mapping[str, str], servers: Sequence[LocalServer] = LOCAL_SERVERS) -> None:
        """Ask `servers` on this machine what they offer."""
        self._environ = environ
        self._servers = servers

    def summary(self, params: NoParams) -> str:
        return "available models"

    async def run(self, params: NoParams, ctx: ToolContext) -> ToolResult:
        entries = await available_models(self._environ, servers=self._servers)
        rows = tuple((entry.id, entry.provider, entry.missing or "available") for entry in entries)
        count = sum(entry.available for entry in entries)
        return ToolResult(
            {"ok": True, "models": [_fields(entry) for entry in entries]},
            TableBlock(("Model", "Provider", "State"), rows),
            f"{count} of {len(entries)} available",
        )


def _fields(entry: CatalogEntry) -> JsonObject:
    fields: JsonObject = {
        "id": entry.id,
        "provider": entry.provider,
        "tags": list(entry.tags),
        "context": entry.context,
    }
    if entry.cost_in is not None:
        fields["cost"] = {"input": entry.cost_in, "output": entry.cost_out}
    return {**fields, "available": entry.available}
