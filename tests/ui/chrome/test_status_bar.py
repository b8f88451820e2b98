"""What the status bar keeps if there is less room."""

from dataclasses import replace
from pathlib import Path

import pytest

from coder_tui.protocol.access import Mode
from coder_tui.ui.chrome.status_bar import Activity, Segment, Status, fit, segments, short_count
from coder_tui.ui.glyphs import ASCII, UNICODE

FULL = Status(
    mode=Mode.EDITS,
    model="openai/gpt-x",
    context_tokens=41_000,
    context_window=100_000,
    tokens=82_000,
    cost=0.374,
    directory=Path("/srv/project"),
    branch="main",
    activity=Activity.IDLE,
)


def texts(row: list[Segment]) -> list[str]:
    return [item.text for item in row]


def test_a_wide_row_shows_everything() -> None:
    assert texts(fit(segments(FULL, UNICODE), 200)) == [
        " EDITS ",
        "openai/",
        "gpt-x",
        "ctx ██░░░ ",
        "41%",
        "82k tok",
        "$0.37",
        "/srv/project",
        "⎇ main",
    ]


def test_the_least_important_segments_go_first() -> None:
    row, gone = segments(FULL, ASCII), []
    for width in range(120, 0, -1):
        kept = texts(fit(row, width))
        gone += [text for text in texts(row) if text not in kept and text not in gone]
    assert gone == [
        *("openai/", "ctx ##... ", "/srv/project", "82k tok", "$0.37", "git:main", "gpt-x"),
    ]
    assert texts(fit(row, 1)) == [" EDITS ", "41%"]


@pytest.mark.parametrize(
    ("tokens", "style"),
    [(69_000, "$foreground"), (70_000, "bold $text-warning"), (90_000, "bold $text-error")],
)
def test_the_context_turns_amber_and_red_and_keeps_its_digits(tokens: int, style: str) -> None:
    status = Status(context_tokens=tokens, context_window=100_000)
    digits = next(item for item in segments(status, UNICODE) if item.text.endswith("%"))
    assert digits == Segment(f"{tokens // 1000}%", style, None)


def test_problems_stay_longer_than_details() -> None:
    status = replace(FULL, todos="1/3", files="2", problems="1 ✗ 2 !", is_confined=False)
    row = segments(status, UNICODE)
    assert texts(row)[-4:] == ["todo 1/3", "changes 2", "problems 1 ✗ 2 !", "no sandbox"]
    assert texts(fit(row, 52)) == [" EDITS ", "gpt-x", "41%", "todo 1/3", "problems 1 ✗ 2 !"]


def test_an_unknown_context_window_shows_only_the_tokens() -> None:
    assert "ctx 1k" in texts(segments(Status(context_tokens=1200), UNICODE))


def test_untrusted_names_cannot_control_the_terminal() -> None:
    row = "".join(texts(segments(Status(model="m\x1b[2J", branch="b\n\u202e"), UNICODE)))
    assert not {"\x1b", "\n", "\u202e"} & set(row)


def test_counts_are_short() -> None:
    assert [short_count(number) for number in (999, 82_400, 1_250_000)] == ["999", "82k", "1.2M"]
