"""Which panes are visible next to the conversation, by room and by what the user asked for."""

import random
from pathlib import Path

import pytest
from textual.geometry import Size

from coder_tui.protocol.diagnostics import Diagnostic, Severity
from coder_tui.protocol.events import DiagnosticsChanged, FilesChanged, MessageFinished, TodosChanged
from coder_tui.protocol.todos import TodoItem, TodoPriority, TodoStatus
from coder_tui.ui.panes.dock import PaneState, arranged
from coder_tui.ui.panes.names import PaneName, Room, room_for
from coder_tui.workspace.undo.changed_files import ChangedFile
from tests.fakes.screens import Stage, stage

CHANGES, TODO, PROBLEMS = PaneName
FULL = PaneState(has_content=True, wants_showing=True)
EMPTY = PaneState()
TODOS = (
    TodoItem("1", "guard", TodoStatus.COMPLETED, TodoPriority.HIGH),
    TodoItem("2", "test", TodoStatus.IN_PROGRESS, TodoPriority.HIGH),
)
PROBLEM = Diagnostic("calc.py", 7, 12, Severity.ERROR, "Name is not defined", "F821")
FILE = ChangedFile(Path("/srv/project/calc.py"), 1, b"a = 1\n", b"a = 2\nb = 3\n")


def states(**given: PaneState) -> dict[PaneName, PaneState]:
    return {name: given.get(name, EMPTY) for name in PaneName}


async def fill(s: Stage) -> None:
    s.session.files = (FILE,)
    s.session.emit(TodosChanged(TODOS), DiagnosticsChanged("calc.py", (PROBLEM,)), FilesChanged(("calc.py",)))
    await s.until(lambda: s.screen.widgets.dock.count(CHANGES) == "1")
    await s.pilot.pause()


def shown(s: Stage) -> set[PaneName]:
    return set(s.screen.widgets.dock.shown)


def test_breakpoints_are_those_of_the_design() -> None:
    sizes = (99, 40), (100, 40), (139, 40), (140, 40), (140, 15)
    assert [room_for(Size(*size)) for size in sizes] == [
        Room.NARROW,
        Room.MEDIUM,
        Room.MEDIUM,
        Room.WIDE,
        Room.MEDIUM,
    ]


@pytest.mark.parametrize(
    ("room", "panes", "front", "expected"),
    [
        (Room.WIDE, states(changes=FULL, todo=FULL, problems=FULL), None, (CHANGES, TODO, PROBLEMS)),
        (Room.WIDE, states(todo=FULL), CHANGES, (TODO,)),
        (Room.WIDE, states(todo=PaneState(True, False)), None, ()),
        (Room.WIDE, states(todo=PaneState(True, False, choice=True)), None, (TODO,)),
        (Room.WIDE, states(changes=PaneState(True, True, choice=False), todo=FULL), None, (TODO,)),
        (Room.MEDIUM, states(todo=FULL, problems=FULL), None, (TODO,)),
        (Room.MEDIUM, states(todo=FULL, problems=FULL), PROBLEMS, (PROBLEMS,)),
        (Room.MEDIUM, states(todo=FULL), PROBLEMS, (TODO,)),
        (Room.MEDIUM, states(), CHANGES, ()),
        (Room.NARROW, states(changes=FULL, todo=FULL), None, ()),
        (Room.NARROW, states(changes=FULL, todo=FULL), TODO, (TODO,)),
        (Room.NARROW, states(changes=FULL), TODO, ()),
    ],
)
def test_which_panes_are_visible(
    room: Room, panes: dict[PaneName, PaneState], front: PaneName | None, expected: tuple[PaneName, ...]
) -> None:
    assert arranged(room, panes, front) == expected


async def test_an_empty_session_has_neither_dock_nor_tabs() -> None:
    for size in (80, 24), (120, 30), (160, 40):
        async with stage(size=size) as s:
            assert (s.screen.widgets.dock.display, s.screen.widgets.tabs.display) == (False, False)


