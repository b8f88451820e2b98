"""The user's own keys."""

from dataclasses import replace

import pytest

from coder_tui.ui.key_settings import key_map
from coder_tui.ui.keymap import KeyMap
from coder_tui.ui.keys import KEYS
from coder_tui.ui.lists.help import HelpScreen
from tests.fakes.fake_session import FakeSession
from tests.fakes.screens import launch_for, stage


def keys_of(made: KeyMap, id: str) -> str:
    return next(row.keys for row in made.rows if row.id == id)


def test_without_settings_the_table_stays_as_it_is() -> None:
    assert key_map({}) == KeyMap(KEYS, {}, ())


def test_a_setting_replaces_all_keys_of_its_action() -> None:
    made = key_map({"session.fold": "f9, Alt+P", "transcript.help": "h"})
    assert (made.changed, made.problems) == ({"session.fold": "f9,alt+P", "transcript.help": "h"}, ())
    assert keys_of(made, "session.fold") == "f9,alt+P"


def test_two_actions_may_swap_their_keys() -> None:
    made = key_map({"transcript.fold": "v", "transcript.read": "o"})
    assert (made.changed, made.problems) == ({"transcript.fold": "v", "transcript.read": "o"}, ())


def test_signs_may_be_written_as_they_are() -> None:
    assert key_map({"transcript.search": "&"}).changed == {"transcript.search": "ampersand"}


@pytest.mark.parametrize(
    ("id", "wish", "sentence"),
    [
        ("session.fould", "f9", "ui.keys.session.fould: there is no such action; did you mean session.fold?"),
        ("zzz", "f9", "ui.keys.zzz: there is no such action."),
        (
            "session.fold",
            "ctrl+b",
            "ui.keys.session.fold: Ctrl+B belongs to the terminal, or arrives as another key.",
        ),
        ("session.fold", "f4", "ui.keys.session.fold: F4 is already used by session.todo"),
        (
            "transcript.fold",
            "j",
            "ui.keys.transcript.fold: j is already used by transcript.next (Next block).",
        ),
        ("session.fold", "ctl+x", "ui.keys.session.fold: there is no key ctl+x."),
        ("session.fold", "", "ui.keys.session.fold: it must name a key"),
        ("session.fold", 7, "ui.keys.session.fold: it must name a key"),
        ("approval.allow", "f9", "ui.keys.approval.allow: this key cannot be changed."),
        ("\x1b[2J", "f9", "ui.keys.␛[2J: there is no such action."),
    ],
)
def test_a_wrong_setting_is_reported_and_left_out(id: str, wish: object, sentence: str) -> None:
    made = key_map({id: wish, "session.thinking": "f9"})
    assert made.changed == {"session.thinking": "f9"}
    assert len(made.problems) == 1
    assert made.problems[0].startswith(sentence)


def test_a_key_set_for_two_actions_goes_to_one_and_the_other_is_reported() -> None:
    made = key_map({"session.fold": "f9", "session.thinking": "f9"})
    assert (len(made.changed), len(made.problems)) == (1, 1)


def test_a_value_that_is_no_table_is_reported() -> None:
    assert key_map("f9").problems == ("ui.keys must be a table of actions and keys.",)


async def test_a_changed_key_works_the_old_one_does_not_and_help_shows_it() -> None:
    session = FakeSession()
    keys = key_map({"app.help": "f9", "transcript.prompt": "z", "nothing": "f7"})
    async with stage(session, launch=replace(launch_for(session), keys=keys)) as s:
        await s.shows("ui.keys.nothing: there is no such action.")
        await s.pilot.press("f1")
        assert s.app.screen is s.screen
        await s.pilot.press("tab", "z")
        assert s.screen.prompt.has_focus
        await s.pilot.press("f9")
        await s.until(lambda: isinstance(s.app.screen, HelpScreen))
        await s.pilot.press(*"Help")
        await s.shows("F9")
