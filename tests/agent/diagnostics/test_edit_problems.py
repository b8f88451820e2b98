"""What a model hears of the problems that its edits bring: from a server that is quick, slow, or missing."""

import asyncio
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from coder_tui.agent.diagnostics.format import format_open_problems
from coder_tui.lsp.report import MOST_ERRORS, MOST_WARNINGS
from coder_tui.protocol.access import Mode
from coder_tui.protocol.diagnostics import ChangeCounts, Diagnostic, ProposalCheck, ServerStatus, Severity
from coder_tui.protocol.events import DiagnosticsChanged, Event, ProposalChecked, ToolFinished
from coder_tui.protocol.messages import UserMessage
from coder_tui.protocol.requests import ApprovalReply, Decision
from tests.fakes.family import DONE, Home, calls, home
from tests.fakes.lsp_settings import fake_server_settings, write_settings
from tests.fakes.scripted_model import Say, ScriptedModel

ALLOW, DENY = ApprovalReply(Decision.ALLOW_ONCE), ApprovalReply(Decision.DENY)
BAD = {"severity": "error", "message": "bad word", "code": "W", "source": "fake"}


def bad(path: str, line: int, character: int = 0) -> dict[str, Any]:
    return {"path": path, **BAD, "line": line, "character": character}


def results(here: Home) -> list[dict[str, Any]]:
    return [json.loads(message.content) for message in here.results("go")]


def edit(path: str, old: str, new: str) -> tuple[str, dict[str, Any]]:
    return "edit", {"path": path, "old_string": old, "new_string": new}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "a.py").write_text("bad\nfine\n")
    (folder / "b.py").write_text("fine\n")
    (folder / "notes.txt").write_text("bad\n")
    return folder


def serve(tmp_path: Path, behaviour: str = "") -> None:
    write_settings(tmp_path / "config", fake_server_settings(behaviour))


async def test_an_edit_tells_what_came_what_went_and_how_much_was_there(
    tmp_path: Path, project: Path
) -> None:
    serve(tmp_path)
    script = {
        "go": [
            Say(calls=(edit("a.py", "fine\n", "bad here\n"),)),
            Say(calls=(edit("a.py", "bad\nbad here\n", "fine\nfine\n"),)),
            DONE,
        ]
    }
    async with home(tmp_path, script, mode=Mode.EDITS) as here:
        await here.session.submit("go")
        first, second = (result["diagnostics"] for result in results(here))
        assert first == {
            "server_status": "fresh",
            "introduced": [bad("a.py", 1)],
            "introduced_count": 1,
            "fixed_count": 0,
            "remaining_count": 1,
        }
        assert second == {
            "server_status": "fresh",
            "introduced": [],
            "introduced_count": 0,
            "fixed_count": 2,
            "remaining_count": 0,
        }
        checks_seen = [event.summary for event in here.events if isinstance(event, ToolFinished)]
        assert checks_seen == ["a.py +1 -1  +1 error", "a.py +2 -2  -2 errors"]


async def test_the_edits_of_one_reply_are_checked_together_with_the_last(
    tmp_path: Path, project: Path
) -> None:
    serve(tmp_path)
    first, second = edit("a.py", "fine", "bad"), edit("b.py", "fine", "bad")
    script = {"go": [Say(calls=(first, ("read", {"path": "notes.txt"}), second)), DONE]}
    async with home(tmp_path, script, mode=Mode.EDITS) as here:
        await here.session.submit("go")
        early, read, last = results(here)
        assert early["diagnostics"]["server_status"] == "pending"
        assert "diagnostics" not in read
        assert last["diagnostics"] == {
            "server_status": "fresh",
            "introduced": [bad("a.py", 1), bad("b.py", 0)],
            "introduced_count": 2,
            "fixed_count": 0,
            "remaining_count": 1,
            "files": ["a.py", "b.py"],
        }


async def test_where_the_last_edit_fails_it_still_tells_of_the_others(tmp_path: Path, project: Path) -> None:
    serve(tmp_path)
    script = {"go": [Say(calls=(edit("b.py", "fine", "bad"), edit("a.py", "nowhere", "bad"))), DONE]}
    async with home(tmp_path, script, mode=Mode.EDITS) as here:
        await here.session.submit("go")
        _, failed = results(here)
        assert (failed["ok"], failed["diagnostics"]["introduced"]) == (False, [bad("b.py", 0)])