async def test_a_wide_screen_shows_all_panes_with_their_counts_in_the_titles() -> None:
    async with stage(size=(140, 40)) as s:
        await fill(s)
        assert shown(s) == {CHANGES, TODO, PROBLEMS}
        await s.until(
            lambda: all(word in s.drawn() for word in ("─ changes 1", "─ todo 1/2", "problems 1 ✗"))
        )
        status = s.screen.status.status
        assert (status.files, status.todos, status.problems) == ("", "", "")
        dock, chat = s.screen.widgets.dock.region, s.screen.query_one("#chat").region
        assert (dock.width, chat.width) == (56, 84)


async def test_a_medium_screen_shows_one_pane_and_counts_the_others() -> None:
    async with stage(size=(110, 30)) as s:
        await fill(s)
        assert (shown(s), s.screen.widgets.dock.region.width) == ({TODO}, 34)
        status = s.screen.status.status
        assert (status.files, status.todos, status.problems) == ("1", "", "1 ✗")
        for key, name in ("f3", CHANGES), ("f5", PROBLEMS), ("f4", TODO):
            await s.pilot.press(key)
            assert (shown(s), s.screen.widgets.dock.panes[name].has_focus_within) == ({name}, True)


async def test_a_narrow_screen_switches_panes_and_counts_them_in_a_row_of_tabs() -> None:
    async with stage(size=(80, 24)) as s:
        await fill(s)
        s.session.emit(MessageFinished("m", "words of the agent", ""))
        await s.shows("words of the agent")
        first = s.drawn().splitlines()[0]
        assert first.strip().startswith("chat │ changes 1 │ todo 1/2 │ problems 1 ✗")
        assert first.rstrip().endswith("F2–F5 switch")
        await s.pilot.press("f5")
        await s.shows("Name is not defined")
        assert "words of the agent" not in s.drawn()
        await s.pilot.press("f2")
        await s.shows("words of the agent")
        assert s.screen.prompt.has_focus


async def test_escape_leaves_a_pane_without_stopping_the_agent() -> None:
    async with stage(size=(80, 24)) as s:
        await s.pilot.press(*"go", "enter")
        await fill(s)
        await s.pilot.press("f3", "escape")
        assert (s.screen.prompt.has_focus, shown(s), s.session.interrupts) == (True, set(), 0)
        await s.pilot.press("escape")
        assert s.session.interrupts == 1


async def test_the_same_key_hides_a_pane_and_shows_it_again() -> None:
    async with stage(size=(140, 40)) as s:
        await fill(s)
        await s.pilot.press("f4")
        assert s.screen.widgets.dock.todos.has_focus_within
        await s.pilot.press("f4")
        await s.until(lambda: s.screen.prompt.has_focus)
        assert (shown(s), s.screen.status.status.todos) == ({CHANGES, PROBLEMS}, "1/2")
        await s.pilot.press("f4")
        assert shown(s) == {CHANGES, TODO, PROBLEMS}


async def test_a_finished_todo_list_collapses_to_its_count() -> None:
    async with stage(size=(140, 40)) as s:
        s.session.emit(TodosChanged(TODOS))
        await s.pilot.pause()
        assert shown(s) == {TODO}
        s.session.emit(TodosChanged((TODOS[0],)))
        await s.pilot.pause()
        assert (shown(s), s.screen.status.status.todos) == (set(), "1/1")


async def test_the_prompt_gets_the_focus_when_the_focused_pane_is_hidden() -> None:
    async with stage(size=(140, 40)) as s:
        await fill(s)
        await s.pilot.press("f5")
        s.session.emit(DiagnosticsChanged("calc.py", ()))
        await s.until(lambda: s.screen.prompt.has_focus)
        await s.pilot.press(*"hi")
        assert s.draft == "hi"


