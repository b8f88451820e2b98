"""The text of the approval dialog: title, details, digest, scopes, and the field for a reason."""

from collections import Counter
from dataclasses import replace

import pytest
from textual import events

from coder_tui.protocol.display import DiffBlock, TerminalBlock
from coder_tui.protocol.events import RequestClosed, RequestOpened
from coder_tui.protocol.findings import Finding, FindingKind
from coder_tui.protocol.requests import ApprovalReply, ApprovalRequest, Decision, Editable, Grant
from coder_tui.ui.glyphs import ASCII, UNICODE
from coder_tui.ui.lists.help import HelpScreen
from coder_tui.ui.requests.approval_dialog import why_rows
from coder_tui.ui.requests.details import LONGEST_CLAIM, Detail, Weight, details, digest, title
from coder_tui.ui.requests.preview import draw_details
from tests.fakes.fake_session import FakeSession
from tests.fakes.screens import Stage, launch_for, shell_request, stage
from tests.ui.transcript_app import PALETTE

SHELL = shell_request()


async def open_dialog(s: Stage, request: ApprovalRequest) -> None:
    s.session.emit(RequestOpened(request))
    await s.ready_dialog()


async def explain(s: Stage) -> None:
    await s.pilot.press("d")
    await s.until(lambda: s.dialog is not None and s.dialog.focused is not None)


def test_the_title_names_the_folder_of_a_command_and_the_size_of_an_edit() -> None:
    command = replace(SHELL, preview=TerminalBlock("make", "", None, "/srv/project"))
    edit = replace(SHELL, title="Allow edit?  calc.py", preview=DiffBlock("calc.py", "", 2, 0))
    assert title(command, "", 80, UNICODE) == "Run this command?  in /srv/project"
    assert title(command, "1 of 3", 80, UNICODE) == "Run this command?  1 of 3  in /srv/project"
    assert title(command, "1 of 3", 30, UNICODE) == "Run this command?  1 of 3"
    assert title(edit, "", 80, UNICODE) == "Allow edit?  calc.py  +2 -0"
    assert title(edit, "", 12, ASCII) == "Allow edi..."


def test_the_title_names_an_agent_that_is_not_the_main_one() -> None:
    asked = replace(SHELL, agent="explore\u202e")
    assert title(asked, "1 of 3", 80, UNICODE) == "explore<U+202E>: Run this command?  1 of 3"


def test_findings_come_first_and_the_models_claim_last() -> None:
    claim = f'the model says: "{"harmless " * 90}"'
    request = replace(
        SHELL,
        preview=TerminalBlock("make", "", None, "/srv/project"),
        findings=(
            Finding(FindingKind.READS, "/srv/project/Makefile"),
            Finding(FindingKind.WRITES, "/etc/hosts", "> sends output there"),
            Finding(FindingKind.WRITES, "/srv/project", "make"),
            Finding(FindingKind.WRITES, "/srv/project", "tar"),
            Finding(FindingKind.WRITES, "/srv/project", "make"),
            Finding(FindingKind.READS, "", "the repository"),
            Finding(FindingKind.UNKNOWN),
            Finding(FindingKind.NETWORK, "", "curl"),
            Finding(FindingKind.DELETES, "/srv/project/build"),
        ),
        sandbox="bubblewrap: no network, writes only here",
        facts=(
            claim,
            "no rule allows it",
            "it changes /srv/project/build",
            "/x/srv/project/build is outside",
            "no rule allows it",
        ),
    )
    rows = details(request, UNICODE)
    said = rows[-1]
    assert rows[:-1] == (
        Detail("deletes", "build", "", Weight.WARNING),
        Detail("writes", "/etc/hosts", "> sends output there", Weight.MARKED),
        Detail("", "this folder", "make; tar", Weight.MARKED),
        Detail("network", "any host", "curl", Weight.WARNING),
        Detail("unknown", "it may do anything", "", Weight.WARNING),
        Detail("reads", "Makefile"),
        Detail("", "the repository"),
        Detail("sandbox", "bubblewrap: no network, writes only here", "", Weight.GOOD),
        Detail("why", "no rule allows it"),
        Detail("", "it changes build"),
        Detail("", "/x/srv/project/build is outside"),
        Detail("rule", "* = ask (defaults)"),
    )
    assert (said.label, said.weight) == ("model says", Weight.CLAIM)
    assert said.text.startswith('"harmless harmless') and said.text.endswith('…"')
    assert len(said.text) <= LONGEST_CLAIM + 2


