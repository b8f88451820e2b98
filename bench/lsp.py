"""From edit to diagnostics beside a plain script that speaks to a server of its own: the ratio of the times.

Both get the same texts in turn, in one run, so that a busy machine slows both. The whole way is measured: the
file is written, the pool reads it, its process asks the server, and the report comes back. The plain script
takes the server's first word, be it the last or not. For a server that answers within a millisecond the
ratio says nothing: there it is the way to another process that counts, which must stay under 10 ms.

uv run python -m bench.lsp [--rounds 15] [--server pylsp]…
"""

import argparse
import asyncio
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from coder_tui.lsp.pool import LspPool
from tests.fakes.lsp_plain import PlainClient, plain_client
from tests.fakes.lsp_pools import only, pool_in, server_path
from tests.fakes.lsp_real import CASES, Case
from tests.fakes.shells import BUBBLEWRAP, UNCONFINED

LIMIT = 1.2
MOST_MORE = 10.0
# The first changes are how both learn what is usual for a server.
WARM_UP = 4


@dataclass(frozen=True, slots=True)
class Times:
    ours: tuple[float, ...]
    plain: tuple[float, ...]

    @property
    def ratio(self) -> float:
        return statistics.median(self.ours) / statistics.median(self.plain)


def texts(case: Case, count: int) -> list[str]:
    """Broken and mended in turn, each text a new one."""
    return [case.faulty(number) if number % 2 == 0 else case.clean(number + 10) for number in range(count)]


async def _ours(pool: LspPool, path: Path, text: str) -> float:
    began = time.perf_counter()
    await asyncio.to_thread(path.write_text, text)
    report = await pool.after_change([path])
    if not report.is_known:
        raise SystemExit(f"{path.name}: {report.status} {report.detail}")
    return time.perf_counter() - began


async def _plain(client: PlainClient, path: Path, text: str, language: str) -> float:
    began = time.perf_counter()
    await asyncio.to_thread(path.write_text, text)
    await client.first(path, text, language)
    return time.perf_counter() - began


async def measure(case: Case, folder: Path, rounds: int) -> Times:
    ours, plain = folder / "ours", folder / "plain"
    ours.mkdir()
    plain.mkdir()
    status = BUBBLEWRAP if BUBBLEWRAP.program else UNCONFINED
    pool = pool_in(ours, only(case.server), status=status)
    initialization = dict(case.spec.initialization) if case.spec.initialization else None
    taken: tuple[list[float], list[float]] = ([], [])
    try:
        path = ours / case.file
        path.write_text(case.clean(1))
        await pool.diagnostics(path, case.clean(1))
        async with plain_client(case.argv, plain, server_path(), initialization=initialization) as client:
            await client.check(plain / case.file, case.clean(1), case.language)
            for number, text in enumerate(texts(case, rounds + WARM_UP)):
                one = await _ours(pool, path, text)
                other = await _plain(client, plain / case.file, text, case.language)
                if number >= WARM_UP:
                    taken[0].append(one)
                    taken[1].append(other)
    finally:
        await pool.close()
    return Times(tuple(taken[0]), tuple(taken[1]))


def main(argv: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--server", action="append", choices=[case.server for case in CASES])
    arguments = parser.parse_args(argv)
    wanted = arguments.server or [case.server for case in CASES]
    is_well = True
    print(f"{'server':<28}{'plain':>9}{'ours':>9}{'ratio':>8}   (medians of {arguments.rounds}, ms)")
    for case in CASES:
        if case.server in wanted:
            with tempfile.TemporaryDirectory() as folder:
                times = asyncio.run(measure(case, Path(folder), arguments.rounds))
            plain, ours = (1000 * statistics.median(part) for part in (times.plain, times.ours))
            is_well &= times.ratio <= LIMIT or ours - plain < MOST_MORE
            print(f"{case.server:<28}{plain:>9.1f}{ours:>9.1f}{times.ratio:>8.2f}", flush=True)
    print(f"at most {LIMIT} times, or {MOST_MORE:.0f} ms more: {'yes' if is_well else 'NO'}")
    return 0 if is_well else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
