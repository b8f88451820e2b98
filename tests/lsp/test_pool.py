"""Files, changes and proposals with fake servers."""

import asyncio
import os
import signal
from pathlib import Path

import pytest

from coder_tui.lsp.pool import FileProblems
from coder_tui.lsp.report import Report, for_model
from coder_tui.lsp.servers import Catalog
from coder_tui.lsp.wire import Place, Question
from coder_tui.protocol.diagnostics import ServerStatus, Severity
from coder_tui.protocol.events import DiagnosticsChanged, ServerStatusChanged
from tests.fakes.lsp_bench import bench_in, problem
from tests.fakes.lsp_inside import hosted_inside
from tests.fakes.lsp_pools import fake_server, faked

FRESH = ServerStatus.FRESH
__all__ = ["hosted_inside"]
inside = pytest.mark.usefixtures("hosted_inside")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "w").mkdir()
    return tmp_path / "w"


@inside
async def test_a_change_is_reported_as_introduced_fixed_and_remaining(root: Path) -> None:
    async with bench_in(root, faked()) as b:
        await b.pool.diagnostics(b.file, b.write("bad one\nodd two\n"))
        b.write("# new line\nodd two\nbad three\n")
        report = await b.pool.after_change([b.file])
    assert report == Report(
        FRESH,
        introduced=(problem(3, 1, is_new=True),),
        fixed=(problem(1, 1),),
        remaining=(problem(2, 1, "odd"),),
    )


@inside
async def test_a_file_that_no_server_has_seen_is_compared_by_its_old_text(root: Path) -> None:
    async with bench_in(root, faked()) as b:
        b.write("bad\nbad two\n")
        report = await b.pool.after_change([b.file], {b.file: "bad\n"})
        assert report == Report(FRESH, (problem(2, 1, is_new=True),), (), (problem(1, 1),))
        b.file.unlink()
        gone = await b.pool.after_change([b.file])
    assert [item.line for item in gone.fixed] == [1, 2]
    assert b.reported[-1] == DiagnosticsChanged("a.py", ())


@inside
async def test_without_the_old_text_nothing_is_called_new(root: Path) -> None:
    async with bench_in(root, faked()) as b:
        b.write("bad\n")
        report = await b.pool.after_change([b.file])
    assert report == Report(FRESH, remaining=(problem(1, 1),), is_compared=False)
    assert for_model(report)["errors"] == [
        {
            "path": "a.py",
            "severity": "error",
            "line": 0,
            "character": 0,
            "message": "bad word",
            "code": "W",
            "source": "fake",
        }
    ]


@inside
async def test_a_proposed_text_is_checked_while_the_disk_and_what_is_known_stay(root: Path) -> None:
    async with bench_in(root, faked()) as b:
        text = b.write("bad one\n")
        report = await b.pool.check_proposed(b.file, "odd\nbad two\n")
        assert report.introduced == (problem(1, 1, "odd", is_new=True), problem(2, 1, is_new=True))
        assert report.fixed == (problem(1, 1),)
        assert (report.count(Severity.ERROR), report.count(Severity.WARNING)) == (0, 1)
        assert b.file.read_text() == text
        assert await b.pool.diagnostics(b.file, text) == FileProblems(FRESH, (problem(1, 1),), 1)
    changes = [event for event in b.reported if isinstance(event, DiagnosticsChanged)]
    assert changes == [DiagnosticsChanged("a.py", (problem(1, 1),))]


@inside
async def test_a_proposed_file_that_is_not_there_yet_has_only_new_problems(root: Path) -> None:
    async with bench_in(root, faked()) as b:
        report = await b.pool.check_proposed(b.file, "bad\n")
    assert report == Report(FRESH, introduced=(problem(1, 1, is_new=True),))
    assert not b.file.exists()


@inside
@pytest.mark.parametrize("behaviour", ["tardy", "hesitant"])
async def test_a_late_report_comes_once_with_the_next_result(root: Path, behaviour: str) -> None:
    async with bench_in(root, faked(behaviour)) as b:
        await b.pool.diagnostics(b.file, b.write("x\n"))
        b.write("bad\n")
        report = await b.pool.after_change([b.file])
        assert (report.status, report.introduced) == (ServerStatus.STALE, ())
        await b.until(lambda: DiagnosticsChanged("a.py", (problem(1, 1, is_new=True),)) in b.reported)
        assert await b.late() == {b.file: Report(FRESH, introduced=(problem(1, 1, is_new=True),))}
        assert await b.late() == {}


@inside
async def test_changes_by_others_are_published_and_checked_again(root: Path) -> None:
    async with bench_in(root, faked()) as b:
        await b.pool.diagnostics(b.file, b.write("x\n"))
        b.write("bad\n")
        await b.pool.notify_changes([b.file, root / "never_seen.py"])
        await b.until(lambda: DiagnosticsChanged("a.py", (problem(1, 1),)) in b.reported)


