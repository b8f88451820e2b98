"""What the approval dialog says: title, facts, scopes, and the field for a reason."""

from dataclasses import replace

from textual import events

from coder_tui.protocol.display import DiffBlock, TerminalBlock
from coder_tui.protocol.events import RequestClosed, RequestOpened
from coder_tui.protocol.requests import ApprovalReply, ApprovalRequest, Decision, Grant
from coder_tui.ui.glyphs import ASCII, UNICODE
from coder_tui.ui.screens.help import HelpScreen
from coder_tui.ui.widgets.request_words import LONGEST_CLAIM, facts, title
from tests.fakes.screens import Stage, shell_request, stage

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


def test_what_the_program_knows_stands_before_what_the_model_says() -> None:
    claim = f'the model says: "{"harmless " * 90}"'
    words = facts(replace(SHELL, facts=(claim, "deletes files")), UNICODE).plain
    known = "no undo · rule: * = ask (defaults) · deletes files · "
    assert words.startswith(f'{known}the model says: "harmless')
    assert words.endswith('…"')
    assert len(words) <= len(known) + len('the model says: ""') + LONGEST_CLAIM


def test_no_fact_fills_the_dialog() -> None:
    words = facts(replace(SHELL, facts=("x" * 5000, "last"), rule="y" * 5000), UNICODE).plain
    assert len(words) < 500
    assert words.endswith(" · last")


async def test_a_reason_left_and_taken_up_again_goes_on_where_it_was() -> None:
    async with stage() as s:
        await open_dialog(s, SHELL)
        await explain(s)
        await s.pilot.press(*"use make", "escape")
        await s.ready_dialog()
        await explain(s)
        await s.pilot.press("tab", *" Z", "enter")
        await s.until(lambda: s.session.answers == [("r1", ApprovalReply(Decision.DENY, "use make Z"))])


async def test_a_reason_takes_all_lines_of_a_paste() -> None:
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
        await s.until(lambda: "Enter deny and send this" in s.drawn())
        assert [word for word in ("run once", "stop the turn", "ready") if word in s.drawn()] == []
        await s.pilot.press("escape")
        await s.until(lambda: "run once" in s.drawn() and "Enter deny" not in s.drawn())


async def test_a_long_rule_scrolls_and_is_granted_only_when_it_was_shown() -> None:
    long = "\n".join(f"echo {number}" for number in range(400))
    grants = (Grant("bash", (long,), "this command"), Grant("bash", ("*",), "every command"))
    async with stage(size=(80, 24)) as s:
        await open_dialog(s, replace(SHELL, grants=grants))
        await s.pilot.press("a")
        await s.until(lambda: "Always, for this session" in s.drawn() and "1-2 pick" in s.drawn())
        await s.pilot.press("1", "ctrl+y")
        await s.until(lambda: "Scroll to the end first" in s.drawn())
        await s.pilot.press("end")
        await s.until(lambda: "every command" in s.drawn() and "Scroll to" not in s.drawn())
        await s.pilot.press("ctrl+y")
        reply = ApprovalReply(Decision.ALLOW_ALWAYS, grant=grants[0])
        await s.until(lambda: s.session.answers == [("r1", reply)])


async def test_the_chord_without_a_scope_says_what_is_missing() -> None:
    async with stage() as s:
        await open_dialog(s, SHELL)
        await s.pilot.press("a")
        await s.until(lambda: "1-2 pick" in s.drawn())
        await s.pilot.pause()
        await s.pilot.press("ctrl+y")
        await s.until(lambda: "Pick how far it reaches first: 1 to 2." in s.drawn())
        assert s.session.answers == []


async def test_f1_shows_the_keys_of_the_dialog_and_comes_back() -> None:
    async with stage(size=(100, 60)) as s:
        await open_dialog(s, SHELL)
        await s.pilot.press("f1")
        await s.until(lambda: isinstance(s.app.screen, HelpScreen) and "Keys" in s.drawn())
        assert s.drawn().index("Deny and say why") < s.drawn().index("Command palette")
        assert "the palette stays closed here" in s.drawn()
        await s.pilot.press("escape")
        dialog = await s.ready_dialog()
        assert (dialog.request, s.session.answers) == (SHELL, [])


async def test_the_dialog_counts_what_waits_with_it() -> None:
    async with stage() as s:
        s.session.emit(*(RequestOpened(shell_request(id)) for id in ("r1", "r2", "r3")))
        await s.ready_dialog()
        await s.until(lambda: "1 of 3" in s.drawn())
        s.session.emit(RequestClosed("r3", None))
        await s.until(lambda: "1 of 2" in s.drawn())
        await s.pilot.press("ctrl+y")
        await s.until(lambda: s.dialog is not None and s.dialog.request.id == "r2")
        await s.until(lambda: "2 of 2" in s.drawn())
