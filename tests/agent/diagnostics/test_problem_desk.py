"""What goes to language servers and comes back late, never, or while something else happens."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from coder_tui.agent.diagnostics.edits import PUT_OFF, AgentEdits
from coder_tui.agent.diagnostics.session import ProblemDesk
from coder_tui.lsp.report import Report, for_model
from coder_tui.protocol.access import ToolKind
from coder_tui.protocol.diagnostics import ChangeCounts, Diagnostic, ProposalCheck, ServerStatus, Severity
from coder_tui.protocol.display import TextBlock
from coder_tui.protocol.events import (
    DiagnosticsAwaited,
    Event,
    FilesChanged,
    ProposalChecked,
    RequestClosed,
    RequestOpened,
    ServerStatusChanged,
    TurnFinished,
    TurnStarted,
)
from coder_tui.protocol.outcomes import TurnOutcome
from coder_tui.protocol.requests import ApprovalRequest
from coder_tui.tools.base import Access, JsonObject, ProposedText, ToolResult
from coder_tui.workspace.files.confine import Workspace
from tests.fakes.language_servers import ScriptedServers

ERROR = Diagnostic("a.py", 1, 1, Severity.ERROR, "wrong", is_new=True)
WARNING = Diagnostic("a.py", 2, 1, Severity.WARNING, "odd", is_new=True)
WORSE = Report(ServerStatus.FRESH, (WARNING, ERROR))
UNKNOWN = Report(ServerStatus.PENDING)
DONE = TurnFinished(1, TurnOutcome.DONE, "", 1)


@dataclass
class Bench:
    servers: ScriptedServers
    root: Path
    patience: float = 60.0
    told: "asyncio.Queue[Event]" = field(default_factory=asyncio.Queue)

    def __post_init__(self) -> None:
        self.desk = ProblemDesk(self.servers, Workspace(self.root), self.told.put_nowait, self.patience)
        self.edits = AgentEdits(self.desk)

    def access(self, *names: str) -> Access:
        texts = (ProposedText(self.root / name, f"old {name}", f"new {name}") for name in names)
        return Access((), proposed=tuple(texts))

    def edit(self, *names: str) -> ToolResult:
        """As the runner does after a call that changed these."""
        result = ToolResult({"ok": True}, TextBlock(""), "edited", names)
        with self.edits.edited(self.access(*names), result):
            self.desk.hear(FilesChanged(names))
        return result

    async def told_with(self, result: ToolResult, *, more_follow: bool = False) -> JsonObject:
        return (await self.edits.told(result, more_follow=more_follow)).for_model


@pytest.fixture
async def bench(tmp_path: Path) -> AsyncIterator[Bench]:
    for name in ("a.py", "b.py"):
        (tmp_path / name).write_text(f"new {name}")
    made = Bench(ScriptedServers(), tmp_path)
    yield made
    await made.desk.close()


def looked() -> ToolResult:
    return ToolResult({"ok": True}, TextBlock(""))


def request(call_id: str) -> ApprovalRequest:
    return ApprovalRequest(f"r-{call_id}", call_id, "edit", ToolKind.EDIT, "?", TextBlock(""))


async def test_edits_that_others_follow_wait_for_the_last_of_them(bench: Bench) -> None:
    assert await bench.told_with(bench.edit("a.py"), more_follow=True) == {"ok": True, "diagnostics": PUT_OFF}
    bench.servers.reports.put_nowait(WORSE)
    told = await bench.told_with(bench.edit("b.py"))
    assert told == {"ok": True, "diagnostics": {**for_model(WORSE), "files": ["a.py", "b.py"]}}
    asked = bench.servers.asked.get_nowait()
    assert asked == ("after_change", {"a.py": "old a.py", "b.py": "old b.py"})
    assert bench.servers.asked.empty()  # an edit is not told as a change on disk besides


async def test_of_two_edits_of_a_file_the_text_before_the_first_counts(bench: Bench) -> None:
    await bench.told_with(bench.edit("a.py"), more_follow=True)
    result = ToolResult({"ok": True}, TextBlock(""), "", ("a.py",))
    access = Access((), proposed=(ProposedText(bench.root / "a.py", "new a.py", "newer"),))
    bench.servers.reports.put_nowait(WORSE)
    with bench.edits.edited(access, result):
        pass
    await bench.told_with(result)
    assert bench.servers.asked.get_nowait() == ("after_change", {"a.py": "old a.py"})


async def test_a_server_that_does_not_answer_holds_no_edit_up_and_is_heard_later(tmp_path: Path) -> None:
    bench = Bench(ScriptedServers(), tmp_path, patience=0.0)
    pending = await bench.told_with(bench.edit("a.py"))
    assert pending["diagnostics"]["server_status"] == "pending"
    assert await bench.told.get() == DiagnosticsAwaited(("a.py",))
    assert await bench.told_with(looked()) == {"ok": True}
    bench.servers.reports.put_nowait(WORSE)
    assert await bench.told.get() == DiagnosticsAwaited(())
    assert await bench.told_with(looked()) == {"ok": True, "late_diagnostics": for_model(WORSE)}
    assert await bench.told_with(looked()) == {"ok": True}  # told once
    await bench.desk.close()


async def test_what_is_not_known_is_asked_for_again_until_it_is(bench: Bench) -> None:
    bench.servers.reports.put_nowait(UNKNOWN)
    told = await bench.edits.told(bench.edit("a.py"), more_follow=False)
    assert told.summary == "edited  problems not known yet"
    assert await bench.told.get() == DiagnosticsAwaited(("a.py",))
    bench.servers.asked.get_nowait()
    for status in (ServerStatus.PENDING, ServerStatus.FRESH):
        assert await bench.servers.asked.get() == ("diagnostics", ("a.py", "new a.py"))
        bench.servers.words.put_nowait(status)
    bench.servers.late = {bench.root / "a.py": WORSE}
    assert await bench.told.get() == DiagnosticsAwaited(())
    assert await bench.told_with(looked()) == {"ok": True, "late_diagnostics": for_model(WORSE)}


@pytest.mark.parametrize("status", [ServerStatus.UNTRUSTED, ServerStatus.LINTER_MISSING])
async def test_what_cannot_be_known_is_said_and_not_awaited(bench: Bench, status: ServerStatus) -> None:
    bench.servers.reports.put_nowait(Report(status, detail="for a reason"))
    told = await bench.told_with(bench.edit("a.py"))
    assert (told["diagnostics"]["server_status"], told["diagnostics"]["note"]) == (status, "for a reason")
    assert bench.told.empty()


async def test_a_file_that_no_server_is_asked_about_is_said_to_be_so_once(bench: Bench) -> None:
    for report in (Report(ServerStatus.UNSUPPORTED, detail="too large"),) * 2:
        bench.servers.reports.put_nowait(report)
    first, second = [await bench.told_with(bench.edit("a.py")) for _ in range(2)]
    assert first["diagnostics"] == {"server_status": "unsupported", "note": "too large"}
    assert second["diagnostics"] == {"server_status": "unsupported"}


async def test_files_that_were_not_checked_are_told_beside_those_that_were(bench: Bench) -> None:
    bench.servers.reports.put_nowait(
        Report(ServerStatus.NOT_INSTALLED, (ERROR,), detail="hint", unchecked=("b.sh",))
    )
    told = await bench.edits.told(bench.edit("a.py", "b.sh"), more_follow=False)
    assert told.summary == "edited  +1 error, 1 file not checked"
    field = told.for_model["diagnostics"]
    assert (field["introduced_count"], field["not_checked"], field["note"]) == (1, ["b.sh"], "hint")


async def test_an_agent_hears_late_of_its_own_edits_alone(bench: Bench) -> None:
    child = AgentEdits(bench.desk)
    bench.servers.reports.put_nowait(UNKNOWN)
    await bench.told_with(bench.edit("a.py"))
    bench.servers.late = {bench.root / "a.py": WORSE}
    assert (await child.told(looked(), more_follow=False)).for_model == {"ok": True}
    assert await bench.told_with(looked()) == {"ok": True, "late_diagnostics": for_model(WORSE)}


async def test_what_an_agent_did_that_is_no_more_is_told_to_another(bench: Bench) -> None:
    bench.servers.reports.put_nowait(UNKNOWN)
    await bench.told_with(bench.edit("a.py"))
    bench.edits = AgentEdits(bench.desk)
    bench.servers.late = {bench.root / "a.py": WORSE}
    assert await bench.told_with(looked()) == {"ok": True, "late_diagnostics": for_model(WORSE)}


async def test_an_edit_ends_the_asking_about_the_text_before_it(bench: Bench) -> None:
    bench.servers.reports.put_nowait(UNKNOWN)
    await bench.told_with(bench.edit("a.py"))
    bench.servers.reports.put_nowait(WORSE)
    await bench.told_with(bench.edit("a.py"))
    assert [await bench.told.get(), await bench.told.get()] == [
        DiagnosticsAwaited(("a.py",)),
        DiagnosticsAwaited(()),
    ]
    bench.servers.words.put_nowait(ServerStatus.FRESH)
    await asyncio.sleep(0)
    assert bench.servers.words.qsize() == 1


async def test_other_changes_are_told_to_servers_without_waiting(bench: Bench) -> None:
    bench.desk.hear(FilesChanged(("a.py", "b.py")))
    assert await bench.servers.asked.get() == ("told_of_changes", ["a.py", "b.py"])


async def test_what_others_changed_is_not_known_until_a_server_was_asked(bench: Bench) -> None:
    bench.servers.known = {"b.py"}
    bench.desk.hear(FilesChanged(("a.py", "b.py")))
    await bench.servers.asked.get()
    assert await bench.servers.asked.get() == ("diagnostics", ("b.py", "new b.py"))
    assert await bench.told.get() == DiagnosticsAwaited(("b.py",))
    bench.servers.words.put_nowait(ServerStatus.FRESH)
    assert await bench.told.get() == DiagnosticsAwaited(())


async def test_a_word_that_comes_at_once_needs_no_mark(bench: Bench) -> None:
    bench.servers.known = {"a.py", "b.py"}
    bench.servers.words.put_nowait(ServerStatus.FRESH)
    bench.desk.hear(FilesChanged(("a.py", "b.py")))
    assert await bench.told.get() in {DiagnosticsAwaited(("a.py",)), DiagnosticsAwaited(("b.py",))}


async def test_a_file_that_is_gone_is_not_awaited_any_more(bench: Bench) -> None:
    bench.servers.reports.put_nowait(UNKNOWN)
    await bench.told_with(bench.edit("a.py"))
    assert await bench.told.get() == DiagnosticsAwaited(("a.py",))
    (bench.root / "a.py").unlink()
    bench.desk.hear(FilesChanged(("a.py",)))
    assert await bench.told.get() == DiagnosticsAwaited(())


async def test_a_server_that_fails_leaves_its_files_unknown_until_it_works(bench: Bench) -> None:
    bench.servers.reports.put_nowait(Report(ServerStatus.CRASHED, detail="for a reason"))
    told = await bench.told_with(bench.edit("a.py"))
    assert (told["diagnostics"]["server_status"], told["diagnostics"]["note"]) == ("crashed", "for a reason")
    assert await bench.told.get() == DiagnosticsAwaited(("a.py",))
    bench.servers.words.put_nowait(ServerStatus.CRASHED)
    asked = [await bench.servers.asked.get(), await bench.servers.asked.get()]
    assert asked[1] == ("diagnostics", ("a.py", "new a.py"))
    await asyncio.sleep(0)
    assert bench.told.empty()
    bench.desk.hear(ServerStatusChanged("fake", "py", ServerStatus.FRESH))
    assert await bench.servers.asked.get() == ("diagnostics", ("a.py", "new a.py"))
    bench.servers.words.put_nowait(ServerStatus.FRESH)
    assert await bench.told.get() == DiagnosticsAwaited(())


async def test_edits_of_a_turn_that_was_cut_off_are_told_to_servers(bench: Bench) -> None:
    await bench.told_with(bench.edit("a.py"), more_follow=True)
    bench.desk.hear(DONE)
    assert await bench.servers.asked.get() == ("told_of_changes", ["a.py"])
    assert await bench.told_with(looked()) == {"ok": True}


async def test_servers_hear_that_a_turn_begins(bench: Bench) -> None:
    bench.desk.hear(TurnStarted(1))
    assert bench.servers.turns == 1


async def test_a_change_that_waits_is_said_to_be_unknown_until_it_is_known(bench: Bench) -> None:
    with bench.edits.declared("c", bench.access("a.py")):
        bench.desk.hear(RequestOpened(request("c")))
        assert await bench.told.get() == ProposalChecked("c", ProposalCheck(ServerStatus.PENDING))
        assert bench.servers.asked.get_nowait() == ("check_proposed", ("a.py", "new a.py"))
        bench.servers.checks.put_nowait(UNKNOWN)
        assert await bench.servers.asked.get() == ("check_proposed", ("a.py", "new a.py"))
        bench.servers.checks.put_nowait(WORSE)
        check = ProposalCheck(ServerStatus.FRESH, ChangeCounts(1, 0, 1), (ERROR, WARNING), is_known=True)
        assert await bench.told.get() == ProposalChecked("c", check)
        bench.desk.hear(RequestClosed("r-c", None))


async def test_a_change_of_which_one_file_has_no_server_is_not_called_clean(bench: Bench) -> None:
    for report in (Report(ServerStatus.FRESH), Report(ServerStatus.NOT_INSTALLED, detail="hint")):
        bench.servers.checks.put_nowait(report)
    with bench.edits.declared("c", bench.access("a.py", "b.py")):
        bench.desk.hear(RequestOpened(request("c")))
        check = ProposalCheck(ServerStatus.NOT_INSTALLED, detail="hint", unchecked=1)
        assert await bench.told.get() == ProposalChecked("c", check)


async def test_an_answer_ends_the_check(bench: Bench) -> None:
    with bench.edits.declared("c", bench.access("a.py")):
        bench.desk.hear(RequestOpened(request("c")))
        await bench.servers.asked.get()
        bench.desk.hear(RequestClosed("r-c", None))
        assert await bench.servers.given_up.get() == "a.py"


async def test_a_call_that_edits_nothing_is_not_checked(bench: Bench) -> None:
    for access in (None, Access(())):
        with bench.edits.declared("c", access):
            bench.desk.hear(RequestOpened(request("c")))
    await asyncio.sleep(0)
    assert bench.servers.asked.empty()


@pytest.mark.parametrize(
    ("counts", "words"),
    [
        (ChangeCounts(), ""),
        (ChangeCounts(2, 1), "+2 errors -1"),
        (ChangeCounts(1, 0, 2, 1), "+1 error, +2 warnings -1"),
        (ChangeCounts(0, 1, 0, 2), "-1 error, -2 warnings"),
    ],
    ids=str,
)
def test_counts_read_as_a_change(counts: ChangeCounts, words: str) -> None:
    assert str(counts) == words


async def test_servers_see_a_single_edit_while_it_is_written(bench: Bench) -> None:
    async with bench.edits.writing(bench.access("a.py"), more_follow=False):
        assert bench.servers.expected == [("a.py", "new a.py")]
    bench.servers.reports.put_nowait(WORSE)
    await bench.told_with(bench.edit("a.py"))
    assert bench.servers.expected == [("a.py", "new a.py")]


async def test_nothing_is_foreseen_of_edits_that_belong_together(bench: Bench) -> None:
    async with bench.edits.writing(bench.access("a.py"), more_follow=True):
        await bench.told_with(bench.edit("a.py"), more_follow=True)
    async with bench.edits.writing(bench.access("b.py"), more_follow=False):
        pass
    async with bench.edits.writing(bench.access("a.py", "b.py"), more_follow=False):
        pass
    assert bench.servers.expected == []


@pytest.mark.parametrize("raises", [True, False])
async def test_an_edit_that_was_not_written_is_not_expected_any_more(bench: Bench, *, raises: bool) -> None:
    with suppress(RuntimeError):
        async with bench.edits.writing(bench.access("a.py"), more_follow=False):
            if raises:
                raise RuntimeError
    await bench.told_with(looked())
    await asyncio.sleep(0)
    assert bench.servers.expected == [("a.py", "new a.py"), ("a.py", "")]
