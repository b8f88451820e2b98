"""Which names a hunk has, and where they are after the change."""

from coder_tui.diffs.compare import compare
from coder_tui.ui.diff.view import names_in


def test_names_are_those_of_the_new_lines_each_once() -> None:
    before = "one = 1\ntwo = 2\n\n\n\n\n\n\n\n\nlast = 3\n"
    after = "one = 1\ntwo = one + über\n\n\n\n\n\n\n\n\nlast = two\n"
    file = compare(before, after, "a.py")
    first, second = (names_in(file, hunk.id) for hunk in file.hunks)
    assert first == (
        ("two", 1, 0, "two = one + über"),
        ("one", 1, 6, "two = one + über"),
        ("über", 1, 12, "two = one + über"),
    )
    assert second == (("last", 10, 0, "last = two"), ("two", 10, 7, "last = two"))


def test_deleted_lines_have_no_names() -> None:
    file = compare("gone = 1\nkept = 2\n", "kept = 2\n", "a.py")
    assert names_in(file, file.hunks[0].id) == ()


def test_keywords_are_not_names() -> None:
    file = compare("", "for each in items:\n    return each\n", "a.py")
    assert [name for name, *_ in names_in(file, file.hunks[0].id)] == ["each", "items"]
