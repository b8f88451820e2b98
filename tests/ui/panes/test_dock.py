"""Which panes show beside the conversation, by the room there is and what the person asked for."""

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
    await s.until(lambda: s.screen.dock.count(CHANGES) == "1")
    await s.pilot.pause()


def shown(s: Stage) -> set[PaneName]:
    return set(s.screen.dock.shown)


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
def test_what_shows(
    room: Room, panes: dict[PaneName, PaneState], front: PaneName | None, expected: tuple[PaneName, ...]
) -> None:
    assert arranged(room, panes, front) == expected


async def test_a_calm_screen_has_neither_dock_nor_tabs() -> None:
    for size in (80, 24), (120, 30), (160, 40):
        async with stage(size=size) as s:
            assert (s.screen.dock.display, s.screen.tabs.display) == (False, False)


async def test_a_wide_screen_shows_all_panes_with_their_counts_in_the_titles() -> None:
    async with stage(size=(140, 40)) as s:
        await fill(s)
        assert shown(s) == {CHANGES, TODO, PROBLEMS}
        await s.until(
            lambda: all(word in s.drawn() for word in ("─ changes 1", "─ todo 1/2", "problems 1 ✗"))
        )
        status = s.screen.status.status
        assert (status.files, status.todos, status.problems) == ("", "", "")
        dock, chat = s.screen.dock.region, s.screen.query_one("#chat").region
        assert (dock.width, chat.width) == (56, 84)


async def test_a_medium_screen_shows_one_pane_and_counts_the_others() -> None:
    async with stage(size=(110, 30)) as s:
        await fill(s)
        assert (shown(s), s.screen.dock.region.width) == ({TODO}, 34)
        status = s.screen.status.status
        assert (status.files, status.todos, status.problems) == ("1", "", "1 ✗")
        for key, name in ("f3", CHANGES), ("f5", PROBLEMS), ("f4", TODO):
            await s.pilot.press(key)
            assert (shown(s), s.screen.dock.panes[name].has_focus_within) == ({name}, True)


async def test_a_narrow_screen_switches_panes_and_counts_them_in_a_row_of_tabs() -> None:
    async with stage(size=(80, 24)) as s:
        await fill(s)
        s.session.emit(MessageFinished("m", "words of the agent", ""))
        await s.until(lambda: "words of the agent" in s.drawn())
        first = s.drawn().splitlines()[0]
        assert first.strip().startswith("chat │ changes 1 │ todo 1/2 │ problems 1 ✗")
        assert first.rstrip().endswith("F2–F5 switch")
        await s.pilot.press("f5")
        await s.until(lambda: "Name is not defined" in s.drawn())
        assert "words of the agent" not in s.drawn()
        await s.pilot.press("f2")
        await s.until(lambda: "words of the agent" in s.drawn())
        assert s.screen.prompt.has_focus


async def test_escape_leaves_a_pane_without_stopping_the_agent() -> None:
    async with stage(size=(80, 24)) as s:
        await s.pilot.press(*"go", "enter")
        await fill(s)
        await s.pilot.press("f3", "escape")
        assert (s.screen.prompt.has_focus, shown(s), s.session.interrupts) == (True, set(), 0)
        await s.pilot.press("escape")
        assert s.session.interrupts == 1


async def test_the_same_key_again_puts_a_pane_away_and_brings_it_back() -> None:
    async with stage(size=(140, 40)) as s:
        await fill(s)
        await s.pilot.press("f4")
        assert s.screen.dock.todos.has_focus_within
        await s.pilot.press("f4")
        await s.until(lambda: s.screen.prompt.has_focus)
        assert (shown(s), s.screen.status.status.todos) == ({CHANGES, PROBLEMS}, "1/2")
        await s.pilot.press("f4")
        assert shown(s) == {CHANGES, TODO, PROBLEMS}


async def test_a_finished_list_folds_into_its_count() -> None:
    async with stage(size=(140, 40)) as s:
        s.session.emit(TodosChanged(TODOS))
        await s.pilot.pause()
        assert shown(s) == {TODO}
        s.session.emit(TodosChanged((TODOS[0],)))
        await s.pilot.pause()
        assert (shown(s), s.screen.status.status.todos) == (set(), "1/1")


