"""Real language servers say through us what they say when a plain script asks them."""

import asyncio
import os
import signal
from pathlib import Path

import pytest

from coder_tui.lsp.checking import Checker
from coder_tui.lsp.wire import Checked
from coder_tui.protocol.diagnostics import ServerStatus
from tests.fakes.lsp_plain import plain_client
from tests.fakes.lsp_pools import server_path
from tests.fakes.lsp_real import CASES, Case, real_checker, rows

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


@every_server
async def test_what_a_server_says_is_what_it_says_to_a_plain_script(case: Case, root: Path) -> None:
    path = root / case.file
    texts = (case.broken, case.fixed, case.emoji, case.broken)
    initialization = dict(case.spec.initialization) if case.spec.initialization else None
    async with real_checker(case, root) as checker:
        ours = [await ask(checker, case, root, text) for text in texts]
    async with plain_client(case.argv, root, server_path(), initialization=initialization) as plain:
        theirs = [await asyncio.wait_for(plain.check(path, text, case.language), ENOUGH) for text in texts]
    assert [told.status for told in ours] == [ServerStatus.FRESH] * len(texts)
    assert [rows(told) for told in ours] == theirs
    assert [bool(told.items) for told in ours] == [True, False, True, True]


async def test_code_without_types_is_no_problem_unless_the_project_says_so(root: Path) -> None:
    untyped = "def double(a):\n    return a * 2\n"
    case = next(case for case in CASES if case.server == "basedpyright")
    async with real_checker(case, root, case.spec.settings) as checker:
        assert await ask(checker, case, root, untyped) == Checked(ServerStatus.FRESH)
    await asyncio.to_thread((root / "pyrightconfig.json").write_text, '{"typeCheckingMode": "strict"}')
    async with real_checker(case, root, case.spec.settings) as checker:
        assert (await ask(checker, case, root, untyped)).items


@every_server
async def test_edits_that_change_nothing_or_follow_quickly_end_with_the_truth(case: Case, root: Path) -> None:
    async with real_checker(case, root) as checker:
        broken = await ask(checker, case, root, case.broken)
        assert await checker.check(str(root / case.file), case.broken, case.language, 0.0) == broken
        # A clean file stays clean: some servers do not say so twice.
        for text in (case.clean(1), case.clean(2)):
            assert await ask(checker, case, root, text) == Checked(ServerStatus.FRESH)
        quick = [case.clean(number) for number in range(3, 7)]
        results = await asyncio.gather(
            *(ask(checker, case, root, text) for text in (*quick, case.broken)),
        )
        assert results[-1].status is ServerStatus.FRESH
        assert rows(await ask(checker, case, root, case.broken)) == rows(broken)


@every_server
async def test_a_server_that_is_killed_in_a_request_starts_again(case: Case, root: Path) -> None:
    async with real_checker(case, root) as checker:
        assert (await checker.check(str(root / case.file), case.broken, case.language, 0.0)).status in (
            ServerStatus.STARTING,
            ServerStatus.PENDING,
        )
        broken = await ask(checker, case, root, case.broken)
        asking = asyncio.ensure_future(ask(checker, case, root, case.emoji))
        await asyncio.sleep(0)
        run = checker.life.run
        assert run is not None
        os.kill(run.process.pid, signal.SIGKILL)
        assert (await asking).status is ServerStatus.FRESH
        again = await ask(checker, case, root, case.broken)
        assert rows(again) == rows(broken)