async def test_calls_within_a_batch_are_one_batch_of_edits_too(tmp_path: Path, project: Path) -> None:
    serve(tmp_path)
    inner = [
        {"tool": tool, "args": args}
        for tool, args in (edit("a.py", "fine", "bad"), edit("b.py", "fine", "bad"))
    ]
    async with home(tmp_path, {"go": [calls("batch", calls=inner), DONE]}, mode=Mode.EDITS) as here:
        await here.session.submit("go")
        early, last = results(here)[0]["results"]
        assert early["diagnostics"]["server_status"] == "pending"
        assert last["diagnostics"]["introduced_count"] == 2


async def test_without_a_server_it_is_said_once_how_to_get_one(tmp_path: Path, project: Path) -> None:
    write_settings(
        tmp_path / "config",
        {"*": {"enabled": False}, "pylsp": {"enabled": True, "command": ["no-such-pylsp"]}},
    )
    script = {
        "go": [
            Say(calls=(edit("a.py", "fine", "bad"),)),
            Say(calls=(edit("a.py", "bad\nbad", "fine"),)),
            Say(calls=(edit("notes.txt", "bad", "good"),)),
            DONE,
        ]
    }
    async with home(tmp_path, script, mode=Mode.EDITS) as here:
        await here.session.submit("go")
        first, second, notes = results(here)
        assert first["diagnostics"]["server_status"] == "not_installed"
        assert "not installed, run:" in first["diagnostics"]["note"]
        assert second["diagnostics"] == {"server_status": "not_installed"}
        assert "diagnostics" not in notes


async def test_a_file_too_large_for_servers_is_said_to_be_unchecked(tmp_path: Path, project: Path) -> None:
    serve(tmp_path)
    (project / "a.py").write_text("bad\nfine\n" + "x = 1\n" * 840_000)
    async with home(tmp_path, {"go": [Say(calls=(edit("a.py", "fine", "bad"),)), DONE]}) as here:
        checks: asyncio.Queue[ProposalChecked] = asyncio.Queue()
        here.session.subscribe(lambda e: checks.put_nowait(e) if isinstance(e, ProposalChecked) else None)
        turn = asyncio.create_task(here.session.submit("go"))
        request = await here.asked.get()
        why = "a.py is too large for language servers: it has more than 2,000,000 characters"
        checks_seen = await checks.get()
        while checks_seen.check.status is ServerStatus.PENDING:
            checks_seen = await checks.get()
        assert checks_seen.check == ProposalCheck(ServerStatus.UNSUPPORTED, detail=why)
        here.session.answer(request.id, ALLOW)
        await turn
        assert results(here)[0]["diagnostics"] == {"server_status": "unsupported", "note": why}


async def test_what_a_command_changed_is_reported_to_the_servers(tmp_path: Path, project: Path) -> None:
    serve(tmp_path)
    script = {
        "go": [
            Say(calls=(edit("b.py", "fine", "fine, still"),)),
            calls("bash", command="echo bad > b.py"),
            DONE,
        ]
    }
    async with home(tmp_path, script, mode=Mode.EDITS) as here:
        here.answers.append(ALLOW)
        heard: asyncio.Queue[DiagnosticsChanged] = asyncio.Queue()
        here.session.subscribe(lambda e: heard.put_nowait(e) if isinstance(e, DiagnosticsChanged) else None)
        await here.session.submit("go")
        found = Diagnostic("b.py", 1, 1, Severity.ERROR, "bad word", "W", "fake", is_new=True)
        assert await heard.get() == DiagnosticsChanged("b.py", (found,))


async def test_a_proposed_edit_is_checked_while_it_waits_and_the_disk_stays(
    tmp_path: Path, project: Path
) -> None:
    serve(tmp_path)
    script = {"go": [Say(calls=(edit("a.py", "bad\nfine", "bad one\nbad two"),)), DONE]}
    async with home(tmp_path, script) as here:
        checks: asyncio.Queue[ProposalChecked] = asyncio.Queue()
        here.session.subscribe(lambda e: checks.put_nowait(e) if isinstance(e, ProposalChecked) else None)
        turn = asyncio.create_task(here.session.submit("go"))
        request = await here.asked.get()
        checks_seen = [await checks.get()]
        while checks_seen[-1].check.status is not ServerStatus.FRESH:
            checks_seen.append(await checks.get())
        new = tuple(
            Diagnostic("a.py", line, 1, Severity.ERROR, "bad word", "W", "fake", is_new=True)
            for line in (1, 2)
        )
        assert {each.call_id for each in checks_seen} == {request.call_id}
        assert checks_seen[-1].check == ProposalCheck(
            ServerStatus.FRESH, ChangeCounts(2, 1), new, is_known=True
        )
        assert (project / "a.py").read_text() == "bad\nfine\n"
        here.session.answer(request.id, DENY)
        await turn
        # What is reported is about the file's text on disk.
        old = Diagnostic("a.py", 1, 1, Severity.ERROR, "bad word", "W", "fake")
        known = {event for event in here.events if isinstance(event, DiagnosticsChanged)}
        assert known == {DiagnosticsChanged("a.py", (old,))}


