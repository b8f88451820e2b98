"""How a tool call looks in each state."""

import pytest

from coder_tui.protocol.display import DiffBlock, DisplayBlock, TerminalBlock, TextBlock
from coder_tui.protocol.errors import REFUSED, STOPPED
from coder_tui.ui.draw.call_entry import FIRST_ROWS, LAST_ROWS, MOST_DIFF_LINES, CallEntry, CallState
from coder_tui.ui.draw.entries import View
from tests.ui.transcript_app import PALETTE, texts

WIDTH = 50
DIFF = DiffBlock("a.py", "@@ -1 +1 @@\n-x\n+y\n", 1, 1)
LINES = "\n".join(f"line {n}" for n in range(40))


def drawn(entry: CallEntry, is_open: bool | None = None) -> list[str]:
    return texts(entry.draw(WIDTH, PALETTE, View(is_open=is_open)))


def call(state: CallState, display: DisplayBlock | None = None, duration_ms: int = 0) -> CallEntry:
    return CallEntry("shell", "pytest -q", state=state, display=display, duration_ms=duration_ms)


@pytest.mark.parametrize(
    ("entry", "row"),
    [
        (call(CallState.RUNNING), "▶ shell  pytest -q                         running"),
        (call(CallState.WAITING), "? shell  pytest -q     waiting for you   F8 answer"),
        (call(CallState.OK, TextBlock("")), "✓ shell  pytest -q"),
        (call(CallState.OK, TextBlock("a\nb"), 3100), "✓ shell  pytest -q                 ▸ 2 lines  3.1s"),
        (call(CallState.FAILED, TextBlock(""), 2900), "✗ shell  pytest -q                    failed  2.9s"),
        (call(CallState.DENIED, TextBlock("")), "⊘ shell  pytest -q                          denied"),
        (call(CallState.STOPPED, TextBlock(""), 61000), "■ shell  pytest -q                 stopped  1m 01s"),
    ],
    ids=lambda value: value.state if isinstance(value, CallEntry) else "",
)
def test_a_state_has_a_sign_and_a_word(entry: CallEntry, row: str) -> None:
    assert drawn(entry) == [row]


def test_a_running_call_shows_its_seconds_and_last_five_lines() -> None:
    entry = CallEntry("shell", "make", seconds=12, output=LINES + "\n")
    assert drawn(entry) == [
        "▶ shell  make                          running 12s",
        *(f"│ line {n}" for n in range(35, 40)),
    ]


def test_a_finished_call_is_collapsed_to_one_line_and_expands_in_full() -> None:
    entry = call(CallState.OK, TerminalBlock("pytest -q", LINES, 0))
    assert len(drawn(entry)) == 1
    assert drawn(entry, is_open=True)[1:] == ["│ $ pytest -q", *(f"│ line {n}" for n in range(40))]


def test_an_edit_shows_its_diff_below_its_summary() -> None:
    entry = CallEntry("edit", "a.py +1 -1", state=CallState.OK, display=DIFF)
    assert drawn(entry) == ["✓ edit  a.py +1 -1", "│     1 - x", "│     1 + y"]
    assert drawn(entry, is_open=False) == ["✓ edit  a.py +1 -1                       ▸ 3 lines"]


def test_a_failure_shows_its_first_and_last_lines() -> None:
    rows = drawn(call(CallState.FAILED, TextBlock(LINES)))
    assert rows[1 : 1 + FIRST_ROWS] == ["│ line 0", "│ line 1", "│ line 2"]
    assert rows[1 + FIRST_ROWS] == "│ … 27 more lines, o to expand"
    assert rows[-LAST_ROWS:] == [f"│ line {n}" for n in range(30, 40)]


def test_a_failing_command_shows_its_exit_code() -> None:
    assert drawn(call(CallState.FAILED, TerminalBlock("", "", 3)))[0].endswith("exit 3")


