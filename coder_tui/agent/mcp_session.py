"""What a session has of its MCP servers: tools, which change only between turns, prompts and resources."""

from collections.abc import Iterator

from coder_tui.agent.calls.permissions import Notify
from coder_tui.mcp.approved import Approved, fingerprint
from coder_tui.mcp.pool import McpPool, ServerView
from coder_tui.mcp.servers import OfferedPrompt, server_part
from coder_tui.mcp.wire import ResourceInfo, ServerState
from coder_tui.protocol.outcomes import NoticeLevel
from coder_tui.text.safe_text import safe_line
from coder_tui.tools.base import Audience
from coder_tui.tools.foreign import SchemaError
from coder_tui.tools.mcp import McpSearchTool, McpTool
from coder_tui.tools.ports import InnerRunner
from coder_tui.tools.registry import AnyTool, Entry, Origin, Registry

MOST_LISTED = 40
"""Tools of servers that a model is offered of one by one; of more it has to look for what it needs."""
PATIENCE = 10.0
"""Seconds that the first turn waits for servers that are just starting."""
LONG_PATIENCE = 60.0
"""The same for a session of one turn, which could not use what comes later."""
_QUIET = 1.0
"""Seconds of waiting that need no word."""
_SEARCH = "mcp"
_UNUSABLE = frozenset({ServerState.FAILED, ServerState.NEEDS_LOGIN})


class SessionMcp:
    """The MCP servers of one session.

    `inner` runs what the model calls through the search; `notices` are published when the session starts.
    """

    def __init__(
        self,
        pool: McpPool,
        registry: Registry,
        approved: Approved,
        inner: InnerRunner,
        notify: Notify,
        notices: tuple[str, ...] = (),
        patience: float = PATIENCE,
    ) -> None:
        self.pool = pool
        self._registry = registry
        self._approved = approved
        self._inner = inner
        self._notices = notices
        self._patience = patience
        self._notify = notify
        self._seen: dict[str, ServerView] = {}
        self._found: dict[str, None] = {}
        self._taken: tuple[object, ...] = ()
        self._warned: set[str] = set()
        self._has_waited = False
        self.prompts: tuple[OfferedPrompt, ...] = ()
        """Another object only when they are others."""
        pool.watch(self._on_change)

    def start(self) -> None:
        """Start the servers in the background."""
        for notice in self._notices:
            self.warn_once(notice)
        self._on_change()
        self.pool.start()

    async def prepare(self) -> None:
        """Before a turn: its tools are those of now, and stay so until it ends."""
        if not self._has_waited:
            self._has_waited = True
            if not await self.pool.settled(min(_QUIET, self._patience)):
                names = ", ".join(self.pool.first_starts)
                self._notify(NoticeLevel.INFO, safe_line(f"Starting MCP servers: {names} …"))
                await self.pool.settled(self._patience - _QUIET)
        self.update_registry()

    def update_registry(self) -> None:
        """Register the tools that the servers offer now."""
        views = sorted(self._serving(), key=lambda view: view.name)
        offered = tuple(
            (view.name, view.known.found.fingerprint, *map(fingerprint, view.offer.tools)) for view in views
        )
        wanted = (offered, tuple(self._found))
        if wanted == self._taken:
            return
        self._taken = wanted
        tools = {tool.name: (view.name, tool) for view in views for tool in self._tools(view)}
        is_deferred = len(tools) > MOST_LISTED
        entries = [
            Entry(tool, Origin.MCP, Audience.COMMON, server, not is_deferred or name in self._found)
            for name, (server, tool) in tools.items()
        ]
        if is_deferred:
            entries.append(self._search(self._registry, self._inner))
        self._registry.replace_servers(entries)

    def add_search_to(self, registry: Registry, inner: InnerRunner) -> None:
        """Let another agent, which has the servers' tools already, look for them as well."""
        if any(not entry.is_listed for entry in registry.entries()):
            search = self._search(registry, inner)
            registry.register(search.tool, search.audience, server=_SEARCH)

    @property
    def resources(self) -> tuple[tuple[str, ResourceInfo], ...]:
        """Each as it is named behind the `@`."""
        return tuple(
            (f"{server_part(view.name)}:{resource.uri}", resource)
            for view in self.pool.views
            if view.state is ServerState.READY
            for resource in view.offer.resources
            if not resource.is_template
        )

    async def close(self) -> None:
        await self.pool.close()

    def _serving(self) -> Iterator[ServerView]:
        """Those whose tools are offered of; one that is being restarted keeps its place in the list."""
        for view in self.pool.views:
            if view.state is ServerState.READY:
                self._seen[view.name] = view
            elif view.state is not ServerState.STARTING:
                self._seen.pop(view.name, None)
            if view.name in self._seen:
                yield self._seen[view.name]

    def _tools(self, view: ServerView) -> Iterator[McpTool]:
        section, names = view.known.found.section, set[str]()
        for problem in view.offer.problems:
            self.warn_once(f"MCP server {view.name}: {problem}")
        for info in view.offer.tools:
            is_wanted = not section.include_tools or info.name in section.include_tools
            if not is_wanted or info.name in section.exclude_tools:
                continue
            try:
                tool = McpTool(self.pool, view, info, self._approved)
            except SchemaError as error:
                self.warn_once(f"MCP server {view.name}: the tool {info.name} is left out: {error}")
                continue
            if tool.name in names:
                self.warn_once(
                    f"MCP server {view.name}: it has two tools named {info.name}; the first is used"
                )
                continue
            names.add(tool.name)
            yield tool

    def _search(self, registry: Registry, inner: InnerRunner) -> Entry:
        def tools() -> tuple[AnyTool, ...]:
            return tuple(entry.tool for entry in registry.entries() if entry.origin is Origin.MCP)

        def found(names: tuple[str, ...]) -> None:
            self._found |= dict.fromkeys(names)

        return Entry(McpSearchTool(tools, inner, found), Origin.BUILTIN, Audience.COMMON, _SEARCH)

    def _on_change(self) -> None:
        """A server that cannot be used is offered of once for each reason."""
        prompts = tuple(
            OfferedPrompt(view.name, prompt)
            for view in self.pool.views
            if view.state is ServerState.READY
            for prompt in view.offer.prompts
        )
        if prompts != self.prompts:
            self.prompts = prompts
        for view in self.pool.views:
            if view.state in _UNUSABLE:
                self.warn_once(f"MCP server {view.name}: {view.state}, {view.detail} (/mcp shows more)")

    def warn_once(self, text: str) -> None:
        """Tell the user, once."""
        line = safe_line(text)
        if line not in self._warned:
            self._warned.add(line)
            self._notify(NoticeLevel.WARNING, line)