async def test_an_empty_pane_says_so_instead_of_opening() -> None:
    async with stage() as s:
        await s.pilot.press("f3", "f5")
        await s.shows("Nothing was changed yet.")
        await s.shows("No problems are known.")
        assert s.screen.prompt.has_focus


async def test_letters_typed_in_a_narrow_pane_reach_the_prompt_and_sending_shows_the_chat() -> None:
    async with stage(size=(80, 24)) as s:
        await fill(s)
        await s.pilot.press("f4", *"yes")
        assert (s.draft, shown(s)) == ("yes", {TODO})
        await s.pilot.press("enter")
        await s.shows("you  yes")


async def test_a_terminal_that_gets_narrow_shows_the_conversation() -> None:
    async with stage(size=(140, 40)) as s:
        await fill(s)
        await s.pilot.press("f4", "escape")
        await s.pilot.resize_terminal(80, 24)
        await s.until(lambda: s.screen.widgets.dock.room is Room.NARROW)
        assert not s.screen.widgets.dock.display


async def test_a_pane_that_was_emptied_does_not_cover_the_conversation_again() -> None:
    async with stage(size=(80, 24)) as s:
        await fill(s)
        await s.pilot.press("f4")
        s.session.emit(TodosChanged(()))
        await s.until(lambda: s.screen.prompt.has_focus)
        s.session.emit(TodosChanged(TODOS))
        await s.pilot.pause()
        assert not s.screen.widgets.dock.display


async def test_new_content_does_not_replace_the_visible_pane() -> None:
    async with stage(size=(110, 30)) as s:
        s.session.emit(TodosChanged(TODOS))
        await s.pilot.pause()
        await fill(s)
        assert (shown(s), s.screen.status.status.files) == ({TODO}, "1")


async def test_zoom_applies_to_one_pane_only() -> None:
    async with stage(size=(110, 30)) as s:
        await fill(s)
        await s.pilot.press("f3", "enter")
        await s.until(lambda: s.screen.widgets.dock.region.width == 110)
        await s.pilot.press("f4")
        await s.until(lambda: s.screen.widgets.dock.region.width == 34)
        await s.pilot.press("f3", "enter")
        await s.pilot.resize_terminal(150, 40)
        await s.until(lambda: shown(s) == {CHANGES, TODO, PROBLEMS})


async def test_a_click_on_a_tab_switches() -> None:
    async with stage(size=(80, 24)) as s:
        await fill(s)
        await s.pilot.click("#tabs", offset=(10, 0))
        await s.until(lambda: shown(s) == {CHANGES})
        await s.pilot.click("#tabs", offset=(2, 0))
        await s.until(lambda: shown(s) == set())


@pytest.mark.parametrize(
    ("width", "expected"),
    [
        (60, "chat │ changes 1 │ todo 1/2 │ problems 1 ✗"),
        (40, "chat │ chan 1 │ todo 1/2 │ prob 1 ✗"),
        (30, "chat │ 1 │ 1/2 │ 1 ✗"),
    ],
)
async def test_tabs_shorten_their_names_before_any_is_cut(width: int, expected: str) -> None:
    async with stage(size=(width, 20)) as s:
        await fill(s)
        await s.until(lambda: s.drawn().splitlines()[0].strip().startswith(expected))


async def test_focusing_the_conversation_uncovers_it() -> None:
    async with stage(size=(80, 24)) as s:
        await fill(s)
        await s.pilot.press("f4", "escape")
        assert s.screen.prompt.has_focus
        await s.pilot.press("f4")
        s.screen.set_focus(s.screen.transcript.view)
        await s.until(lambda: not s.screen.widgets.dock.display)
        assert s.screen.transcript.view.has_focus


async def test_tab_goes_through_visible_panes() -> None:
    async with stage(size=(140, 40)) as s:
        await fill(s)
        seen = []
        for _ in range(6):
            await s.pilot.press("tab")
            seen.append(s.screen.focused)
        dock = s.screen.widgets.dock
        panes = [dock.changes.target, dock.changes.diff, dock.todos.target, dock.problems.target]
        assert seen == [s.screen.transcript.view, *panes, s.screen.prompt]


