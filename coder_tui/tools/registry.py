"""The tools by name, and the set that one agent with one model gets.

A tool's description is loaded from `<name>.txt` next to its module.
"""

import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from pathlib import Path
from string import Template
from typing import Any

from rapidfuzz import fuzz, process

from coder_tui.llm.client import ToolDefinition
from coder_tui.llm.traits import EditDialect, ModelTraits
from coder_tui.protocol.errors import ErrorType, ToolError
from coder_tui.tools.aliases import canonical_name
from coder_tui.tools.base import Audience, Params, Tool


def description_of(tool: Tool[Any]) -> str:
    """Return the description with its placeholders filled; a missing value is a bug and raises KeyError."""
    if (text := tool.description()) is not None:
        return text
    module = sys.modules[type(tool).__module__]
    path = Path(str(module.__file__)).with_name(f"{tool.name}.txt")
    return _template(path).substitute(tool.variables())


@cache
def _template(path: Path) -> Template:
    """Read once, because every new agent asks for it."""
    return Template(path.read_text(encoding="utf-8").strip())


AnyTool = Tool[Any]
_PATCH_TOOLS = frozenset({"apply_patch"})
_EDIT_TOOLS = frozenset({"edit", "write", "patch"})
_LONGEST = 100
"""Characters of a name that are compared; a wrong name may be very long."""
_FLAGGED = {"websearch": "websearch", "batch": "batch_tool", "plan_exit": "plan_mode"}


class Origin(StrEnum):
    """Where a tool comes from, in the order of every listing."""

    BUILTIN = "builtin"
    CUSTOM = "custom"
    PROJECT = "project"
    DISCOVERED = "discovered"
    MCP = "mcp"


@dataclass(frozen=True, slots=True)
class Entry:
    tool: AnyTool
    origin: Origin
    audience: Audience
    server: str = ""
    is_listed: bool = True
    """Whether models see it in their tool list; it can be called in any case."""


