"""From edit to diagnostics beside a plain script that speaks to a server of its own: the ratio of the times.

Both get the same texts in turn, in one run, so that a busy machine slows both. The whole way is measured,
as it is in a session: servers are told what is about to be written, the file is written, the pool reads it,
its process asks the server, and the report comes back. The plain script writes the file, sends the text,
takes the server's first word, be it the last or not, and reads the findings from it. `later` is ours without
a word before the writing, as it is for edits that belong together; only `ours` is held to the limit.

uv run python -m bench.lsp [--rounds 15] [--server pylsp]…
"""

import argparse
import asyncio
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from coder_tui.lsp.pool import LspPool
from tests.fakes.lsp_plain import PlainClient, plain_client
from tests.fakes.lsp_pools import only, pool_in, server_path
from tests.fakes.lsp_real import CASES, Case
from tests.fakes.shells import BUBBLEWRAP, UNCONFINED

LIMIT = 1.2
# The first changes are how both learn what is usual for a server.
WARM_UP = 4


@dataclass(slots=True)
class Times:
    """In milliseconds."""

    plain: list[float] = field(default_factory=list)
    ours: list[float] = field(default_factory=list)
    later: list[float] = field(default_factory=list)

    @property
    def ratio(self) -> float:
        return statistics.median(self.ours) / statistics.median(self.plain)


@dataclass(frozen=True, slots=True)
class Edit:
    text: str
    is_expected: bool


def edits(case: Case, count: int) -> Iterator[Edit]:
    """Broken and mended in turn, as some servers do not say twice that a file is clean; each a new text.

    Two and two are ours with a word ahead and without, so that both get as many of either kind.
    """
    for number in range(count):
        text = case.clean(number + 10) if number % 2 else case.faulty(number)
        yield Edit(text, is_expected=number % 4 in (0, 3))


async def _ours(pool: LspPool, path: Path, text: str, *, is_expected: bool) -> float:
    began = time.perf_counter()
    if is_expected:
        pool.expect(path, text)
    await asyncio.to_thread(path.write_text, text)
    report = await pool.after_change([path])
    if not report.is_known:
        raise SystemExit(f"{path.name}: {report.status} {report.detail}")
    return 1000 * (time.perf_counter() - began)


async def _plain(client: PlainClient, path: Path, text: str, language: str) -> float:
    began = time.perf_counter()
    await asyncio.to_thread(path.write_text, text)
    await client.first(path, text, language)
    return 1000 * (time.perf_counter() - began)


async def measure(case: Case, folder: Path, rounds: int) -> Times:
    ours, plain = folder / "ours", folder / "plain"
    ours.mkdir()
    plain.mkdir()
    status = BUBBLEWRAP if BUBBLEWRAP.program else UNCONFINED
    pool = pool_in(ours, only(case.server), status=status)
    initialization = dict(case.spec.initialization) if case.spec.initialization else None
    times = Times()
    try:
        path = ours / case.file
        path.write_text(case.clean(1))
        await pool.diagnostics(path, case.clean(1))
        async with plain_client(case.argv, plain, server_path(), initialization=initialization) as client:
            await client.check(plain / case.file, case.clean(1), case.language)
            for number, edit in enumerate(edits(case, 2 * rounds + WARM_UP)):
                one = await _ours(pool, path, edit.text, is_expected=edit.is_expected)
                other = await _plain(client, plain / case.file, edit.text, case.language)
                if number >= WARM_UP:
                    (times.ours if edit.is_expected else times.later).append(one)
                    times.plain.append(other)
    finally:
        await pool.close()
    return times


def main(argv: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--server", action="append", choices=[case.server for case in CASES])
    arguments = parser.parse_args(argv)
    wanted = arguments.server or [case.server for case in CASES]
    is_well = True
    print(
        f"{'server':<28}{'plain':>9}{'ours':>9}{'ratio':>8}{'later':>9}   (medians of {arguments.rounds}, ms)"
    )
    for case in CASES:
        if case.server in wanted:
            with tempfile.TemporaryDirectory() as folder:
                times = asyncio.run(measure(case, Path(folder), arguments.rounds))
            is_well &= times.ratio <= LIMIT
            plain, ours, later = map(statistics.median, (times.plain, times.ours, times.later))
            print(f"{case.server:<28}{plain:>9.1f}{ours:>9.1f}{times.ratio:>8.2f}{later:>9.1f}", flush=True)
    print(f"at most {LIMIT} times: {'yes' if is_well else 'NO'}")
    return 0 if is_well else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