@inside
async def test_problems_from_before_the_turn_are_not_new(root: Path) -> None:
    async with bench_in(root, faked()) as b:
        await b.pool.diagnostics(b.file, b.write("bad one\n"))
        b.pool.begin_turn()
        b.write("\nbad one\nbad two\n")
        await b.pool.after_change([b.file])
        await b.until(
            lambda: DiagnosticsChanged("a.py", (problem(2, 1), problem(3, 1, is_new=True))) in b.reported
        )


@inside
async def test_new_problems_become_old_when_the_next_turn_begins(root: Path) -> None:
    async with bench_in(root, faked()) as b:
        await b.pool.diagnostics(b.file, b.write("fine\n"))
        b.pool.begin_turn()
        b.write("bad\n")
        await b.pool.after_change([b.file])
        assert b.reported[-1] == DiagnosticsChanged("a.py", (problem(1, 1, is_new=True),))
        b.pool.begin_turn()
        assert b.reported[-1] == DiagnosticsChanged("a.py", (problem(1, 1),))
        reported = len(b.reported)
        b.pool.begin_turn()
        assert len(b.reported) == reported


@inside
async def test_two_servers_for_a_language_are_both_asked(root: Path) -> None:
    both = Catalog((fake_server("", "one"), fake_server("pull", "two")))
    async with bench_in(root, both) as b:
        found = await b.pool.diagnostics(b.file, b.write("bad\n"))
    assert found == FileProblems(FRESH, (problem(1, 1), problem(1, 1)), 2)


@inside
async def test_one_server_that_does_not_know_makes_the_whole_unknown(root: Path) -> None:
    both = Catalog((fake_server("", "one"), fake_server("never", "two")))
    async with bench_in(root, both) as b:
        found = await b.pool.diagnostics(b.file, b.write("bad\n"), 1.5)
    assert (found.status, found.items) == (ServerStatus.STARTING, (problem(1, 1),))


@inside
async def test_questions_about_a_place_are_answered_in_characters(root: Path) -> None:
    async with bench_in(root, faked()) as b:
        text = b.write("😀 x\n")
        definition = await b.pool.ask(Question.DEFINITION, b.file, text, line=0, character=2)
        hover = await b.pool.ask(Question.HOVER, b.file, text, line=0, character=2)
        references = await b.pool.ask(Question.REFERENCES, b.file, text)
        symbols = await b.pool.ask(Question.SYMBOLS, b.file, text)
        named = await b.pool.find_symbols("thing")
    uri = b.file.as_uri()
    assert definition.places == (Place(uri, 0, 2, 0, 2, "😀 x"),)
    assert hover.contents == "```python\nx: int\n```\n\nA word."
    # Text of files outside the project is not returned.
    assert [(place.uri, place.text) for place in references.places] == [
        (uri, "😀 x"),
        ("file:///etc/hostname", ""),
    ]
    assert [(symbol.name, symbol.kind, symbol.container) for symbol in symbols.symbols] == [
        ("Outer", "class", ""),
        ("inner", "function", "Outer"),
    ]
    assert [(symbol.name, symbol.kind, symbol.container) for symbol in named.symbols] == [
        ("thing", "variable", "m")
    ]


async def test_a_killed_host_restarts_with_the_next_question(root: Path) -> None:
    async with bench_in(root, faked()) as b:
        await b.pool.diagnostics(b.file, b.write("bad\n"))
        pid = b.pool._hosting.pid
        assert pid is not None
        os.kill(pid, signal.SIGKILL)
        found = FileProblems(ServerStatus.CRASHED)
        while found.status is ServerStatus.CRASHED:
            found = await b.pool.diagnostics(b.file, b.write("bad\n"))
    assert found == FileProblems(FRESH, (problem(1, 1),), 1)


@inside
async def test_a_server_that_gave_up_is_reported_and_can_be_restarted(root: Path) -> None:
    async with bench_in(root, faked("broken")) as b:
        found = await b.pool.diagnostics(b.file, b.write("bad\n"))
        assert found.status is ServerStatus.CRASHED
        last = b.reported[-1]
        assert isinstance(last, ServerStatusChanged)
        assert (last.server, last.language, last.status) == ("fake", "py", ServerStatus.CRASHED)
        reported = len(b.reported)
        assert await b.pool.restart("fake")
        await b.until(lambda: len(b.reported) > reported)
        assert not await b.pool.restart("nobody")


@inside
async def test_a_question_during_a_proposal_does_not_replace_the_proposed_text(root: Path) -> None:
    async with bench_in(root, faked("slow")) as b:
        text = b.write("x\n")
        proposing = asyncio.ensure_future(b.pool.check_proposed(b.file, "bad\n"))
        await b.until(lambda: bool(b.reported))
        hover, report = await asyncio.gather(b.pool.ask(Question.HOVER, b.file, text), proposing)
    assert hover.contents.startswith("```python")
    assert report == Report(FRESH, introduced=(problem(1, 1, is_new=True),))
