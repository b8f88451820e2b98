"""Problems: their order, and the actions on one."""

import os
import stat
from pathlib import Path

import pytest
from rich.text import Text

from coder_tui.protocol.diagnostics import Diagnostic, ServerStatus, Severity
from coder_tui.protocol.events import (
    DiagnosticsAwaited,
    DiagnosticsChanged,
    ServerStatusChanged,
    TodosChanged,
)
from coder_tui.protocol.todos import TodoItem, TodoPriority, TodoStatus
from coder_tui.ui.external_editor import place_words
from coder_tui.ui.glyphs import UNICODE
from coder_tui.ui.panes.names import PaneName
from coder_tui.ui.panes.problems import ProblemsList, Tally, by_file, fix_message
from tests.fakes.fake_session import FakeSession
from tests.fakes.screens import Stage, stage


def problem(line: int, severity: Severity, path: str = "a.py", *, is_new: bool = False) -> Diagnostic:
    return Diagnostic(path, line, 2, severity, f"message {line}", "E1", "checker", is_new)


ERROR, WARNING, HINT = problem(9, Severity.ERROR), problem(1, Severity.WARNING), problem(3, Severity.HINT)
NEW = problem(20, Severity.ERROR, is_new=True)
OTHER = problem(5, Severity.ERROR, "z.py")
MILD = problem(2, Severity.WARNING, "b.py")


def rows(s: Stage) -> list[str]:
    listed = s.screen.widgets.dock.problems.target
    return [" ".join(strip.text.split()) for strip in listed.render_lines(listed.size.region)]


async def show(s: Stage, *found: Diagnostic) -> None:
    for path in sorted({each.path for each in found}):
        s.session.emit(DiagnosticsChanged(path, tuple(each for each in found if each.path == path)))
    await s.pilot.pause()
    await s.until(lambda: not s.screen.widgets.dock.problems.is_sorting)


def test_files_with_errors_come_first_and_in_each_the_most_severe_and_newest() -> None:
    found = {"b.py": (MILD,), "a.py": (HINT, WARNING, ERROR, NEW), "z.py": (OTHER,), "clean.py": ()}
    assert by_file(found) == ["a.py", NEW, ERROR, WARNING, HINT, "z.py", OTHER, "b.py", MILD]


@pytest.mark.parametrize(
    ("tally", "words"),
    [(Tally(), ""), (Tally(2, 1, 9), "2 ✗ 1 !"), (Tally(0, 3, 1), "3 !"), (Tally(0, 0, 4), "4 ·")],
)
def test_the_count_shows_the_severity(tally: Tally, words: str) -> None:
    assert tally.words(UNICODE) == words


async def test_problems_are_listed_by_file_with_new_ones_marked() -> None:
    async with stage(size=(150, 40)) as s:
        await show(s, ERROR, NEW, MILD)
        await s.shows("problems 2 ✗ 1 !")
        assert rows(s)[:5] == [
            "a.py",
            "▌ ✗ 20:2 NEW message 20 E1",
            "✗ 9:2 message 9 E1",
            "b.py",
            "! 2:2 message 2 E1",
        ]


async def test_a_click_marks_a_problem_and_gives_its_pane_the_keys() -> None:
    async with stage(size=(150, 40)) as s:
        await show(s, ERROR, OTHER, MILD)
        await s.pilot.click("#problem-rows", offset=(5, 3))
        assert s.screen.widgets.dock.problems.marked == OTHER
        assert s.screen.widgets.dock.problems.has_focus_within
        await s.pilot.click("#problem-rows", offset=(5, 2))
        assert s.screen.widgets.dock.problems.marked == OTHER


async def test_fixed_problems_disappear() -> None:
    async with stage(size=(150, 40)) as s:
        await show(s, ERROR, MILD)
        s.session.emit(DiagnosticsChanged("a.py", ()))
        assert s.screen.widgets.dock.count(PaneName.PROBLEMS) == "1 !"
        s.session.emit(DiagnosticsChanged("b.py", ()))
        await s.until(lambda: not s.screen.widgets.dock.display)


