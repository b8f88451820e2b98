"""Every language server that is known here, for a person who wonders what runs and why something does not."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from coder_tui.lsp.selection import Selected
from coder_tui.lsp.wire import ServerOrder, ServerState
from coder_tui.protocol.diagnostics import ServerStatus


@dataclass(frozen=True, slots=True)
class ServerLine:
    """`pid` is 0 where it does not run; `command` and `root` are empty where it cannot be started."""

    language: str
    name: str
    status: ServerStatus
    is_started: bool = False
    root: str = ""
    command: tuple[str, ...] = ()
    pid: int = 0
    detail: str = ""
    said: str = ""


_IDLE_WORDS = {
    ServerStatus.FRESH: "ready",
    ServerStatus.LINTER_MISSING: "without its checker",
    ServerStatus.NOT_INSTALLED: "not installed",
    ServerStatus.UNTRUSTED: "not used here",
}
_WORDS = {ServerStatus.FRESH: "works", ServerStatus.LINTER_MISSING: "works without its checker"}


def state_words(line: ServerLine) -> str:
    return (_WORDS if line.is_started else _IDLE_WORDS).get(line.status, str(line.status))


def facts_of(line: ServerLine) -> tuple[tuple[str, str], ...]:
    """What there is to know besides, each with a word for it."""
    known = (
        ("folder", line.root),
        ("command", " ".join(line.command)),
        ("process", str(line.pid or "")),
        ("because", line.detail),
        ("it said", line.said),
    )
    return tuple((label, text) for label, text in known if text)


def server_lines(
    known: Iterable[Selected], started: Sequence[ServerOrder], states: Mapping[str, ServerState]
) -> tuple[ServerLine, ...]:
    """A server that was started in several folders has a line for each."""
    lines: list[ServerLine] = []
    for selected in known:
        orders = [order for order in started if order.name == selected.spec.name]
        if orders:
            lines += [_started(selected, order, states.get(order.key)) for order in orders]
        else:
            lines.append(_idle(selected))
    return tuple(lines)


def _started(selected: Selected, order: ServerOrder, state: ServerState | None) -> ServerLine:
    # One that runs without its checker says so: that it runs is not all.
    is_whole = state is None or state.status is not ServerStatus.FRESH or not order.lacks
    status = state.status if state else ServerStatus.STARTING
    return ServerLine(
        selected.spec.language,
        order.name,
        status if is_whole else ServerStatus.LINTER_MISSING,
        is_started=True,
        root=order.root,
        command=order.argv,
        pid=state.pid if state else 0,
        detail=(state.detail if state else "") or order.lacks,
        said=state.said if state else "",
    )


def _idle(selected: Selected) -> ServerLine:
    order = selected.order
    # The name stands in a place of its own.
    detail = selected.detail.removeprefix(f"{selected.spec.name}: ")
    return ServerLine(
        selected.spec.language,
        selected.spec.name,
        selected.status,
        root=order.root if order else "",
        command=order.argv if order else (),
        detail=detail.removeprefix(f"{selected.spec.name} not installed, "),
    )
