"""Bad input for a running screen: what is prepared unwatched, and what is done while the loop is watched."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace

from textual import events

from coder_tui.diffs.unified import parse_unified
from coder_tui.protocol.access import ToolKind
from coder_tui.protocol.diagnostics import Diagnostic, Severity
from coder_tui.protocol.display import (
    DiffBlock,
    DisplayBlock,
    MarkdownBlock,
    TableBlock,
    TerminalBlock,
    TextBlock,
)
from coder_tui.protocol.events import (
    DiagnosticsChanged,
    MessageFinished,
    Notice,
    RequestClosed,
    RequestOpened,
    TextDelta,
    ThinkingDelta,
    TodosChanged,
    ToolFinished,
    ToolProgressed,
    ToolStarted,
    UserMessageAdded,
)
from coder_tui.protocol.outcomes import NoticeLevel, Outcome
from coder_tui.protocol.requests import ApprovalRequest
from coder_tui.protocol.todos import TodoItem, TodoPriority, TodoStatus
from coder_tui.ui.draw.widget import DrawnAtOnce
from tests.fakes.questions import plan, questions
from tests.fakes.screens import Stage, shell_request

Step = Callable[[Stage], Awaitable[None]]
MEGABYTE = 1_000_000
LINE = "word and word, " * (4 * MEGABYTE // 15)
HOSTILE = "\x1b[31m\u202e\x9b[/b]" * (4 * MEGABYTE // 9)
LINES = "a line of output with words\n" * (4 * MEGABYTE // 28)
MARKDOWN = "# head\n\nSome *words* and `code`, " * (MEGABYTE // 35)
EDITS = 1000


@dataclass(frozen=True, slots=True)
class Scene:
    name: str
    act: Step
    prepare: Step
    size: tuple[int, int] = (140, 40)


async def nothing(stage: Stage) -> None:
    """The screen as it starts."""


def finished(block: DisplayBlock, outcome: Outcome = Outcome.OK) -> Step:
    async def act(stage: Stage) -> None:
        stage.session.emit(ToolStarted("c", "bash", ToolKind.EXECUTE, "make"))
        stage.session.emit(ToolFinished("c", "bash", outcome, "make", block, 9))
        await stage.pilot.pause(0.3)

    return act


def then_press(first: Step, *keys: str) -> Step:
    async def act(stage: Stage) -> None:
        await first(stage)
        await press(*keys)(stage)

    return act


def press(*keys: str, pause: float = 0.1) -> Step:
    async def act(stage: Stage) -> None:
        for key in keys:
            await stage.pilot.press(key)
            await stage.pilot.pause(pause)

    return act


def progressed(text: str, pieces: int = 1) -> Step:
    async def act(stage: Stage) -> None:
        stage.session.emit(ToolStarted("c", "bash", ToolKind.EXECUTE, "make"))
        size = len(text) // pieces
        for start in range(0, len(text), size):
            stage.session.emit(ToolProgressed("c", text[start : start + size]))
            await stage.pilot.pause(0.001)
        await stage.pilot.pause(0.3)

    return act


def said(text: str) -> Step:
    async def act(stage: Stage) -> None:
        stage.session.emit(TextDelta("m", text))
        await stage.pilot.pause(0.3)
        stage.session.emit(MessageFinished("m", text, ""))
        await stage.pilot.pause(0.3)

    return act


def thought(text: str) -> Step:
    async def act(stage: Stage) -> None:
        stage.session.emit(ThinkingDelta("m", text))
        await stage.pilot.pause(0.3)
        stage.session.emit(MessageFinished("m", "", text))
        await stage.pilot.pause(0.3)

    return act


def drawings(stage: Stage) -> list[DrawnAtOnce]:
    return [widget for widget in stage.app.screen.query("*") if isinstance(widget, DrawnAtOnce)]


def asked(*requests: ApprovalRequest) -> Step:
    async def act(stage: Stage) -> None:
        stage.session.emit(*map(RequestOpened, requests))
        await stage.until(lambda: stage.dialog is not None)
        await stage.pilot.pause(0.6)
        for _ in range(600):
            if all(widget.is_drawn for widget in drawings(stage)):
                break
            await stage.pilot.pause(0.1)

    return act


async def questioned(stage: Stage) -> None:
    asked_now = questions()
    long = tuple(replace(each, question=LINE[:MEGABYTE]) for each in asked_now.questions)
    stage.session.emit(RequestOpened(replace(asked_now, questions=long)))
    await stage.pilot.pause(1.5)


async def planned(stage: Stage) -> None:
    stage.session.emit(RequestOpened(plan(MARKDOWN)))
    await stage.pilot.pause(1.5)


async def edits_withdrawn(stage: Stage) -> None:
    for number in range(EDITS):
        stage.session.emit(RequestClosed(f"e{number}", None))
    await stage.pilot.pause(0.3)


def edit_request(id: str, diff: str = "@@ -1 +1 @@\n-a\n+b\n") -> ApprovalRequest:
    text = f"--- a/a.py\n+++ b/a.py\n{diff}"
    return replace(
        shell_request(id),
        tool="edit",
        kind=ToolKind.EDIT,
        title="Allow edit?",
        preview=DiffBlock("a.py", text, 1, 1),
        is_undoable=True,
        files=parse_unified(text, "a.py"),
        summary=f"edit {id}",
    )


def long_diff(lines: int) -> str:
    body = "".join(f"-value_{n} = compute({n})\n+value_{n} = compute({n}, more)\n" for n in range(lines))
    return f"@@ -1,{lines} +1,{lines} @@\n{body}"


async def pasted(stage: Stage) -> None:
    await stage.app.on_event(events.Paste(LINES * 3))
    await stage.pilot.pause(0.3)


async def many_messages(stage: Stage) -> None:
    with stage.screen.transcript.history.adding_many():
        for n in range(10_000):
            stage.session.emit(UserMessageAdded(f"u{n}", f"question {n}"))
            stage.session.emit(MessageFinished(f"m{n}", f"Answer **{n}** with `code`.\n\n- one\n- two", ""))
            if n % 10 == 0:
                block = TerminalBlock("make", LINES[:2000], 1)
                stage.session.emit(ToolFinished(f"c{n}", "bash", Outcome.FAILED, "make", block, 9))
    await stage.pilot.pause(0.3)


async def resized(stage: Stage) -> None:
    for width in (200, 40, 120, 80):
        await stage.pilot.resize_terminal(width, 40)
        await stage.pilot.pause(0.1)


async def todos(stage: Stage) -> None:
    item = TodoItem("1", LINE[:MEGABYTE], TodoStatus.PENDING, TodoPriority.HIGH)
    stage.session.emit(TodosChanged(tuple(replace(item, id=str(n)) for n in range(1000))))
    await stage.pilot.pause(0.3)


async def problems(stage: Stage) -> None:
    for file in range(50):
        found = tuple(Diagnostic("f", n + 1, 1, Severity.ERROR, f"broken {n}" * 20) for n in range(100))
        stage.session.emit(DiagnosticsChanged(f"src/file{file}.py", found))
    await stage.pilot.pause(0.3)


async def noticed(stage: Stage) -> None:
    stage.session.emit(Notice(NoticeLevel.ERROR, HOSTILE))
    await stage.pilot.pause(0.3)


async def long_message(stage: Stage) -> None:
    stage.session.emit(UserMessageAdded("u", LINE))
    await stage.pilot.pause(0.3)


TABLE = TableBlock(("a", "b"), tuple((f"cell {n}", LINE[:500]) for n in range(5000)))
DIFF = DiffBlock("a.py", f"--- a/a.py\n+++ b/a.py\n{long_diff(10_000)}", 10_000, 10_000)
WIDE_DIFF = DiffBlock("a.py", f"--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-{LINE}\n+{LINE}x\n", 1, 1)
WIDE_EDIT = replace(edit_request("r"), preview=WIDE_DIFF)
MANY = tuple(edit_request(f"e{number}") for number in range(EDITS))

SCENES = (
    Scene("nothing at all", nothing, nothing),
    Scene("output: one line of 4 MB", finished(TerminalBlock("make", LINE, 0)), nothing),
    Scene(
        "output: one line of 4 MB, failed", finished(TerminalBlock("make", LINE, 1), Outcome.FAILED), nothing
    ),
    Scene("output: 4 MB of escapes", finished(TerminalBlock("make", HOSTILE, 1), Outcome.FAILED), nothing),
    Scene("output: 4 MB of lines", finished(TerminalBlock("make", LINES, 1), Outcome.FAILED), nothing),
    Scene("text block of 4 MB", finished(TextBlock(HOSTILE), Outcome.FAILED), nothing),
    Scene("markdown block of 1 MB", finished(MarkdownBlock(MARKDOWN)), nothing),
    Scene("table of 5,000 rows", finished(TABLE), nothing),
    Scene("diff of 10,000 lines", finished(DIFF), nothing),
    Scene("diff with a line of 4 MB", finished(WIDE_DIFF), nothing),
    Scene("live output: 4 MB at once", progressed(LINE), nothing),
    Scene("live output: 4 MB of escapes in 400 pieces", progressed(HOSTILE, 400), nothing),
    Scene("unfold a line of 4 MB", press("tab", "k", "o"), finished(TerminalBlock("make", LINE, 0))),
    Scene("unfold 4 MB of escapes", press("tab", "k", "o"), finished(TerminalBlock("make", HOSTILE, 0))),
    Scene("pager on a line of 4 MB", press("tab", "k", "v", "G"), finished(TerminalBlock("make", LINE, 0))),
    Scene("pager on 4 MB of lines", press("tab", "k", "v", "G"), finished(TerminalBlock("make", LINES, 0))),
    Scene("answer of 1 MB of markdown at once", said(MARKDOWN), nothing),
    Scene("answer: one line of 4 MB", said(LINE), nothing),
    Scene("answer: 4 MB of escapes", said(HOSTILE), nothing),
    Scene("thinking: one line of 4 MB", thought(LINE), nothing),
    Scene("message of the user of 4 MB", long_message, nothing),
    Scene("notice of 4 MB of escapes", noticed, nothing),
    Scene("paste of 12 MB", pasted, nothing),
    Scene("approval: a short command", asked(shell_request("r")), nothing),
    Scene("approval: command of 4 MB", asked(shell_request("r", LINE)), nothing),
    Scene("approval: command of 4 MB of escapes", asked(shell_request("r", HOSTILE)), nothing),
    Scene("approval: diff of 10,000 lines", asked(edit_request("r", long_diff(10_000))), nothing),
    Scene(
        "approval: diff with a line of 4 MB", asked(replace(edit_request("r"), preview=WIDE_DIFF)), nothing
    ),
    Scene("approvals: 1,000 at once", asked(*MANY), nothing),
    Scene("approvals: list of 1,000, all marked", press("f8", "a", "G", "ctrl+y", pause=0.6), asked(*MANY)),
    Scene("approvals: 1,000 withdrawn", edits_withdrawn, asked(*MANY)),
    Scene("questions of 1 MB each", questioned, nothing),
    Scene("plan of 1 MB", planned, nothing),
    Scene("todos: 1,000 of 1 MB each", todos, nothing),
    Scene("problems: 5,000 in 50 files", problems, nothing),
    Scene("resize with 20,000 messages", resized, many_messages),
    Scene("search in 20,000 messages", press("tab", "slash", "a", "n", "enter", "n", "N"), many_messages),
    Scene("fold and unfold all of 20,000 messages", press("ctrl+o", "ctrl+o", "alt+t"), many_messages),
    Scene("ends of 20,000 messages", press("tab", "g", "G", "J", "K", "K"), many_messages),
    Scene(
        "help, palette, themes",
        press("f1", "escape", "ctrl+p", "escape", "tab", "t", "down", "escape"),
        nothing,
    ),
)