def test_a_huge_diff_is_cut_off_until_it_is_expanded() -> None:
    diff = "@@ -0,0 +1 @@\n" + "+x\n" * 1000
    entry = CallEntry("edit", "a", state=CallState.OK, display=DiffBlock("a", diff, 1000, 0))
    assert len(drawn(entry)) == 1 + MOST_DIFF_LINES
    assert len(drawn(entry, is_open=True)) == 1 + 1000


def test_a_long_summary_is_cut_off_for_the_state_and_expands_in_full() -> None:
    entry = CallEntry("shell", "word " * 30, state=CallState.FAILED, display=TextBlock(""))
    (row,) = drawn(entry)
    assert (len(row), row[-8:]) == (WIDTH, "… failed")
    assert "".join(drawn(entry, is_open=True)).count("word") == 30


@pytest.mark.parametrize("state", [CallState.DENIED, CallState.STOPPED])
def test_a_refused_call_shows_its_proposal_when_expanded(state: CallState) -> None:
    command = "\n".join(f"echo {n}" for n in range(60))
    entry = CallEntry(
        "shell",
        "echo 0 …",
        state=state,
        display=TextBlock("not now"),
        proposal=TerminalBlock(command, "", None),
    )
    assert drawn(entry)[1:] == ["│ not now"]
    opened = drawn(entry, is_open=True)[1:]
    assert opened == ["│ $ echo 0", *(f"│   echo {n}" for n in range(1, 60)), "│ not now"]
    assert entry.source == f"shell echo 0 …\n{command}\nnot now"


def test_a_refused_edit_shows_its_diff_when_expanded() -> None:
    entry = CallEntry("edit", "a.py", state=CallState.DENIED, display=TextBlock("no"), proposal=DIFF)
    assert drawn(entry, is_open=True)[1:] == ["│     1 - x", "│     1 + y", "│ no"]


def test_a_failure_shows_the_first_error_that_would_be_hidden() -> None:
    lines = [f"line {n}" for n in range(40)]
    lines[15] = "main.c:3: error: no such thing"
    rows = drawn(call(CallState.FAILED, TextBlock("\n".join(lines))))
    assert rows[4:9] == [
        "│ … 12 more lines, o to expand",
        "│ main.c:3: error: no such thing",
        "│ line 16",
        "│ line 17",
        "│ … 12 more lines, o to expand",
    ]
    assert rows[-LAST_ROWS:] == [f"│ line {n}" for n in range(30, 40)]


def test_a_refusal_stored_by_an_earlier_version_shows_its_reason() -> None:
    stored = TextBlock("the owner refused this call: use make clean")
    assert drawn(call(CallState.DENIED, stored)) == ['⊘ shell  pytest -q        denied: "use make clean"']


def test_a_refusal_shows_the_users_reason_in_the_heading() -> None:
    short, bare = TextBlock(f"{REFUSED}: use make clean"), TextBlock(REFUSED)
    assert drawn(call(CallState.DENIED, short)) == ['⊘ shell  pytest -q        denied: "use make clean"']
    assert drawn(call(CallState.DENIED, bare)) == ["⊘ shell  pytest -q                          denied"]
    assert len(drawn(call(CallState.DENIED, TextBlock(f"{REFUSED}: {'no ' * 40}")))) > 1
    assert drawn(call(CallState.DENIED, short), is_open=True)[1:] == [f"│ {short.text}"]


def test_a_stopped_call_says_by_whom_and_keeps_its_output() -> None:
    text = TextBlock(f"{STOPPED}; it may have done part")
    entry = CallEntry("shell", "npm run dev", state=CallState.STOPPED, display=text, output=LINES)
    rows = drawn(entry)
    assert rows[0] == "■ shell  npm run dev                stopped by you"
    assert rows[1:6] == [f"│ line {n}" for n in range(35, 40)]


def test_a_command_of_the_user_shows_its_output() -> None:
    entry = CallEntry("you", "ls", state=CallState.OK, display=TerminalBlock("ls", "a\nb\n", 0))
    assert drawn(entry)[1:4] == ["│ $ ls", "│ a", "│ b"]
    assert len(drawn(entry, is_open=False)) == 1
