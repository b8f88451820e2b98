"""Real language servers report the same through us as to a plain script."""

import asyncio
import os
import signal
from collections.abc import Sequence
from pathlib import Path

import pytest

from coder_tui.lsp.checker import Checker
from coder_tui.lsp.wire import Checked
from coder_tui.protocol.diagnostics import ServerStatus
from tests.fakes.lsp_plain import PlainClient, Row, plain_client
from tests.fakes.lsp_pools import server_path
from tests.fakes.lsp_real import CASES, Case, real_checker, rows
from tests.fakes.process_family import hold

ENOUGH = 90.0
every_server = pytest.mark.parametrize("case", CASES, ids=[case.server for case in CASES])


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "w").mkdir()
    return tmp_path / "w"


async def ask(checker: Checker, case: Case, root: Path, text: str) -> Checked:
    path = root / case.file
    await asyncio.to_thread(path.write_text, text)
    return await checker.check(str(path), text, case.language, ENOUGH, is_saved=True)


async def reported(checker: Checker, case: Case, root: Path, texts: Sequence[str]) -> list[Checked]:
    return [await ask(checker, case, root, text) for text in texts]


async def said(plain: PlainClient, case: Case, path: Path, texts: Sequence[str]) -> list[list[Row]]:
    return [await asyncio.wait_for(plain.check(path, text, case.language), ENOUGH) for text in texts]


@every_server
async def test_we_report_what_a_plain_script_gets_from_the_server(case: Case, root: Path) -> None:
    texts = (case.broken, case.fixed, case.emoji, case.broken)
    initialization = dict(case.spec.initialization) if case.spec.initialization else None
    other = root.parent / "plain"
    await asyncio.to_thread(other.mkdir)
    async with (
        real_checker(case, root) as checker,
        plain_client(case.argv, other, server_path(), quiet=0.7, initialization=initialization) as plain,
    ):
        saying = said(plain, case, other / case.file, texts)
        ours, theirs = await asyncio.gather(reported(checker, case, root, texts), saying)
    assert [one.status for one in ours] == [ServerStatus.FRESH] * len(texts)
    assert [rows(one) for one in ours] == theirs
    assert [bool(one.items) for one in ours] == [True, False, True, True]


async def test_untyped_code_is_no_problem_unless_the_project_says_so(root: Path) -> None:
    untyped = "def double(a):\n    return a * 2\n"
    case = next(case for case in CASES if case.server == "basedpyright")
    async with real_checker(case, root, case.spec.settings) as checker:
        assert await ask(checker, case, root, untyped) == Checked(ServerStatus.FRESH)
    await asyncio.to_thread((root / "pyrightconfig.json").write_text, '{"typeCheckingMode": "strict"}')
    async with real_checker(case, root, case.spec.settings) as checker:
        assert (await ask(checker, case, root, untyped)).items


async def in_a_request(checker: Checker, case: Case, path: str, text: str) -> "asyncio.Task[Checked]":
    """Start a check that the server has received but not answered yet."""
    run = checker.life.run
    assert run is not None
    # A quick server would answer before it could be killed.
    await asyncio.to_thread(hold, run.process.pid)
    asking = asyncio.create_task(checker.check(path, text, case.language, ENOUGH))
    # The check sends the text first; messages of one loop step are written at its end.
    for _ in range(2):
        await asyncio.sleep(0)
    assert checker.text_of(path) == text
    assert (run.process.writer.transport.get_write_buffer_size(), asking.done()) == (0, False)
    return asking


@every_server
async def test_reports_stay_true_over_quick_edits_and_a_crash(case: Case, root: Path) -> None:
    async with real_checker(case, root) as checker:
        path = str(root / case.file)
        assert (await checker.check(path, case.broken, case.language, 0.0)).status is ServerStatus.STARTING
        broken = await ask(checker, case, root, case.broken)
        assert await checker.check(path, case.broken, case.language, 0.0) == broken
        # A clean file stays clean: some servers do not repeat it.
        for text in (case.clean(1), case.clean(2)):
            assert await ask(checker, case, root, text) == Checked(ServerStatus.FRESH)
        quick = (*(case.clean(number) for number in range(3, 7)), case.broken)
        results = await asyncio.gather(*(ask(checker, case, root, text) for text in quick))
        assert results[-1].status is ServerStatus.FRESH
        assert rows(await ask(checker, case, root, case.broken)) == rows(broken)
        run = checker.life.run
        assert run is not None
        asking = await in_a_request(checker, case, path, case.emoji)
        os.kill(run.process.pid, signal.SIGKILL)
        reported = await asking
        assert (reported.status, checker.life.run is run) == (ServerStatus.FRESH, False)
        assert reported.items
        assert rows(await ask(checker, case, root, case.broken)) == rows(broken)