async def test_an_edit_that_was_checked_as_proposed_is_known_when_it_is_made(
    tmp_path: Path, project: Path
) -> None:
    serve(tmp_path)
    script = {"go": [Say(calls=(edit("b.py", "fine", "bad"),)), DONE]}
    async with home(tmp_path, script) as here:
        known, shown = asyncio.Event(), asyncio.Event()

        def hear(event: Event) -> None:
            if isinstance(event, ProposalChecked) and event.check.is_known:
                known.set()
            if event == DiagnosticsChanged("b.py", (replace(found, is_new=True),)):
                shown.set()

        found = Diagnostic("b.py", 1, 1, Severity.ERROR, "bad word", "W", "fake")
        here.session.subscribe(hear)
        turn = asyncio.create_task(here.session.submit("go"))
        request = await here.asked.get()
        await known.wait()
        here.session.answer(request.id, ALLOW)
        await turn
        await shown.wait()


async def test_an_answer_does_not_wait_for_the_check(tmp_path: Path, project: Path) -> None:
    serve(tmp_path, "mute")
    script = {"go": [Say(calls=(edit("a.py", "fine", "bad"),)), DONE]}
    async with home(tmp_path, script) as here:
        here.answers = [DENY]
        async with asyncio.timeout(5):
            await here.session.submit("go")
        assert results(here)[0]["error"]["type"] == "denied_by_user"


async def test_stopping_a_turn_while_servers_think_keeps_the_result_of_the_edit(
    tmp_path: Path, project: Path
) -> None:
    serve(tmp_path, "mute")
    script = {"go": [Say(calls=(edit("a.py", "fine", "bad"),)), DONE], "and now": [DONE]}
    async with home(tmp_path, script, mode=Mode.EDITS) as here:
        changed = asyncio.Event()
        here.session.subscribe(lambda e: changed.set() if type(e).__name__ == "FilesChanged" else None)
        turn = asyncio.create_task(here.session.submit("go"))
        await changed.wait()
        here.session.interrupt()
        await turn
        (finished,) = [event for event in here.events if isinstance(event, ToolFinished)]
        assert (finished.outcome, finished.summary) == ("ok", "a.py +1 -1")


async def test_open_problems_survive_a_compaction(tmp_path: Path, project: Path) -> None:
    serve(tmp_path)
    long = Say(" ".join(f"w{number}" for number in range(4_000)))
    replies = [Say(calls=(edit("a.py", "fine\n", "odd\nfine\n"),)), long, long, Say("the story")]
    async with home(tmp_path, {}, mode=Mode.EDITS) as here:
        core = replace(here.core, client=ScriptedModel(replies))
        session = await core.new_session()
        for wish in ("change it", "and now"):
            await session.submit(wish)
        await session.compaction.compact()
        head = session.report.context.conversation.for_model[0]
        await session.close()
    assert isinstance(head, UserMessage)
    checks_seen = head.text.partition("<open_problems>\n")[2].partition("\n</open_problems>")[0]
    warning = {**bad("a.py", 1), "severity": "warning", "message": "odd word"}
    assert [json.loads(line) for line in checks_seen.splitlines()[1:]] == [bad("a.py", 0), warning]


def test_of_very_many_open_problems_the_gravest_are_reported_and_the_rest_counted() -> None:
    def found(severity: Severity, count: int) -> list[Diagnostic]:
        return [Diagnostic("a.py", line + 1, 1, severity, "m" * 5_000) for line in range(count)]

    many = (*found(Severity.HINT, 3), *found(Severity.WARNING, 10), *found(Severity.ERROR, 30))
    _, *lines, more = format_open_problems(many).splitlines()
    severities = [json.loads(line)["severity"] for line in lines]
    assert severities == ["error"] * MOST_ERRORS + ["warning"] * MOST_WARNINGS
    assert more == f"[{40 - MOST_ERRORS - MOST_WARNINGS} more]"
    assert max(map(len, lines)) < 500
    assert format_open_problems(tuple(found(Severity.HINT, 3))) == ""