async def test_the_transcript_stays_in_place_while_panes_and_sizes_change() -> None:
    words = "\n\n".join(f"paragraph {number} " + "goes on " * 30 for number in range(80))
    async with stage(size=(150, 40)) as s:
        s.session.emit(MessageFinished("m", words, ""))
        await s.shows("paragraph 79")
        await s.pilot.press("pageup", "pageup", "pageup")
        top = first_paragraph(s)
        await fill(s)
        assert first_paragraph(s) == top
        for size in (110, 30), (80, 24), (200, 50), (150, 40):
            await s.pilot.resize_terminal(*size)
            await s.pilot.pause()
            assert first_paragraph(s) in {top, top + 1}
        s.session.emit(*(MessageFinished(f"m{number}", "more", "") for number in range(12)))
        await s.shows("↓ 12 new")
        await s.pilot.press("f2")
        await s.until(lambda: "new below" not in s.drawn())


def first_paragraph(s: Stage) -> int:
    return int(s.drawn().split("paragraph ", 1)[1].split(" ", 1)[0])


@pytest.mark.parametrize("size", [(30, 10), (40, 12), (60, 15), (99, 29), (100, 8), (140, 9), (240, 60)])
async def test_every_pane_opens_at_every_size(size: tuple[int, int]) -> None:
    async with stage(size=size) as s:
        await fill(s)
        for key, name in ("f3", CHANGES), ("f4", TODO), ("f5", PROBLEMS):
            await s.pilot.press(key)
            await s.pilot.pause()
            assert name in shown(s)
            assert s.screen.widgets.dock.panes[name].region.height > 1


async def test_after_many_resizes_the_screen_is_unchanged() -> None:
    async def drawn(*sizes: tuple[int, int]) -> str:
        async with stage(size=sizes[0]) as s:
            s.session.emit(MessageFinished("m", "words " * 300, ""))
            await fill(s)
            for size in sizes[1:]:
                await s.pilot.resize_terminal(*size)
            await s.until(lambda: s.screen.size == sizes[-1])
            await s.pilot.pause()
            return s.drawn()

    storm = [(width, 50) for width in (200, 120, 40, 99, 101, 139, 141, 40, 200)]
    assert await drawn(*storm) == await drawn((200, 50))


@pytest.mark.parametrize("seed", range(2))
async def test_whatever_happens_the_focus_is_on_something_visible(seed: int) -> None:
    chance = random.Random(seed)
    steps = [
        "f2",
        "f3",
        "f4",
        "f5",
        "tab",
        "escape",
        "j",
        "enter",
        "x",
        "todo",
        "done",
        "fixed",
        "found",
        "size",
    ]
    typed = 0
    async with stage(size=(140, 40)) as s:
        await fill(s)
        for _ in range(40):
            match chance.choice(steps):
                case "todo":
                    s.session.emit(TodosChanged(TODOS))
                case "done":
                    s.session.emit(TodosChanged(()))
                case "fixed":
                    s.session.emit(DiagnosticsChanged("calc.py", ()))
                case "found":
                    s.session.emit(DiagnosticsChanged("calc.py", (PROBLEM,)))
                case "size":
                    await s.pilot.resize_terminal(*chance.choice([(80, 24), (110, 30), (150, 20), (140, 40)]))
                case "enter" if s.screen.prompt.has_focus:
                    continue
                case key:
                    await s.pilot.press(key)
                    typed += key == "x" or (key == "j" and s.screen.prompt.has_focus)
            await s.pilot.pause()
            focused = s.screen.focused
            assert focused is not None
            assert focused.is_on_screen
            assert not (s.screen.widgets.dock.covers and focused is s.screen.transcript.view)
            if len(s.app.screen_stack) > 1:
                await s.pilot.press("escape")
        assert len(s.draft) == typed
