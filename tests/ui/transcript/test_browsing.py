"""The transcript by keys: moving, searching, copying, and reading in full."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from textual import events

from coder_tui.protocol.display import DiffBlock, TerminalBlock, TextBlock
from coder_tui.protocol.events import Event, MessageFinished, ToolFinished, UserMessageAdded
from coder_tui.protocol.outcomes import Outcome
from coder_tui.protocol.requests import Editable
from coder_tui.ui.external_editor import ExternalEditor, NotEdited
from coder_tui.ui.keys import KEYS, Context
from coder_tui.ui.session.reading import first_changed_line
from coder_tui.ui.transcript.history import History
from coder_tui.ui.transcript.pager import PagerScreen
from tests.fakes.fake_session import FakeSession
from tests.fakes.screens import Stage, stage

CODE = "Two pieces:\n\n```python\nfirst()\n```\n\nand\n\n```\nsecond\n```\n"


def conversation() -> tuple[Event, ...]:
    """Entries: 0 user, 1 reply, 2 call, 3 user, 4 reply; 5 to 34 fill several screens."""
    lines = "\n".join(f"line {number}" for number in range(50))
    return (
        UserMessageAdded("u1", "the first needle"),
        MessageFinished("m1", CODE, ""),
        ToolFinished("c1", "read", Outcome.OK, "a.py", TextBlock(f"{lines}\nhidden needle"), 0),
        UserMessageAdded("u2", "second question"),
        MessageFinished("m2", "a long **needle** here", ""),
        *(MessageFinished(f"f{number}", f"filler {number}", "") for number in range(30)),
    )


def session() -> FakeSession:
    return FakeSession(earlier=conversation())


def history(s: Stage) -> History:
    return s.screen.transcript.history


def bottom(s: Stage) -> str:
    """The row below the transcript."""
    return s.drawn().splitlines()[s.screen.transcript.view.size.height].strip()


async def test_keys_move_the_mark_by_block_by_message_and_to_the_ends() -> None:
    async with stage(session()) as s:
        seen = []
        await s.pilot.press("tab")
        for key in ("k", "K", "K", "j", "g", "G", "J"):
            await s.pilot.press(key)
            seen.append(history(s).cursor)
        assert seen == [33, 3, 0, 1, 0, 34, 34]
        assert s.screen.transcript.view.is_following


async def test_half_pages_keep_the_mark_in_view() -> None:
    async with stage(session()) as s:
        await s.pilot.press("tab", "ctrl+u", "ctrl+u")
        await s.pilot.pause()
        view, index = s.screen.transcript.view, history(s).index
        cursor = history(s).cursor
        assert cursor is not None
        assert view.scroll_y <= index.start(cursor) < view.scroll_y + view.size.height
        await s.pilot.press("ctrl+d", "ctrl+d", "ctrl+d")
        assert view.is_following


async def test_the_marked_block_stands_out_without_colours() -> None:
    async with stage(session()) as s:
        await s.pilot.press("tab", "g")
        row = history(s).rows(0, 1)[0]
        first = next(iter(row.crop(0, 1)))
        assert first.style is not None
        assert first.style.reverse
        await s.pilot.press("i")
        await s.until(lambda: history(s).cursor is None)
        assert s.screen.prompt.has_focus


async def test_a_search_counts_goes_around_and_unfolds_what_it_finds() -> None:
    async with stage(session()) as s:
        await s.pilot.press("tab", "slash", *"needle")
        await s.until(lambda: "/needle_  3 of 3" in bottom(s))
        assert history(s).cursor == 4
        await s.pilot.press("enter", "N")
        await s.until(lambda: "2 of 3" in bottom(s) and "hidden needle" in s.drawn())
        await s.pilot.press("n", "n")
        await s.until(lambda: "1 of 3" in bottom(s) and history(s).cursor == 0)
        await s.pilot.press("escape")
        assert bottom(s).startswith("j k block")
        assert s.screen.transcript.view.has_focus
        await s.pilot.press("escape")
        assert s.screen.prompt.has_focus
        assert s.draft == ""


async def test_all_keys_belong_to_a_query_while_it_is_typed() -> None:
    async with stage(session()) as s:
        await s.pilot.press("tab", "slash", *"jyx", "backspace", *"z")
        await s.until(lambda: "/jyz_  not found" in bottom(s))
        await s.pilot.press("escape", "slash", "enter")
        assert s.draft == ""


async def test_hits_are_painted_and_the_current_one_differently() -> None:
    async with stage(session()) as s:
        await s.pilot.press("tab", "g", "slash", *"needle", "enter")
        await s.until(lambda: "1 of 3" in bottom(s))
        palette = history(s).palette
        (row,) = history(s).rows(0, 1)
        painted = [part.text for part in row if part.style and part.style.underline and part.style.reverse]
        assert painted == ["needle"]
        assert palette.hit != palette.current_hit


async def test_a_block_and_each_of_its_codes_are_copied() -> None:
    async with stage(session()) as s:
        copied = []
        await s.pilot.press("tab", "g", "j")
        for key in ("y", "c", "c", "c"):
            s.app._clipboard = ""
            await s.pilot.press(key)
            await s.until(lambda: bool(s.app.clipboard))
            copied.append(s.app.clipboard)
        assert copied == [CODE, "first()", "second", "first()"]
        await s.shows("Sent 7 characters to the clipboard (code 1 of 2).")


async def test_copying_code_from_a_block_without_code_says_so() -> None:
    async with stage(session()) as s:
        await s.pilot.press("tab", "g", "c")
        await s.shows("This block has no code.")


async def test_a_block_is_read_in_full_and_closed_with_focus_and_draft_kept() -> None:
    async with stage(session()) as s:
        await s.pilot.press(*"draft", "tab", "g", "j", "j", "v")
        await s.until(lambda: isinstance(s.app.screen, PagerScreen))
        await s.until(lambda: "line 0" in s.drawn() and "line 49" not in s.drawn())
        await s.pilot.press("G")
        await s.shows("hidden needle")
        await s.pilot.press("slash", *"line 7", "enter")
        await s.shows("/line 7  1 of 1")
        await s.pilot.press("q")
        assert isinstance(s.app.screen, PagerScreen)
        await s.pilot.press("escape")
        assert s.draft == "draft"
        assert s.screen.transcript.view.has_focus


async def test_keys_typed_before_the_page_shows_are_not_lost() -> None:
    async with stage(session()) as s:
        await s.pilot.press("tab", "g", "j", "j")
        for key in ("v", "q", "x"):
            s.app.post_message(events.Key(key, key))
        await s.until(lambda: s.draft == "x")
        assert s.app.screen is s.screen


async def test_output_that_does_not_fit_a_block_is_read_from_its_file() -> None:
    cut = ToolFinished("c9", "bash", Outcome.OK, "make", TerminalBlock("make", "start ... end", 0), 0)
    fake = FakeSession(earlier=(cut,))
    fake.report.outputs["c9"] = "start\nin the \x1b[31mmiddle\nend"
    async with stage(fake) as s:
        await s.pilot.press("tab", "v")
        await s.shows("in the middle")
        await s.shows("$ make")
        await s.shows("exit 0")


def hostile() -> Iterator[str]:
    yield "x" * 200_000
    yield "\x1b]52;c;AAAA\a\u202e[bold]markup[/bold]\n" * 2000


@pytest.mark.parametrize("text", list(hostile()), ids=["one line", "escapes"])
async def test_hostile_output_is_read_and_searched_in_pieces(text: str) -> None:
    call = ToolFinished("c1", "read", Outcome.OK, "a", TextBlock(text), 0)
    async with stage(FakeSession(earlier=(call,))) as s:
        await s.pilot.press("tab", "v")
        await s.until(lambda: isinstance(s.app.screen, PagerScreen))
        await s.pilot.press("G", "slash", "x", "enter", "escape")
        pager = s.app.screen
        assert isinstance(pager, PagerScreen)
        assert pager.pager.history.strips.drawings < 20
        assert "\x1b" not in s.drawn()
        await s.pilot.press("q")
        assert s.app.screen is s.screen


@pytest.mark.parametrize(
    ("diff", "line"),
    [
        ("--- a/x\n+++ b/x\n@@ -3,4 +7,5 @@ def f():\n one\n two\n-a\n+b\n", 9),
        ("--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+a\n", 1),
        ("--- a/x\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n", 1),
        ("", 1),
    ],
)
def test_a_changed_file_opens_where_it_was_changed(diff: str, line: int) -> None:
    assert first_changed_line(diff) == line


async def test_the_editor_gets_the_changed_file_or_the_text_of_the_block(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[tuple[str, int]] = []

    async def open_at(self: ExternalEditor, terminal: object, file: Path, line: int, column: int) -> str:
        opened.append((file.name, line))
        return ""

    async def edit(self: ExternalEditor, terminal: object, editable: Editable) -> NotEdited:
        opened.append((editable.text, 0))
        return NotEdited("")

    monkeypatch.setattr(ExternalEditor, "open_at", open_at)
    monkeypatch.setattr(ExternalEditor, "edit", edit)
    (tmp_path / "x").write_text("b\n")
    diff = "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n"
    earlier = (
        UserMessageAdded("u", "words"),
        ToolFinished("c1", "edit", Outcome.OK, "x", DiffBlock("x", diff, 1, 1), 0),
        ToolFinished("c2", "edit", Outcome.OK, "gone", DiffBlock("gone", diff, 1, 1), 0),
    )
    async with stage(FakeSession(tmp_path, earlier)) as s:
        await s.pilot.press("tab", "g")
        for _ in range(3):
            await s.pilot.press("e")
            await s.until(lambda: not any(worker.group == "read" for worker in s.app.workers))
            await s.pilot.press("j")
        assert opened == [("words", 0), ("x", 1), (f"edit gone\n{diff}", 0)]


async def test_browsing_and_searching_begin_from_the_palette_too() -> None:
    async with stage(session()) as s:
        await s.pilot.press(*"draft")
        await s.app.run_action("screen.run('browse')")
        await s.until(lambda: s.screen.transcript.view.has_focus and bottom(s).startswith("j k block"))
        await s.pilot.press("i")
        await s.app.run_action("screen.run('find')")
        await s.pilot.press(*"second question")
        await s.until(lambda: "/second question_  1 of 1" in bottom(s))
        assert s.draft == "draft"


async def test_typing_a_query_unfolds_nothing() -> None:
    async with stage(session()) as s:
        await s.pilot.press("tab", "slash", *"hidden")
        await s.until(lambda: "1 of 1" in bottom(s))
        assert "hidden needle" not in s.drawn()
        await s.pilot.press("enter")
        await s.shows("hidden needle")


@pytest.mark.parametrize("size", [(100, 30), (30, 8), (1, 1)])
async def test_every_key_is_harmless_in_an_empty_session(size: tuple[int, int]) -> None:
    async with stage(size=size) as s:
        await s.pilot.press("tab")
        for row in KEYS:
            if row.context is Context.TRANSCRIPT and not row.action.startswith(("app.", "screen.")):
                for key in row.keys.split(","):
                    await s.pilot.press(key)
                    s.screen.set_focus(s.screen.transcript.view)
        await s.pilot.press("slash", *"x y", "enter", "n", "N", "escape", "i", *"ok")
        assert s.draft == "ok"