async def test_the_mark_skips_headings() -> None:
    async with stage(size=(150, 40)) as s:
        await show(s, ERROR, OTHER, MILD)
        await s.pilot.press("f5")
        seen = [s.screen.widgets.dock.problems.marked]
        for key in ("j", "right_square_bracket", "j", "left_square_bracket", "g"):
            await s.pilot.press(key)
            seen.append(s.screen.widgets.dock.problems.marked)
        assert seen == [ERROR, OTHER, MILD, MILD, OTHER, ERROR]


async def test_a_message_that_is_cut_off_is_shown_below() -> None:
    words = "the whole message goes on and on until its very last word: finis"
    async with stage(size=(110, 30)) as s:
        await show(s, Diagnostic("a.py", 1, 1, Severity.ERROR, words, "E1"))
        assert "finis" not in s.drawn()
        await s.pilot.press("f5")
        await s.shows("finis")


async def test_a_message_too_long_for_the_pane_is_marked_and_read_in_full() -> None:
    words = "\n".join(f"note {number}" for number in range(30))
    async with stage(size=(110, 30)) as s:
        await show(s, Diagnostic("a.py", 1, 1, Severity.ERROR, words, "E1"))
        await s.pilot.press("f5")
        await s.until(lambda: "note 2" in s.drawn() and "… v" in s.drawn())
        await s.pilot.press("v")
        await s.until(lambda: "a.py:1:1 E1" in s.drawn() and "note 20" in s.drawn())
        await s.pilot.press("escape")
        await s.until(lambda: s.screen.widgets.dock.problems.has_focus_within)


async def test_f_asks_the_agent_and_queues_while_it_works() -> None:
    async with stage(size=(150, 40)) as s:
        await show(s, ERROR, NEW)
        await s.pilot.press("f5", "f")
        await s.until(lambda: s.session.submitted == [fix_message(NEW)])
        await s.pilot.press("j", "f")
        await s.until(lambda: s.session.withdraw_queued() == (fix_message(ERROR),))


def test_the_message_quotes_what_the_checker_says() -> None:
    found = Diagnostic("a.py", 7, 2, Severity.ERROR, "one\ntwo", "E1", "mypy")
    assert fix_message(found) == "Please fix this error in a.py:7:2 (mypy E1):\n> one\n> two"


async def test_a_draft_survives_asking_for_a_fix() -> None:
    async with stage(size=(150, 40)) as s:
        await s.pilot.press(*"draft")
        await show(s, ERROR)
        await s.pilot.press("f5", "f", "escape")
        assert (s.draft, s.session.submitted) == ("draft", [fix_message(ERROR)])


@pytest.mark.parametrize(
    ("program", "words"),
    [
        ("/usr/bin/vim", ["+7", "/srv/a.py"]),
        ("/usr/bin/code", ["--goto", "/srv/a.py:7:3"]),
        ("/usr/bin/hx", ["/srv/a.py:7:3"]),
    ],
)
def test_each_editor_gets_the_place_in_its_own_way(program: str, words: list[str]) -> None:
    assert place_words(program, Path("/srv/a.py"), 7, 3) == words