def test_look_alike_letters_are_reported_first() -> None:
    request = replace(SHELL, preview=TerminalBlock("\u0441url example.com", "", None), facts=(), rule="")
    expected = Detail("looks like", "curl", "but has U+0441 cyrillic small letter es", Weight.WARNING)
    assert details(request, UNICODE) == (expected,)
    assert digest(request, UNICODE).plain == "may contain look-alike characters · cannot be undone"


def test_a_command_too_long_to_check_says_so() -> None:
    preview = TerminalBlock("echo " + "\u00e9" * 200_000, "", None)
    request = replace(SHELL, preview=preview, facts=(), rule="")
    assert details(request, UNICODE) == (
        Detail("not checked", "too long to check for look-alike letters", weight=Weight.WARNING),
    )
    assert digest(request, UNICODE).plain == "may contain look-alike characters · cannot be undone"


def test_the_undo_row_promises_only_what_undo_restores() -> None:
    command = replace(SHELL, sandbox="bubblewrap: no network")
    added = "--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+--- a\n"
    new = replace(SHELL, is_undoable=True, preview=DiffBlock("x", added, 1, 0))
    more = f"{added}--- a/y\n+++ b/y\n@@ -0,0 +1 @@\n+b\n"
    changed = replace(SHELL, is_undoable=True, preview=DiffBlock("x", more, 2, 0))
    promised = [
        (digest(request, UNICODE).plain, why_rows(request)[-1].text)
        for request in (replace(SHELL, is_undoable=True), new, changed, command, SHELL)
    ]
    assert promised == [
        ("can be undone", "/undo restores the old version"),
        ("new file, can be undone", "/undo deletes the new file"),
        ("can be undone", "/undo restores the old version"),
        (
            "undo covers most files here",
            "/undo restores files in this folder, but no ignored or huge ones and no background changes",
        ),
        ("cannot be undone", "cannot be undone"),
    ]


def test_the_digest_contains_only_the_programs_own_text() -> None:
    found = (Finding(FindingKind.READS, "x"), Finding(FindingKind.NETWORK, "evil", "evil"))
    command = replace(
        SHELL, findings=found, sandbox="none: bubblewrap is missing", facts=("evil",), rule="evil"
    )
    assert digest(command, UNICODE).plain == "uses the network · no sandbox · undo covers most files here"
    assert digest(replace(SHELL, findings=found[:1]), ASCII).plain == "only reads"
    assert digest(replace(SHELL, is_undoable=True), UNICODE).plain == "can be undone"
    hidden = replace(SHELL, preview=TerminalBlock("ls \u200b", "", None))
    assert digest(hidden, UNICODE).plain == "contains hidden characters, shown as symbols · cannot be undone"


@pytest.mark.parametrize("width", [20, 30, 44, 80, 200])
def test_no_detail_loses_a_character_at_any_width(width: int) -> None:
    rows = (
        Detail("writes", f"/a/path/{'x' * 70}.log", "because " * 12 + "end", Weight.MARKED),
        Detail("", "node", "an interpreter", Weight.WARNING),
        Detail("a label that is longer than its column", "value\n\tsecond line", "below", is_below=True),
    )
    drawn = draw_details(rows, width, PALETTE)
    assert {strip.cell_length for strip in drawn} == {width}
    expected = Counter("".join(row.label + row.text + row.reason for row in rows))
    shown = Counter("".join(strip.text for strip in drawn))
    for blank in " \n\t":
        del expected[blank], shown[blank]
    assert shown == expected


def test_a_reason_below_the_text_stays_there_at_any_width() -> None:
    row = Detail("1", "text", "why", is_below=True)
    assert [strip.text.rstrip() for strip in draw_details((row,), 80, PALETTE)] == ["1  text", "     why"]
    next_to = draw_details((replace(row, is_below=False),), 80, PALETTE)
    assert [strip.text.rstrip() for strip in next_to] == ["1  text  why"]


async def test_a_reason_is_kept_when_the_user_leaves_and_returns() -> None:
    async with stage() as s:
        await open_dialog(s, SHELL)
        await explain(s)
        await s.pilot.press(*"use make", "escape")
        await s.ready_dialog()
        await explain(s)
        await s.pilot.press("tab", *" Z", "enter")
        await s.until(lambda: s.session.answers == [("r1", ApprovalReply(Decision.DENY, "use make Z"))])


async def test_a_reason_keeps_all_lines_of_a_paste() -> None:
    async with stage() as s:
        await open_dialog(s, SHELL)
        await explain(s)
        s.app.post_message(events.Paste("one\ntwo\nthree"))
        await s.pilot.press("enter")
        await s.until(lambda: s.session.answers == [("r1", ApprovalReply(Decision.DENY, "one\ntwo\nthree"))])


