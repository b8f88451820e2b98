"""What goes to language servers and comes back late, never, or while something else happens."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from coder_tui.agent.diagnostics.session import PUT_OFF, EditDiagnostics, SessionDiagnostics
from coder_tui.lsp.report import Report, for_model
from coder_tui.protocol.diagnostics import ChangeCounts, Diagnostic, ProposalCheck, ServerStatus, Severity
from coder_tui.protocol.display import TextBlock
from coder_tui.protocol.events import (
    DiagnosticsAwaited,
    Event,
    ProposalChecked,
    ServerStatusChanged,
)
from coder_tui.tools.base import Access, JsonObject, ProposedText, ToolResult
from coder_tui.workspace.files.confine import Workspace
from tests.fakes.language_servers import ScriptedServers

ERROR = Diagnostic("a.py", 1, 1, Severity.ERROR, "wrong", is_new=True)
WARNING = Diagnostic("a.py", 2, 1, Severity.WARNING, "odd", is_new=True)
WORSE = Report(ServerStatus.FRESH, (WARNING, ERROR))
UNKNOWN = Report(ServerStatus.PENDING)


@dataclass
class Bench:
    servers: ScriptedServers
    root: Path
    patience: float = 60.0
    events: "asyncio.Queue[Event]" = field(default_factory=asyncio.Queue)

    def __post_init__(self) -> None:
        self.diagnostics = SessionDiagnostics(
            self.servers, Workspace(self.root), self.events.put_nowait, self.patience
        )
        self.edits = EditDiagnostics(self.diagnostics)

    def access(self, *names: str) -> Access:
        texts = (ProposedText(self.root / name, f"old {name}", f"new {name}") for name in names)
        return Access((), proposed=tuple(texts))

    def edit(self, *names: str) -> ToolResult:
        """As the runner does after a call that changed these."""
        result = ToolResult({"ok": True}, TextBlock(""), "edited", names)
        self.edits.written(self.access(*names), result)
        return result

    async def result_of(self, result: ToolResult, *, more_follow: bool = False) -> JsonObject:
        return (await self.edits.attach_to(result, more_follow=more_follow)).for_model


@pytest.fixture
async def bench(tmp_path: Path) -> AsyncIterator[Bench]:
    for name in ("a.py", "b.py"):
        (tmp_path / name).write_text(f"new {name}")
    made = Bench(ScriptedServers(), tmp_path)
    yield made
    await made.diagnostics.close()


def looked() -> ToolResult:
    return ToolResult({"ok": True}, TextBlock(""))


async def test_edits_that_others_follow_wait_for_the_last_of_them(bench: Bench) -> None:
    assert await bench.result_of(bench.edit("a.py"), more_follow=True) == {"ok": True, "diagnostics": PUT_OFF}
    bench.servers.reports.put_nowait(WORSE)
    result = await bench.result_of(bench.edit("b.py"))
    assert result == {"ok": True, "diagnostics": {**for_model(WORSE), "files": ["a.py", "b.py"]}}
    asked = bench.servers.asked.get_nowait()
    assert asked == ("after_change", {"a.py": "old a.py", "b.py": "old b.py"})
    assert bench.servers.asked.empty()  # an edit is not also reported as a change on disk


async def test_of_two_edits_of_a_file_the_text_before_the_first_counts(bench: Bench) -> None:
    await bench.result_of(bench.edit("a.py"), more_follow=True)
    result = ToolResult({"ok": True}, TextBlock(""), "", ("a.py",))
    access = Access((), proposed=(ProposedText(bench.root / "a.py", "new a.py", "newer"),))
    bench.servers.reports.put_nowait(WORSE)
    bench.edits.written(access, result)
    await bench.result_of(result)
    assert bench.servers.asked.get_nowait() == ("after_change", {"a.py": "old a.py"})


async def test_a_server_that_does_not_answer_holds_no_edit_up_and_is_heard_later(tmp_path: Path) -> None:
    bench = Bench(ScriptedServers(), tmp_path, patience=0.0)
    pending = await bench.result_of(bench.edit("a.py"))
    assert pending["diagnostics"]["server_status"] == "pending"
    assert await bench.events.get() == DiagnosticsAwaited(("a.py",))
    assert await bench.result_of(looked()) == {"ok": True}
    bench.servers.reports.put_nowait(WORSE)
    assert await bench.events.get() == DiagnosticsAwaited(())
    assert await bench.result_of(looked()) == {"ok": True, "late_diagnostics": for_model(WORSE)}
    assert await bench.result_of(looked()) == {"ok": True}  # reported once
    await bench.diagnostics.close()


async def test_what_is_not_known_is_asked_for_again_until_it_is(bench: Bench) -> None:
    bench.servers.reports.put_nowait(UNKNOWN)
    result = await bench.edits.attach_to(bench.edit("a.py"), more_follow=False)
    assert result.summary == "edited  problems not known yet"
    assert await bench.events.get() == DiagnosticsAwaited(("a.py",))
    bench.servers.asked.get_nowait()
    for status in (ServerStatus.PENDING, ServerStatus.FRESH):
        assert await bench.servers.asked.get() == ("diagnostics", ("a.py", "new a.py"))
        bench.servers.words.put_nowait(status)
    bench.servers.late = {bench.root / "a.py": WORSE}
    assert await bench.events.get() == DiagnosticsAwaited(())
    assert await bench.result_of(looked()) == {"ok": True, "late_diagnostics": for_model(WORSE)}


@pytest.mark.parametrize("status", [ServerStatus.UNTRUSTED, ServerStatus.LINTER_MISSING])
async def test_what_cannot_be_known_is_said_and_not_awaited(bench: Bench, status: ServerStatus) -> None:
    bench.servers.reports.put_nowait(Report(status, detail="for a reason"))
    result = await bench.result_of(bench.edit("a.py"))
    assert (result["diagnostics"]["server_status"], result["diagnostics"]["note"]) == (status, "for a reason")
    assert bench.events.empty()


async def test_a_file_that_no_server_is_asked_about_is_said_to_be_so_once(bench: Bench) -> None:
    for report in (Report(ServerStatus.UNSUPPORTED, detail="too large"),) * 2:
        bench.servers.reports.put_nowait(report)
    first, second = [await bench.result_of(bench.edit("a.py")) for _ in range(2)]
    assert first["diagnostics"] == {"server_status": "unsupported", "note": "too large"}
    assert second["diagnostics"] == {"server_status": "unsupported"}


async def test_files_that_were_not_checked_are_reported_along_with_those_that_were(bench: Bench) -> None:
    bench.servers.reports.put_nowait(
        Report(ServerStatus.NOT_INSTALLED, (ERROR,), detail="hint", unchecked=("b.sh",))
    )
    result = await bench.edits.attach_to(bench.edit("a.py", "b.sh"), more_follow=False)
    assert result.summary == "edited  +1 error, 1 file not checked"
    field = result.for_model["diagnostics"]
    assert (field["introduced_count"], field["not_checked"], field["note"]) == (1, ["b.sh"], "hint")


async def test_an_agent_hears_late_of_its_own_edits_alone(bench: Bench) -> None:
    child = EditDiagnostics(bench.diagnostics)
    bench.servers.reports.put_nowait(UNKNOWN)
    await bench.result_of(bench.edit("a.py"))
    bench.servers.late = {bench.root / "a.py": WORSE}
    assert (await child.attach_to(looked(), more_follow=False)).for_model == {"ok": True}
    assert await bench.result_of(looked()) == {"ok": True, "late_diagnostics": for_model(WORSE)}


async def test_what_an_agent_did_that_is_no_more_is_reported_to_another(bench: Bench) -> None:
    bench.servers.reports.put_nowait(UNKNOWN)
    await bench.result_of(bench.edit("a.py"))
    bench.edits = EditDiagnostics(bench.diagnostics)
    bench.servers.late = {bench.root / "a.py": WORSE}
    assert await bench.result_of(looked()) == {"ok": True, "late_diagnostics": for_model(WORSE)}


async def test_an_edit_ends_the_asking_about_the_text_before_it(bench: Bench) -> None:
    bench.servers.reports.put_nowait(UNKNOWN)
    await bench.result_of(bench.edit("a.py"))
    bench.servers.reports.put_nowait(WORSE)
    await bench.result_of(bench.edit("a.py"))
    assert [await bench.events.get(), await bench.events.get()] == [
        DiagnosticsAwaited(("a.py",)),
        DiagnosticsAwaited(()),
    ]
    bench.servers.words.put_nowait(ServerStatus.FRESH)
    await asyncio.sleep(0)
    assert bench.servers.words.qsize() == 1


async def test_other_changes_are_sent_to_servers_without_waiting(bench: Bench) -> None:
    bench.diagnostics.files_changed(("a.py", "b.py"))
    assert await bench.servers.asked.get() == ("notify_changes", ["a.py", "b.py"])


async def test_what_others_changed_is_not_known_until_a_server_was_asked(bench: Bench) -> None:
    bench.servers.known = {"b.py"}
    bench.diagnostics.files_changed(("a.py", "b.py"))
    await bench.servers.asked.get()
    assert await bench.servers.asked.get() == ("diagnostics", ("b.py", "new b.py"))
    assert await bench.events.get() == DiagnosticsAwaited(("b.py",))
    bench.servers.words.put_nowait(ServerStatus.FRESH)
    assert await bench.events.get() == DiagnosticsAwaited(())


async def test_a_word_that_comes_at_once_needs_no_mark(bench: Bench) -> None:
    bench.servers.known = {"a.py", "b.py"}
    bench.servers.words.put_nowait(ServerStatus.FRESH)
    bench.diagnostics.files_changed(("a.py", "b.py"))
    assert await bench.events.get() in {DiagnosticsAwaited(("a.py",)), DiagnosticsAwaited(("b.py",))}


async def test_a_file_that_is_gone_is_not_awaited_any_more(bench: Bench) -> None:
    bench.servers.reports.put_nowait(UNKNOWN)
    await bench.result_of(bench.edit("a.py"))
    assert await bench.events.get() == DiagnosticsAwaited(("a.py",))
    (bench.root / "a.py").unlink()
    bench.diagnostics.files_changed(("a.py",))
    assert await bench.events.get() == DiagnosticsAwaited(())


async def test_a_server_that_fails_leaves_its_files_unknown_until_it_works(bench: Bench) -> None:
    bench.servers.reports.put_nowait(Report(ServerStatus.CRASHED, detail="for a reason"))
    result = await bench.result_of(bench.edit("a.py"))
    assert (result["diagnostics"]["server_status"], result["diagnostics"]["note"]) == (
        "crashed",
        "for a reason",
    )
    assert await bench.events.get() == DiagnosticsAwaited(("a.py",))
    bench.servers.words.put_nowait(ServerStatus.CRASHED)
    asked = [await bench.servers.asked.get(), await bench.servers.asked.get()]
    assert asked[1] == ("diagnostics", ("a.py", "new a.py"))
    await asyncio.sleep(0)
    assert bench.events.empty()
    bench.diagnostics.on_server_event(ServerStatusChanged("fake", "py", ServerStatus.FRESH))
    assert await bench.servers.asked.get() == ("diagnostics", ("a.py", "new a.py"))
    bench.servers.words.put_nowait(ServerStatus.FRESH)
    assert await bench.events.get() == DiagnosticsAwaited(())


async def test_edits_of_a_turn_that_was_cut_off_are_sent_to_servers(bench: Bench) -> None:
    await bench.result_of(bench.edit("a.py"), more_follow=True)
    bench.diagnostics.end_turn()
    assert await bench.servers.asked.get() == ("notify_changes", ["a.py"])
    assert await bench.result_of(looked()) == {"ok": True}


async def test_servers_hear_that_a_turn_begins(bench: Bench) -> None:
    bench.diagnostics.begin_turn()
    assert bench.servers.turns == 1


async def test_a_change_that_waits_is_said_to_be_unknown_until_it_is_known(bench: Bench) -> None:
    with bench.edits.checking("c", bench.access("a.py")):
        assert await bench.events.get() == ProposalChecked("c", ProposalCheck(ServerStatus.PENDING))
        assert bench.servers.asked.get_nowait() == ("check_proposed", ("a.py", "new a.py"))
        bench.servers.checks.put_nowait(UNKNOWN)
        assert await bench.servers.asked.get() == ("check_proposed", ("a.py", "new a.py"))
        bench.servers.checks.put_nowait(WORSE)
        check = ProposalCheck(ServerStatus.FRESH, ChangeCounts(1, 0, 1), (ERROR, WARNING), is_known=True)
        assert await bench.events.get() == ProposalChecked("c", check)


async def test_a_change_of_which_one_file_has_no_server_is_not_called_clean(bench: Bench) -> None:
    for report in (Report(ServerStatus.FRESH), Report(ServerStatus.NOT_INSTALLED, detail="hint")):
        bench.servers.checks.put_nowait(report)
    with bench.edits.checking("c", bench.access("a.py", "b.py")):
        check = ProposalCheck(ServerStatus.NOT_INSTALLED, detail="hint", unchecked=1)
        assert await bench.events.get() == ProposalChecked("c", check)


async def test_an_answer_ends_the_check(bench: Bench) -> None:
    with bench.edits.checking("c", bench.access("a.py")):
        await bench.servers.asked.get()
    assert await bench.servers.given_up.get() == "a.py"


async def test_a_call_that_edits_nothing_is_not_checked(bench: Bench) -> None:
    for access in (None, Access(())):
        with bench.edits.checking("c", access):
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
    await bench.result_of(bench.edit("a.py"))
    assert bench.servers.expected == [("a.py", "new a.py")]


async def test_nothing_is_foreseen_of_edits_that_belong_together(bench: Bench) -> None:
    async with bench.edits.writing(bench.access("a.py"), more_follow=True):
        await bench.result_of(bench.edit("a.py"), more_follow=True)
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
    await bench.result_of(looked())
    await asyncio.sleep(0)
    assert bench.servers.expected == [("a.py", "new a.py"), ("a.py", "")]