async def test_a_place_that_cannot_be_opened_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    editor = tmp_path / "bin" / "ed-it"
    editor.parent.mkdir()
    editor.write_text("#!/bin/sh\n")
    editor.chmod(editor.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("VISUAL", "ed-it")
    monkeypatch.setenv("PATH", f"{editor.parent}{os.pathsep}{os.environ['PATH']}")
    project = tmp_path / "project"
    project.mkdir()
    async with stage(FakeSession(project), size=(150, 40)) as s:
        await show(s, ERROR)
        await s.pilot.press("f5", "enter")
        await s.shows("a.py is no longer there.")
        (project / "a.py").write_text("x\n")
        await s.pilot.press("enter")
        await s.shows("This terminal cannot be given to an editor.")


async def test_hostile_messages_cannot_control_the_terminal_or_be_markup() -> None:
    async with stage(size=(150, 40)) as s:
        await show(
            s, Diagnostic("x\x1b[2J.py", 1, 1, Severity.ERROR, "[red]a\x1b]0;t\x07\u202e\nb", "[b]\n", "\x1b")
        )
        await s.pilot.press("f5")
        await s.shows("[red]a")
        assert not {"\x1b", "\x07", "\u202e"} & set(s.drawn())


async def test_a_thousand_files_reported_one_by_one_are_sorted_a_few_times(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sorted_lists: list[int] = []
    show_rows = ProblemsList.show

    def counted(listed: ProblemsList, rows: list[str | Diagnostic]) -> None:
        sorted_lists.append(len(rows))
        show_rows(listed, rows)

    monkeypatch.setattr(ProblemsList, "show", counted)
    async with stage(size=(150, 40)) as s:
        for number in range(1000):
            path = f"{number:03}.py"
            s.session.emit(DiagnosticsChanged(path, (problem(1, Severity.ERROR, path),)))
        assert s.screen.widgets.dock.count(PaneName.PROBLEMS) == "1000 ✗"
        await s.until(lambda: sorted_lists[-1] == 2000)
        assert len(sorted_lists) < 20


async def test_very_long_messages_are_cut_off() -> None:
    endless = "\x1b[31m" + "x" * 4_000_000
    async with stage(size=(150, 40)) as s:
        await show(s, Diagnostic("a.py", 1, 1, Severity.ERROR, endless, endless, endless))
        s.session.emit(TodosChanged((TodoItem("1", endless, TodoStatus.PENDING, TodoPriority.LOW),)))
        await s.pilot.press("f5", "f4", "f5")
        await s.until(lambda: "xxx…" in s.drawn() and "1:1" in s.drawn())
        assert s.screen.widgets.dock.todos.region.height < 12


async def test_ten_thousand_problems_are_drawn_by_the_row(monkeypatch: pytest.MonkeyPatch) -> None:
    async with stage(size=(150, 40)) as s:
        await show(s, *(problem(line, Severity.ERROR) for line in range(1, 10_001)))
        drawn: list[int] = []
        draw = ProblemsList.draw

        def counted(listed: ProblemsList, row: int, width: int) -> Text:
            drawn.append(row)
            return draw(listed, row, width)

        monkeypatch.setattr(ProblemsList, "draw", counted)
        await s.pilot.press("f5", "G")
        await s.shows("message 10000")
        assert 0 < len(drawn) < 2_000


async def test_a_key_leads_from_the_prompt_to_the_problems_and_on_to_the_next() -> None:
    async with stage(size=(150, 40)) as s:
        await s.pilot.press("alt+n")
        await s.shows("No problems are known.")
        await show(s, ERROR, WARNING, HINT)
        await s.pilot.press(*"draft", "alt+n")
        await s.until(lambda: s.screen.widgets.dock.problems.has_focus_within)
        seen = [s.screen.widgets.dock.problems.marked]
        for key in ("alt+n", "alt+n", "alt+p"):
            await s.pilot.press(key)
            seen.append(s.screen.widgets.dock.problems.marked)
        assert (seen, s.draft) == ([ERROR, WARNING, HINT, WARNING], "draft")


async def test_a_file_that_is_not_checked_yet_is_not_shown_as_clean() -> None:
    async with stage(size=(150, 40)) as s:
        s.session.emit(DiagnosticsAwaited(("slow.py",)))
        await s.shows("problems ?")
        assert (
            not s.screen.widgets.dock.problems.display
        )  # that nothing is known is no reason to step forward
        await show(s, ERROR)
        await s.pilot.press("f5")
        await s.until(lambda: "slow.py  (not known yet)" in s.drawn() and "problems 1" in s.drawn())
        s.session.emit(DiagnosticsAwaited(("a.py",)))
        await s.shows("a.py  (not known yet)")
        s.session.emit(DiagnosticsAwaited(()))
        await s.until(lambda: "not known yet" not in s.drawn())


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (None, "No problems are known. No file was checked yet."),
        (ServerStatus.STARTING, "No problems are known. pylsp is starting."),
        (ServerStatus.CRASHED, "No problems are known. pylsp fails."),
        (ServerStatus.FRESH, "No problems are known."),
    ],
    ids=str,
)
async def test_without_problems_the_state_of_servers_is_reported(
    status: ServerStatus | None, words: str
) -> None:
    async with stage(size=(150, 40)) as s:
        if status is not None:
            s.session.emit(ServerStatusChanged("pylsp", "py", status))
        await s.pilot.press("f5")
        await s.shows(f"{words} ")
