"""What is shown of a comparison, and what is folded."""

from hypothesis import given, settings
from hypothesis import strategies as st

from coder_tui.diffs.compare import compare
from coder_tui.diffs.rows import BLOCK, Piece, Row, lay_out
from coder_tui.protocol.comparison import Gap, Same
from tests.diffs.texts import TEXTS

OLD = "".join(f"{n}\n" for n in range(1, 31))
NEW = OLD.replace("\n15\n", "\nfifteen\n")


def numbers(pieces: list[Piece]) -> list[int | str]:
    """New line numbers, and how many lines a fold hides."""
    found: list[int | str] = []
    for piece in pieces:
        if isinstance(piece.part, Gap):
            found.append(f"fold {piece.part.count}")
        found += [row.new.number for row in piece.rows() if row.new]
    return found


def test_lines_far_from_a_change_are_folded() -> None:
    pieces = lay_out(compare(OLD, NEW), 3, is_split=True)
    assert numbers(pieces) == ["fold 11", 12, 13, 14, 15, 16, 17, 18, "fold 12"]


def test_no_context_folds_everything_else() -> None:
    assert numbers(lay_out(compare(OLD, NEW), 0, is_split=True)) == ["fold 14", 15, "fold 15"]


def test_a_fold_can_be_opened_alone() -> None:
    pieces = lay_out(compare(OLD, NEW), 3, {0}, is_split=True)
    assert numbers(pieces) == [*range(1, 19), "fold 12"]


def test_a_few_lines_are_not_folded() -> None:
    assert numbers(lay_out(compare("a\nb\nc\nd\n", "a\nb\nc\nD\n"), 0, is_split=True)) == [1, 2, 3, 4]


def test_a_fold_is_headed_by_what_it_ends_in() -> None:
    old = "def one():\n" + "    x\n" * 10 + "    y\n"
    pieces = lay_out(compare(old, old.replace("y", "z")), 3, is_split=True)
    assert pieces[0].part == Gap(0, 0, 8, "def one():")


def test_deleted_lines_come_before_added_ones_in_one_column() -> None:
    old = "".join(f"old {n}\n" for n in range(2 * BLOCK))
    new = "".join(f"new {n}\n" for n in range(2 * BLOCK))
    pieces = lay_out(compare(old, new), 3, is_split=False)
    assert [(piece.side, piece.height) for piece in pieces] == [("old", BLOCK)] * 2 + [("new", BLOCK)] * 2


def side_texts(rows: list[Row]) -> tuple[str, str]:
    old = "".join(row.old.line for row in rows if row.old)
    return old, "".join(row.new.line for row in rows if row.new)


@given(TEXTS, TEXTS, st.booleans())
@settings(max_examples=150, deadline=None)
def test_all_lines_are_there_when_nothing_is_folded(old: str, new: str, is_split: bool) -> None:
    pieces = lay_out(compare(old, new), None, is_split=is_split)
    assert side_texts([row for piece in pieces for row in piece.rows()]) == (old, new)
    assert side_texts([row for piece in pieces for row in piece.unpaired_rows()]) == (old, new)


@given(TEXTS, TEXTS, st.integers(0, 5))
@settings(max_examples=150, deadline=None)
def test_what_is_folded_is_the_same_on_both_sides(old: str, new: str, context: int) -> None:
    comparison = compare(old, new)
    for piece in lay_out(comparison, context, is_split=True):
        if isinstance(piece.part, Gap):
            section = comparison.sections[piece.section]
            assert isinstance(section, Same)
            assert section.old <= piece.part.old
            assert piece.part.old + piece.part.count <= section.old + len(section.lines)
