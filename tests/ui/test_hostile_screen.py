"""Untrusted text in every place of the screen: it is drawn as it is, and steers nothing."""

import re
from collections.abc import Iterator

from rich.segment import Segment
from textual._compositor import CompositorUpdate

from bench.safe_text import UNSAFE
from coder_tui.protocol.access import ToolKind
from coder_tui.protocol.display import (
    DiffBlock,
    DisplayBlock,
    MarkdownBlock,
    TableBlock,
    TerminalBlock,
    TextBlock,
)
from coder_tui.protocol.events import (
    Event,
    MessageFinished,
    ModelChanged,
    Notice,
    QueueChanged,
    RequestOpened,
    RetryScheduled,
    SessionRenamed,
    TextDelta,
    ThinkingDelta,
    TodosChanged,
    ToolFinished,
    ToolProgressed,
    ToolProposed,
    ToolStarted,
    TurnFailed,
    UserMessageAdded,
)
from coder_tui.protocol.findings import Finding, FindingKind
from coder_tui.protocol.outcomes import NoticeLevel, Outcome
from coder_tui.protocol.requests import ApprovalRequest, Editable, Grant
from coder_tui.protocol.todos import TodoItem, TodoPriority, TodoStatus
from tests.fakes.screens import Stage, stage

MARKUP = "[@click=app.quit]x[/] [/b] [stage=1:2] [link=http://a.example]y[/link]"
EVIL = (
    f"\x1b]52;c;aGk=\x07\x1b[2J\x9b31m\u202eabc\u200b\U000e0041\x1b]8;;http://b.example\x1b\\z {MARKUP} a\rb"
)
LINK = f"[here](http://c.example) <http://d.example> {EVIL}"
DIFF = DiffBlock(EVIL, f"--- a/{EVIL}\n+++ b/{EVIL}\n@@ -1 +1 @@ {EVIL}\n-{EVIL}\n+{EVIL}\n", 1, 1)
BLOCKS: tuple[DisplayBlock, ...] = (
    TextBlock(EVIL),
    MarkdownBlock(f"# {EVIL}\n\n{LINK}\n\n```{EVIL}\n{EVIL}\n```\n\n| {EVIL} |\n|---|\n| {EVIL} |\n"),
    DIFF,
    TerminalBlock(EVIL, EVIL, 3, EVIL),
    TableBlock((EVIL,), ((EVIL,),)),
)
# What Textual itself writes to draw a screen: colours, places, synchronised frames, the cursor.
OWN = re.compile(r"\x1b\[[0-9;:]*[mHGKCABDJ]|\x1b\[\?\d+[hl]|[\n\r]")


def spoken() -> Iterator[Event]:
    yield SessionRenamed(EVIL)
    yield ModelChanged(EVIL, 1000)
    yield UserMessageAdded("u", EVIL)
    yield Notice(NoticeLevel.ERROR, EVIL)
    yield MessageFinished("m1", LINK, LINK)
    yield RetryScheduled(1, 2.0, EVIL)
    yield TurnFailed(1, EVIL, EVIL)
    yield QueueChanged((EVIL,))
    yield TodosChanged((TodoItem("1", EVIL, TodoStatus.IN_PROGRESS, TodoPriority.HIGH),))
    for number, block in enumerate(BLOCKS):
        yield ToolFinished(f"f{number}", EVIL, Outcome.FAILED, EVIL, block, 9)
    yield ToolStarted("live", EVIL, ToolKind.EXECUTE, EVIL)
    for character in EVIL:
        yield ToolProgressed("live", character)
    for character in LINK:
        yield ThinkingDelta("m2", character)
        yield TextDelta("m2", character)
    yield ToolProposed("p", EVIL, 7)


def request() -> ApprovalRequest:
    return ApprovalRequest(
        id="r1",
        call_id="live",
        tool=EVIL,
        kind=ToolKind.EXECUTE,
        title=EVIL,
        preview=TerminalBlock(EVIL, "", None, EVIL),
        facts=(EVIL, f'it says: "{EVIL}"'),
        grants=(Grant(EVIL, (EVIL,), EVIL),),
        rule=EVIL,
        summary=EVIL,
        findings=(Finding(FindingKind.WRITES, EVIL, EVIL),),
        sandbox=EVIL,
        editable=Editable("command", EVIL, ".sh"),
        agent=EVIL,
    )


def written(stage: Stage) -> str:
    """The very characters that a full repaint of the screen sends to the terminal."""
    update = stage.app.screen._compositor.render_update(full=True)
    assert isinstance(update, CompositorUpdate)
    return update.render_segments(stage.app.console)


def segments(stage: Stage) -> Iterator[Segment]:
    for strip in stage.app.screen._compositor.render_strips():
        yield from strip


def steering(text: str) -> set[str]:
    return set(OWN.sub("", text)) & UNSAFE


def live_parts(stage: Stage) -> list[str]:
    """Drawn text that is a link, or does something when it is clicked."""
    styled = [segment for segment in segments(stage) if segment.style is not None]
    actions = ("@click", "@mouse.down")
    return [
        segment.text
        for segment in styled
        if segment.style is not None
        and segment.text.strip()
        and (segment.style.link or any(action in segment.style.meta for action in actions))
    ]


async def test_no_text_in_the_session_steers_the_terminal_or_becomes_an_action() -> None:
    async with stage(size=(160, 200)) as s:
        s.session.emit(*spoken())
        await s.pilot.pause(0.2)
        raw = written(s)
        assert (steering(raw), live_parts(s)) == (set(), [])
        drawn = s.drawn()
        assert drawn.count("[@click=app.quit]x[/]") >= 20
        assert drawn.count("<U+202E>abc") >= 20
        assert s.app.return_code is None


async def test_no_text_in_an_approval_steers_the_terminal_or_becomes_an_action() -> None:
    async with stage(size=(160, 80)) as s:
        s.session.emit(*spoken(), RequestOpened(request()))
        await s.ready_dialog()
        for keys in ((), ("a",), ("escape",), ("v",), ("d",)):
            await s.pilot.press(*keys)
            await s.pilot.pause(0.05)
            assert (steering(written(s)), live_parts(s)) == (set(), [])
        await s.shows("<U+202E>abc")
        assert s.app.return_code is None


async def test_a_picture_of_the_screen_holds_no_link() -> None:
    async with stage(size=(160, 100)) as s:
        s.session.emit(*spoken())
        await s.pilot.pause(0.2)
        picture = s.app.export_screenshot()
    assert (set(picture) & UNSAFE, "<a " in picture, "xlink" in picture) == (set(), False, False)


async def test_a_click_on_hostile_text_does_nothing() -> None:
    async with stage(size=(120, 30)) as s:
        s.session.emit(UserMessageAdded("u", MARKUP), MessageFinished("m", MARKUP, ""))
        await s.pilot.pause(0.1)
        for row, line in enumerate(s.drawn().split("\n")):
            if (column := line.find("[@click")) >= 0:
                await s.pilot.click(offset=(column + 2, row))
        await s.pilot.pause(0.05)
        assert (s.app.return_code, s.app.is_running) == (None, True)
