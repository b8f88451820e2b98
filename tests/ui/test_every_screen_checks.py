"""The checks over all screens find what they are for, and every action can be reached twice."""

from collections import defaultdict

import pytest
from textual.color import Color
from textual.widgets import Static

from coder_tui.ui.keys import KEYS, RESERVED, Context
from coder_tui.ui.lists.help import palette_entries
from tests.fakes.rendered import alike, clipped, weak
from tests.fakes.screens import Stage, stage

REPLAY = Context.REPLAY
OF_THE_SESSION = {Context.GLOBAL, Context.SESSION, Context.COMPOSER}


async def put(s: Stage, words: str, css: dict[str, object]) -> Static:
    label = Static(words, id="put", markup=False)
    for name, value in css.items():
        setattr(label.styles, name, value)
    await s.screen.mount(label)
    await s.pilot.pause()
    return label


@pytest.mark.parametrize(
    "css",
    [
        {"width": 5, "height": 1, "text_wrap": "nowrap"},
        {"width": 8, "height": 1},
        {"width": 30, "height": 1, "offset": (90, 0)},
    ],
    ids=["cut at the end", "too few rows", "beyond the frame"],
)
async def test_words_without_room_are_found(css: dict[str, object]) -> None:
    async with stage() as s:
        assert clipped(s) == []
        await put(s, "much too long for this", css)
        assert [found.partition(":")[0] for found in clipped(s)] == ["Static#put"]


async def test_a_title_without_room_is_found() -> None:
    async with stage() as s:
        label = await put(s, "x", {"width": 12, "height": 3, "border": ("round", "white")})
        label.border_title = "a title beyond its frame"
        assert clipped(s) == ["Static#put: title a title beyond its frame"]


async def test_words_with_an_ellipsis_are_allowed() -> None:
    async with stage() as s:
        await put(s, "much too long", {"width": 5, "height": 1, "text_overflow": "ellipsis"})
        assert clipped(s) == []


async def test_weak_words_and_grounds_that_look_alike_are_found() -> None:
    async with stage() as s:
        await put(s, "faint words", {"color": Color.parse("#444444"), "background": Color.parse("#222222")})
        assert {words for words, _ in weak(s)} == {"faint words"}
        for sign, ground in (("+ ", "#203810"), ("- ", "#402810")):
            await s.screen.mount(label := Static(sign, markup=False))
            label.styles.background = Color.parse(ground)
            label.styles.width = 2
        await s.pilot.pause()
        assert {sight for sight, _ in alike(s)} == {"deuteranopia", "protanopia"}


def test_no_key_is_reserved_or_taken_twice_where_the_same_focus_meets_it() -> None:
    """A key of the session may mean something else in a list or a dialog, which takes it first."""
    taken = defaultdict(set)
    for row in KEYS:
        for key in filter(None, row.keys.split(",")):
            assert key not in RESERVED, row.id
            if row.context in OF_THE_SESSION:
                taken[key].add(row.action)
    assert {key: actions for key, actions in taken.items() if len(actions) > 1} == {}


async def test_every_action_of_the_session_is_in_the_palette_and_has_a_key_or_a_command() -> None:
    async with stage() as s:
        offered = {entry.title for entry in palette_entries(s.app, KEYS, s.screen)}
        commands = s.screen.widgets.composing.commands.offered()
        actions = [row for row in KEYS if row.in_palette and row.context in OF_THE_SESSION]
        hidden = [row.id for row in actions if row.title not in offered and s.screen.offers(row.id)]
    reached = {row.action for row in KEYS if row.keys} | {"app.start_session"}  # /new
    reached |= {f"app.{command.name}" for command in commands}
    reached |= {f"screen.run('{command.opens}')" for command in commands if command.opens}
    keyless = [row.id for row in actions if row.action not in reached]
    assert (hidden, keyless) == ([], [])


async def test_every_key_of_the_session_screen_names_an_action_of_its_table() -> None:
    named = {row.action for row in KEYS if row.action.startswith("screen.run(") and row.context is not REPLAY}
    async with stage() as s:
        assert named == {f"screen.run('{name}')" for name in s.screen.widgets.actions.table}


async def test_every_action_that_moves_nothing_is_in_the_palette() -> None:
    """What only moves a mark or a page belongs to its place; everything else can be found by name."""
    in_palette = {row.action for row in KEYS if row.in_palette}
    missing = [
        row.id
        for row in KEYS
        if row.context in OF_THE_SESSION | {Context.TRANSCRIPT}
        and row.action.startswith(("app.", "screen."))
        and row.action not in in_palette
    ]
    assert missing == ["app.palette", "session.page_up", "session.page_down", "transcript.palette"]