async def test_keys_go_to_the_prompt_when_the_pane_that_had_them_is_gone() -> None:
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
        await s.until(lambda: "Nothing was changed yet." in s.drawn())
        assert "No problems are known." in s.drawn()
        assert s.screen.prompt.has_focus


async def test_letters_typed_in_a_narrow_pane_reach_the_prompt_and_sending_shows_the_chat() -> None:
    async with stage(size=(80, 24)) as s:
        await fill(s)
        await s.pilot.press("f4", *"yes")
        assert (s.draft, shown(s)) == ("yes", {TODO})
        await s.pilot.press("enter")
        await s.until(lambda: "you  yes" in s.drawn())


async def test_growing_narrow_does_not_leave_a_pane_over_the_conversation() -> None:
    async with stage(size=(140, 40)) as s:
        await fill(s)
        await s.pilot.press("f4", "escape")
        await s.pilot.resize_terminal(80, 24)
        await s.until(lambda: s.screen.dock.room is Room.NARROW)
        assert not s.screen.dock.display


async def test_a_pane_that_was_emptied_does_not_come_back_over_the_conversation() -> None:
    async with stage(size=(80, 24)) as s:
        await fill(s)
        await s.pilot.press("f4")
        s.session.emit(TodosChanged(()))
        await s.until(lambda: s.screen.prompt.has_focus)
        s.session.emit(TodosChanged(TODOS))
        await s.pilot.pause()
        assert not s.screen.dock.display


async def test_news_does_not_take_the_place_of_the_pane_one_sees() -> None:
    async with stage(size=(110, 30)) as s:
        s.session.emit(TodosChanged(TODOS))
        await s.pilot.pause()
        await fill(s)
        assert (shown(s), s.screen.status.status.files) == ({TODO}, "1")


async def test_another_pane_is_not_as_large_as_one_that_was_enlarged() -> None:
    async with stage(size=(110, 30)) as s:
        await fill(s)
        await s.pilot.press("f3", "enter")
        await s.until(lambda: s.screen.dock.region.width == 110)
        await s.pilot.press("f4")
        await s.until(lambda: s.screen.dock.region.width == 34)
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


async def test_a_conversation_that_gets_the_focus_is_uncovered() -> None:
    async with stage(size=(80, 24)) as s:
        await fill(s)
        await s.pilot.press("f4", "escape")
        assert s.screen.prompt.has_focus
        await s.pilot.press("f4")
        s.screen.set_focus(s.screen.transcript)
        await s.until(lambda: not s.screen.dock.display)
        assert s.screen.transcript.has_focus


async def test_tab_goes_through_what_is_seen() -> None:
    async with stage(size=(140, 40)) as s:
        await fill(s)
        seen = []
        for _ in range(6):
            await s.pilot.press("tab")
            seen.append(s.screen.focused)
        dock = s.screen.dock
        panes = [dock.changes.target, dock.changes.diff, dock.todos.target, dock.problems.target]
        assert seen == [s.screen.transcript, *panes, s.screen.prompt]


async def test_the_reader_stays_at_the_same_words_while_docks_come_and_the_terminal_changes() -> None:
    words = "\n\n".join(f"paragraph {number} " + "goes on " * 30 for number in range(80))
    async with stage(size=(150, 40)) as s:
        s.session.emit(MessageFinished("m", words, ""))
        await s.until(lambda: "paragraph 79" in s.drawn())
        await s.pilot.press("pageup", "pageup", "pageup")
        top = first_paragraph(s)
        await fill(s)
        assert first_paragraph(s) == top
        for size in (110, 30), (80, 24), (200, 50), (150, 40):
            await s.pilot.resize_terminal(*size)
            await s.pilot.pause()
            assert first_paragraph(s) in {top, top + 1}
        s.session.emit(*(MessageFinished(f"m{number}", "more", "") for number in range(12)))
        await s.until(lambda: "↓ 12 new" in s.drawn())
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
            assert s.screen.dock.panes[name].region.height > 1


async def test_after_a_storm_of_sizes_the_screen_is_as_if_nothing_had_happened() -> None:
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
async def test_whatever_happens_keys_go_to_something_that_is_seen(seed: int) -> None:
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
        "mended",
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
                case "mended":
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
            assert not (s.screen.dock.covers and focused is s.screen.transcript)
            if len(s.app.screen_stack) > 1:
                await s.pilot.press("escape")
        assert len(s.draft) == typed
