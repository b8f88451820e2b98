"""Language servers and MCP servers of a session: see their states, restart them."""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from coder_tui.lsp.pool import ServerLine, facts_of, state_words
from coder_tui.mcp.wire import ServerState
from coder_tui.protocol.diagnostics import ServerStatus
from coder_tui.protocol.events import Event, ServerStatusChanged
from coder_tui.text.safe_text import safe_line, safe_text
from coder_tui.ui.glyphs import Chrome
from coder_tui.ui.keys import Context, bindings
from coder_tui.ui.lists.picker import LivePicker
from coder_tui.ui.lists.row_list import Item

if TYPE_CHECKING:
    from coder_tui.agent.session import Session
    from coder_tui.mcp.pool import McpPool, ServerView


NO_LANGUAGE_SERVERS = "There are no language servers."
STARTED, OTHERS = "Started", "Not started"
_IS_WELL = {ServerStatus.FRESH, ServerStatus.LINTER_MISSING}


class LspScreen(LivePicker):
    """`read` opens the details of a server in the pager."""

    BINDINGS = bindings(Context.LSP)
    help_context = Context.LSP
    heading = "Language servers"
    hints = (("Enter", "details"), ("r", "restart"), ("Esc", "close"), ("/", "filter"))

    def __init__(self, chrome: Chrome, session: "Session", read: Callable[[str, str], None]) -> None:
        super().__init__(chrome)
        self._session = session
        self._read = read
        self._lines: dict[str, ServerLine] = {}

    def subscribe(self) -> Callable[[], None]:
        return self._session.subscribe(self._handle_event)

    def reload(self) -> None:
        self.run_worker(self._load(), group="lsp", exclusive=True)

    def choose(self, item: Item) -> None:
        line = self._lines[item.key]
        rows = (("state", state_words(line)), *facts_of(line))
        words = "\n".join(f"{label:<9}{text}" for label, text in rows)
        self._read(f"{line.name} ({line.language})", safe_text(words))

    def action_restart(self) -> None:
        line = self._lines.get(self.list.marked.key) if self.list.marked else None
        if line is None:
            return
        if not line.is_started:
            self.show_note("Not running: it starts with the first file of its language.", "$text-warning")
            return
        self.show_note(f"Restarting {safe_line(line.name)}{self.chrome.more}")
        self.run_worker(self._session.lookup.restart(line.name), group="lsp-restart")

    async def _load(self) -> None:
        lines = await self._session.lookup.servers()
        self._lines = {f"{line.name} {line.root}": line for line in lines}
        started_first = sorted(self._lines.items(), key=lambda pair: not pair[1].is_started)
        self.list.show([self._item(key, line) for key, line in started_first], empty=NO_LANGUAGE_SERVERS)

    def _handle_event(self, event: Event) -> None:
        if isinstance(event, ServerStatusChanged):
            self.reload()

    def _item(self, key: str, line: ServerLine) -> Item:
        return Item(
            key=key,
            label=safe_line(line.name),
            lead=self._lead(line),
            details=(state_words(line), line.language),
            note=safe_line(line.said or line.detail or " ".join(line.command)),
            group=STARTED if line.is_started else OTHERS,
            is_ready=line.is_started or line.status in _IS_WELL,
        )

    def _lead(self, line: ServerLine) -> str:
        if not line.is_started:
            return ""
        if line.status in _IS_WELL:
            return self.chrome.ok
        return self.chrome.running if line.status is ServerStatus.STARTING else self.chrome.failed


NO_MCP_SERVERS = "There are no MCP servers. Run 'coder-tui mcp add' to add one."
_NOT_STARTABLE = "This server cannot be started: "


