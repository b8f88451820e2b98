"""Decisions on hunks: made, undone, kept while files come and go."""

from pathlib import Path

import pytest

from coder_tui.agent.undo.review import WHOLE, compared
from coder_tui.ui.review.model import Counts, Key, ReviewModel
from coder_tui.workspace.undo.changed_files import ChangedFile

ROOT = Path("/srv/project")
OLD = "".join(f"{n}\n" for n in range(1, 31))
NEW = OLD.replace("2\n3\n", "two\nthree\n", 1).replace("25\n", "", 1)
A = ChangedFile(ROOT / "a.txt", 1, OLD.encode(), NEW.encode())
B = ChangedFile(ROOT / "b.txt", 2, None, b"new\n")
PICTURE = ChangedFile(ROOT / "p.png", 2, None, b"\x89PNG\r\n\x1a\n\0")
HUGE = ChangedFile(ROOT / "huge", 2, None, None, is_too_large=True)


def show(model: ReviewModel, *files: ChangedFile, stale: frozenset[Path] = frozenset()) -> None:
    model.show([(file, compared(file, ROOT)) for file in files], stale)


@pytest.fixture
def model() -> ReviewModel:
    made = ReviewModel()
    show(made, A, B, PICTURE)
    return made


def current(model: ReviewModel) -> Key:
    assert model.current is not None
    return model.current


def test_every_hunk_is_decided_alone_and_an_image_as_a_whole(model: ReviewModel) -> None:
    assert [(key[0].name, key[1] == WHOLE) for key in model.keys] == [
        ("a.txt", False),
        ("a.txt", False),
        ("b.txt", False),
        ("p.png", True),
    ]
    assert model.counts() == Counts(0, 0, 4)
    assert model.current == model.keys[0]


def test_the_mark_goes_through_all_files_and_stops_at_the_ends(model: ReviewModel) -> None:
    seen = []
    for _ in range(5):
        seen.append(model.keys.index(current(model)))
        model.step(1)
    model.step_file(-1)
    assert (seen, model.keys.index(current(model))) == ([0, 1, 2, 3, 3], 2)


def test_searching_undecided_hunks_wraps_around(model: ReviewModel) -> None:
    keys = model.keys
    model.decide(True, keys[1:3])
    assert (model.step_open(1), model.current) == (True, keys[3])
    assert (model.step_open(1), model.current) == (True, keys[0])
    assert (model.step_open(-1), model.current) == (True, keys[3])
    model.decide(False, (keys[0], keys[3]))
    assert (model.step_open(1), model.current) == (False, keys[3])


def test_each_step_is_undone_exactly(model: ReviewModel) -> None:
    first = current(model)
    model.decide(False, (first,))
    model.set_comment(first, "  why?  ")
    model.split()
    model.decide(True, model.keys)
    assert model.counts() == Counts(5, 0, 0)
    assert [model.undo(), model.counts()] == [True, Counts(0, 0, 5)]
    assert (model.comment(current(model)), model.undo()) == ("why?", True)
    assert (model.current, model.decision(first), model.comment(first)) == (first, False, "why?")
    assert [model.undo(), model.undo(), model.undo()] == [True, True, False]
    assert model.counts() == Counts(0, 0, 4)


def test_a_single_line_is_not_split(model: ReviewModel) -> None:
    model.step(1)
    assert (model.split(), len(model.keys)) == (False, 4)
    model.step(2)
    assert (model.split(), len(model.keys)) == (False, 4)


def test_a_hunk_is_split_into_lines_in_one_step(model: ReviewModel) -> None:
    old = "".join(f"{n}\n" for n in range(1, 11))
    new = old.replace("2\n3\n", "2!\n3!\nx\ny\nx\n", 1).replace("5\n6\n", "", 1)
    show(model, ChangedFile(ROOT / "a.txt", 1, old.encode(), new.encode()))
    (whole,) = model.keys
    model.set_comment(whole, "why?")
    assert (model.split(to_lines=True), len(model.keys)) == (True, 7)
    assert (model.current, model.comment(model.keys[0])) == (model.keys[0], "why?")
    assert (model.split(to_lines=True), model.undo(), model.keys) == (False, True, (whole,))


def test_decisions_are_kept_while_files_come_and_go(model: ReviewModel) -> None:
    model.split()
    first, second = model.keys[:2]
    model.decide(False, (first,))
    model.go(second)
    show(model, B)
    assert (model.counts(), model.current, model.outcome()) == (Counts(0, 0, 1), model.keys[0], ())
    show(model, A, B)
    assert (model.counts(), model.decision(first)) == (Counts(0, 1, 3), False)


def test_the_outcome_has_only_rejections_and_comments(model: ReviewModel) -> None:
    kept, rejected, commented, _ = model.keys
    model.decide(True, (kept,))
    model.decide(False, (rejected,))
    model.set_comment(commented, "nice")
    assert [(each.file, each.rejected, dict(each.comments)) for each in model.outcome()] == [
        (A, frozenset([rejected[1]]), {}),
        (B, frozenset(), {commented[1]: "nice"}),
    ]
    model.forget_sent()
    assert (model.outcome(), model.decision(kept), model.undo()) == ((), True, False)


def test_a_stale_file_cannot_be_rejected(model: ReviewModel) -> None:
    model.decide(False, model.keys)
    model.mark_stale(frozenset([A.path]))
    assert model.counts() == Counts(0, 2, 2)
    assert model.reason_not_to_reject(model.files[0]) == ("a.txt has changed on disk and cannot be undone.")
    assert model.reason_not_to_reject(model.files[1]) == ""
    show(model, HUGE)
    assert model.reason_not_to_reject(model.files[0]) == "huge is too large to be undone here."


def test_an_empty_review_has_no_current_hunk() -> None:
    model = ReviewModel()
    show(model)
    model.step(1)
    model.step_file(1)
    assert (model.step_open(1), model.split(), model.undo(), model.file, model.current) == (
        False,
        False,
        False,
        None,
        None,
    )