class Registry:
    """Tools by name. A tool that is hidden from a model is not forbidden: the runner decides at the call."""

    def __init__(self, tools: Iterable[AnyTool] = (), flags: frozenset[str] = frozenset()) -> None:
        self._entries: dict[str, Entry] = {}
        self._flags = flags
        self.version = 0
        """Changes whenever models would see different tools."""
        for tool in tools:
            self.register(tool)

    def register(
        self,
        tool: AnyTool,
        audience: Audience | None = None,
        *,
        origin: Origin = Origin.BUILTIN,
        server: str = "",
    ) -> None:
        """Add a tool; raise if the name is taken."""
        if tool.name in self._entries:
            raise ValueError(f"a tool named {tool.name!r} is registered already")
        self._entries[tool.name] = Entry(tool, origin, audience or tool.audience, server)
        self.version += 1

    def replace_servers(self, entries: Iterable[Entry]) -> None:
        """Replace all tools of servers with these; a name that is taken keeps its tool."""
        kept = {name: entry for name, entry in self._entries.items() if not entry.server}
        self._entries = {**{entry.tool.name: entry for entry in entries}, **kept}
        self.version += 1

    def adopt(self, other: "Registry") -> None:
        """Add the tools of another registry that are not built in: servers and commands serve every agent."""
        for entry in other.entries():
            if entry.origin is not Origin.BUILTIN:
                self.register(entry.tool, entry.audience, origin=entry.origin, server=entry.server)
                self._entries[entry.tool.name] = entry  # keep whether it is listed

    @property
    def names(self) -> frozenset[str]:
        return frozenset(self._entries)

    def entries(self) -> tuple[Entry, ...]:
        """Return built-in tools first, then discovered, then MCP by server, each in order of registration."""
        order = list(Origin)
        return tuple(
            sorted(self._entries.values(), key=lambda entry: (order.index(entry.origin), entry.server))
        )

    def by_server(self, server: str) -> tuple[AnyTool, ...]:
        return tuple(entry.tool for entry in self._entries.values() if entry.server == server)

    def get(self, name: str, audience: Audience = Audience.MAIN) -> AnyTool:
        """Return the tool that a name means; the `ToolError` says why there is none."""
        canonical = canonical_name(name, self.names)
        entry = self._entries.get(canonical)
        if entry is None:
            raise self._unknown(name)
        if entry.audience is Audience.MAIN and audience is Audience.SUB:
            raise ToolError(
                ErrorType.PERMISSION_DENIED, f"Tool '{canonical}' is not available for Sub-Agents."
            )
        if entry.audience is Audience.SUB and audience is not Audience.SUB:
            raise ToolError(
                ErrorType.PERMISSION_DENIED, f"Tool '{canonical}' is only available for Sub-Agents."
            )
        return entry.tool

    def is_foreign(self, name: str) -> bool:
        """Return whether a project, a server or a discovery command added it."""
        own = (Origin.BUILTIN, Origin.CUSTOM)
        return name in self._entries and self._entries[name].origin not in own

    def definitions(
        self,
        traits: ModelTraits,
        audience: Audience = Audience.MAIN,
        is_enabled: Callable[[AnyTool], bool] = lambda tool: True,
    ) -> tuple[ToolDefinition, ...]:
        """Return OpenAI function definitions; `is_enabled` has the switches of a profile."""
        return tuple(definition_of(tool) for tool in self.offered(traits, audience) if is_enabled(tool))

    def offered(self, traits: ModelTraits, audience: Audience = Audience.MAIN) -> tuple[AnyTool, ...]:
        """Return the tools that this model may see in this role."""
        return tuple(
            entry.tool
            for entry in self.entries()
            if entry.is_listed
            and entry.audience in (Audience.COMMON, audience)
            and self._is_offered(entry.tool, traits)
        )

    def _is_offered(self, tool: AnyTool, traits: ModelTraits) -> bool:
        flag = _FLAGGED.get(tool.name)
        if flag and flag not in self._flags:
            return False
        # A model that patches but has no patch tool here must still be able to edit.
        patches = traits.edit_dialect is EditDialect.APPLY_PATCH and bool(_PATCH_TOOLS & self.names)
        return tool.name not in (_EDIT_TOOLS if patches else _PATCH_TOOLS)

    def _unknown(self, name: str) -> ToolError:
        known = sorted(self._entries)
        nearest = [near for near, _, _ in process.extract(name[:_LONGEST], known, scorer=_alike, limit=3)]
        return ToolError(
            ErrorType.UNKNOWN_TOOL, f"unknown tool: {name}", f"The nearest are: {', '.join(nearest)}."
        )


def _alike(given: str, known: str, **_: object) -> float:
    """Score names so that a typo is nearer than a name that merely contains the other."""
    return max(fuzz.ratio(given, known), 0.8 * fuzz.partial_ratio(given, known))


def definition_of(tool: AnyTool) -> ToolDefinition:
    params: type[Params] = tool.params
    return {
        "type": "function",
        "function": {
            "name": tool.name,
            "description": description_of(tool),
            "parameters": _lasting_schema(params) if _is_lasting(params) else _schema(params),
        },
    }


def _is_lasting(params: type[Params]) -> bool:
    """Return whether the schema never changes; a class made for one tool may change."""
    return "<locals>" not in params.__qualname__


@cache
def _lasting_schema(params: type[Params]) -> dict[str, Any]:
    """Made once, because every new agent asks for it."""
    return _schema(params)


def _schema(params: type[Params]) -> dict[str, Any]:
    """Return the JSON schema of the params without what only costs tokens."""
    schema = params.model_json_schema()
    _drop_titles(schema)
    return dict(schema)


def _drop_titles(node: object) -> None:
    match node:
        case dict():
            if isinstance(node.get("title"), str):
                del node["title"]
            for item in node.values():
                _drop_titles(item)
        case list():
            for item in node:
                _drop_titles(item)