async def test_the_keys_of_the_reason_are_shown_while_it_is_written() -> None:
    async with stage() as s:
        await open_dialog(s, SHELL)
        await explain(s)
        await s.shows("Enter deny and send this")
        assert [word for word in ("run once", "stop the turn", "ready") if word in s.drawn()] == []
        await s.pilot.press("escape")
        await s.until(lambda: "run once" in s.drawn() and "Enter deny" not in s.drawn())


async def test_a_long_rule_scrolls_and_is_granted_only_when_it_was_shown() -> None:
    long = "\n".join(f"echo {number}" for number in range(400))
    grants = (Grant("bash", (long,), "this command"), Grant("bash", ("*",), "every command"))
    async with stage(size=(80, 24)) as s:
        await open_dialog(s, replace(SHELL, grants=grants))
        await s.pilot.press("a")
        await s.until(lambda: "Do not ask again for" in s.drawn() and "1-2 pick" in s.drawn())
        await s.pilot.press("1", "ctrl+y")
        await s.shows("Scroll to the end first")
        await s.pilot.press("end")
        await s.until(lambda: "every command" in s.drawn() and "Scroll to" not in s.drawn())
        await s.pilot.press("ctrl+y")
        reply = ApprovalReply(Decision.ALLOW_ALWAYS, grant=grants[0])
        await s.until(lambda: s.session.answers == [("r1", reply)])


async def test_the_chord_without_a_scope_asks_for_one() -> None:
    async with stage() as s:
        await open_dialog(s, SHELL)
        await s.pilot.press("a")
        await s.shows("1-2 pick")
        await s.pilot.pause()
        await s.pilot.press("ctrl+y")
        await s.shows("First pick what to allow: 1 to 2.")
        assert s.session.answers == []


async def test_f1_shows_the_keys_of_the_dialog_and_comes_back() -> None:
    async with stage(size=(100, 60)) as s:
        await open_dialog(s, SHELL)
        await s.pilot.press("f1")
        await s.until(lambda: isinstance(s.app.screen, HelpScreen) and "Keys" in s.drawn())
        assert s.drawn().index("Deny and say why") < s.drawn().index("Command palette")
        await s.shows("the palette stays closed here")
        await s.pilot.press("escape")
        dialog = await s.ready_dialog()
        assert (dialog.request, s.session.answers) == (SHELL, [])


async def test_the_dialog_counts_the_other_pending_requests() -> None:
    async with stage() as s:
        s.session.emit(*(RequestOpened(shell_request(id)) for id in ("r1", "r2", "r3")))
        await s.ready_dialog()
        await s.shows("1 of 3")
        s.session.emit(RequestClosed("r3", None))
        await s.shows("1 of 2")
        await s.pilot.press("ctrl+y")
        await s.until(lambda: s.dialog is not None and s.dialog.request.id == "r2")
        await s.shows("2 of 2")


async def test_pending_requests_are_listed_with_their_agent() -> None:
    others = (
        replace(shell_request("r2", "rg foo"), agent="explore"),
        *(shell_request(f"r{number}", f"make {number}") for number in range(3, 7)),
    )
    async with stage() as s:
        await s.pilot.press(*"draft")
        s.session.emit(*map(RequestOpened, (SHELL, *others)))
        await s.shows("and 2 more")
        await s.shows("bash rm -rf build — waiting for you  F8 answer")
        await s.shows("explore: bash rg foo")
        await s.pilot.press("f8", "enter")
        await s.ready_dialog()
        await s.until(lambda: "1 of 6" in s.drawn() and "then  explore: bash rg foo" in s.drawn())


async def test_an_ascii_terminal_gets_ascii_symbols() -> None:
    session = FakeSession()
    request = replace(SHELL, editable=Editable("command", "ls"), findings=(Finding(FindingKind.READS, "x"),))
    async with stage(session, launch=launch_for(session, use_ascii=True)) as s:
        s.session.emit(RequestOpened(request), RequestOpened(shell_request("r2")))
        await s.ready_dialog()
        assert s.drawn().isascii()
        await s.pilot.press("a")
        await s.shows("1-2 pick")
        assert s.drawn().isascii()


async def test_v_toggles_the_full_width() -> None:
    async with stage(size=(200, 40)) as s:
        await open_dialog(s, SHELL)
        before = s.drawn()
        await s.pilot.press("v")
        await s.until(
            lambda: any(row.startswith("╭") and row.endswith("╮") for row in s.drawn().splitlines())
        )
        await s.pilot.press("v")
        await s.until(lambda: s.drawn() == before)
        assert s.session.answers == []
