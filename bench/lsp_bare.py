"""Time only the way to language servers and back: the pool next to a plain script, without a session."""

import asyncio
import time
from pathlib import Path

from bench.lsp_cases import WARM_UP, Times, rest, texts
from coder_tui.lsp.pool import LspPool
from tests.fakes.lsp_plain import PlainClient, plain_client
from tests.fakes.lsp_pools import only, pool_in, server_path
from tests.fakes.lsp_real import Case
from tests.fakes.shells import BUBBLEWRAP, UNCONFINED


async def _ours(pool: LspPool, path: Path, text: str, *, is_expected: bool) -> float:
    await rest()
    began = time.perf_counter()
    if is_expected:
        await pool.expect_write(path, text)
    await asyncio.to_thread(path.write_text, text)
    report = await pool.after_change([path])
    if not report.is_known:
        raise SystemExit(f"{path.name}: {report.status} {report.detail}")
    return 1000 * (time.perf_counter() - began)


async def _plain(client: PlainClient, path: Path, text: str, language: str) -> float:
    await rest()
    began = time.perf_counter()
    await asyncio.to_thread(path.write_text, text)
    await client.first(path, text, language)
    return 1000 * (time.perf_counter() - began)


async def measure(case: Case, folder: Path, rounds: int) -> Times:
    ours, plain = folder / "ours", folder / "plain"
    ours.mkdir()
    plain.mkdir()
    pool = pool_in(ours, only(case.server), status=BUBBLEWRAP if BUBBLEWRAP.program else UNCONFINED)
    initialization = dict(case.spec.initialization) if case.spec.initialization else None
    times = Times()
    try:
        path = ours / case.file
        path.write_text(case.clean(1))
        await pool.diagnostics(path, case.clean(1))
        async with plain_client(case.argv, plain, server_path(), initialization=initialization) as client:
            await client.check(plain / case.file, case.clean(1), case.language)
            for number, text in enumerate(texts(case, 2 * rounds)):
                # Two each, so that both get as many texts of either kind.
                is_expected = number % 4 in (0, 3)
                one = await _ours(pool, path, text, is_expected=is_expected)
                other = await _plain(client, plain / case.file, text, case.language)
                if number >= WARM_UP:
                    (times.ours if is_expected else times.later).append(one)
                    times.plain.append(other)
    finally:
        await pool.close()
    return times