class McpScreen(LivePicker):
    """`read` opens the details of a server in the pager."""

    BINDINGS = bindings(Context.MCP)
    help_context = Context.MCP
    heading = "MCP servers"
    hints = (
        ("Enter", "details"),
        ("r", "restart"),
        ("d", "off or on"),
        ("l", "log in"),
        ("Esc", "close"),
        ("/", "filter"),
    )

    def __init__(self, chrome: Chrome, pool: "McpPool", read: Callable[[str, str], None]) -> None:
        super().__init__(chrome)
        self._pool = pool
        self._read = read

    def subscribe(self) -> Callable[[], None]:
        return self._pool.watch(self.reload)

    def reload(self) -> None:
        self.list.show([self._item(view) for view in self._pool.views], empty=NO_MCP_SERVERS)

    def choose(self, item: Item) -> None:
        view = self._pool.view(item.key)
        if view is not None:
            self._read(f"MCP server {safe_line(view.name)}", safe_text("\n".join(_lines(view))))

    def action_restart(self) -> None:
        self._start(logs_in=False)

    def action_log_in(self) -> None:
        self._start(logs_in=True)

    def action_switch(self) -> None:
        view = self._server()
        if view is None:
            return
        if view.state is ServerState.OFF:
            self._start(logs_in=False)
        else:
            self.run_worker(self._pool.stop(view.name), group="mcp")

    def _start(self, *, logs_in: bool) -> None:
        view = self._server()
        if view is None:
            return
        if view.known.order is None:
            self.show_note(f"{_NOT_STARTABLE}{view.detail}", "$text-warning")
        elif logs_in and not view.known.order.url:
            self.show_note("This server runs on this machine and has no login.", "$text-warning")
        else:
            self.run_worker(self._pool.restart(view.name, logs_in=logs_in), group="mcp")

    def _server(self) -> "ServerView | None":
        return self._pool.view(self.list.marked.key) if self.list.marked else None

    def _item(self, view: "ServerView") -> Item:
        section = view.known.found.section
        note = f"{view.detail} {view.link}".strip() or " ".join(section.argv) or section.url
        return Item(
            key=view.name,
            label=safe_line(view.name),
            lead=self._lead(view.state),
            details=(mcp_state_words(view), safe_line(view.known.found.place)),
            note=safe_line(note),
        )

    def _lead(self, state: ServerState) -> str:
        match state:
            case ServerState.READY:
                return self.chrome.ok
            case ServerState.STARTING:
                return self.chrome.running
            case ServerState.FAILED | ServerState.NEEDS_LOGIN:
                return self.chrome.failed
            case ServerState.OFF:
                return ""


def mcp_state_words(view: "ServerView") -> str:
    """Describe the state, such as `ready, 13 tools`."""
    if view.state is not ServerState.READY:
        return str(view.state)
    count = len(view.offer.tools)
    return f"ready, {count} {'tool' if count == 1 else 'tools'}"


def _lines(view: "ServerView") -> Iterator[str]:
    """Return everything that is known about a server, a paragraph for each kind."""
    section, offer = view.known.found.section, view.offer
    yield mcp_state_words(view) + (f": {view.detail}" if view.detail else "")
    if view.link:
        yield f"log in at {view.link}"
    yield f"from {view.known.found.place}"
    yield f"reached by {' '.join(section.argv) or section.url}"
    if view.known.order is not None and view.known.order.argv:
        folders = ", ".join(section.writable) or "none of your files"
        is_confined = view.known.order.is_confined
        yield f"sandboxed, may write {folders}" if is_confined else 'not sandboxed: sandbox = "off"'
    if offer.label:
        yield f"calls itself {offer.label}, protocol {offer.protocol}"
    kinds = {
        "Tools": [(tool.name, tool.description) for tool in offer.tools],
        "Prompts": [(prompt.name, prompt.description) for prompt in offer.prompts],
        "Resources": [(resource.uri, resource.name) for resource in offer.resources],
        "Left out": [("", problem) for problem in offer.problems],
    }
    for kind, rows in kinds.items():
        if rows:
            yield f"\n{kind}"
            yield from (f"  {name}  {words}".rstrip().partition("\n")[0] for name, words in rows)
