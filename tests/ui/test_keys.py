"""The one table of keys."""

from collections import Counter

from textual.binding import Binding

from coder_tui.ui.keys import KEYS, RESERVED, Context, bindings, shown


def test_no_key_is_one_that_terminals_reserve() -> None:
    assert [row.id for row in KEYS if set(row.keys.split(",")) & RESERVED] == []


def test_ids_are_unique_and_no_context_has_a_key_twice() -> None:
    assert [id for id, count in Counter(row.id for row in KEYS).items() if count > 1] == []
    pairs = Counter((row.context, key) for row in KEYS for key in row.keys.split(",") if key)
    assert [pair for pair, count in pairs.items() if count > 1] == []


def test_bindings_carry_the_ids_by_which_they_are_remapped() -> None:
    ids = [binding.id for binding in bindings(Context.HELP) if isinstance(binding, Binding)]
    assert ids == ["help.close"]


def test_keys_read_as_on_a_keyboard() -> None:
    assert shown("f8,alt+r") == "F8, Alt+R"
    assert shown("ctrl+underscore") == "Ctrl+_"
    assert shown("y") == "y"
