"""Time an edit until its diagnostics, relative to a plain script with its own server.

Both get the same texts in turn, in one run, so that a busy machine slows both. There are two tables.

The first is an edit as it is made in a session. Ours: the model calls `write` in a session with language
servers; from the start of the call to its result, which carries the diagnostics and is stored. Plain: the
same call in an equal session without language servers, and after its result a script sends the text to a
server, takes its first answer, final or not, and reads the findings. This is held to the limit.

The second, bare, is the way to the server and back with nothing around it but a file that is written without
any care: no permission, no copy for undo, no journal, nothing forced to disk. It shows what the other process
costs, in `ours` with a word to the server before the writing, in `later` without, as it is for edits that
belong together. `--bare` measures only this.

uv run python -m bench.lsp [--rounds 15] [--server pylsp]… [--bare]
"""

import argparse
import asyncio
import os
import statistics
import sys
import tempfile
from collections.abc import Callable, Coroutine, Sequence
from pathlib import Path
from typing import Any

from bench import lsp_bare, lsp_sessions
from bench.lsp_cases import Times
from tests.fakes.lsp_pools import server_path
from tests.fakes.lsp_real import CASES, Case

LIMIT = 1.2
Measure = Callable[[Case, Path, int], Coroutine[Any, Any, Times]]


def _measured(measure: Measure, case: Case, rounds: int) -> Times:
    with tempfile.TemporaryDirectory() as folder:
        return asyncio.run(measure(case, Path(folder).resolve(), rounds))


def table(title: str, measure: Measure, cases: Sequence[Case], rounds: int) -> bool:
    """Print the figures; return whether all are within the limit."""
    print(f"{title:<28}{'plain':>9}{'ours':>9}{'ratio':>8}{'later':>9}   (medians of {rounds}, ms)")
    is_well = True
    for case in cases:
        times = _measured(measure, case, rounds)
        is_well &= times.ratio <= LIMIT
        plain, ours = statistics.median(times.plain), statistics.median(times.ours)
        later = f"{statistics.median(times.later):9.1f}" if times.later else ""
        print(f"{case.server:<28}{plain:>9.1f}{ours:>9.1f}{times.ratio:>8.2f}{later}", flush=True)
    print(f"at most {LIMIT} times: {'yes' if is_well else 'NO'}\n")
    return is_well


def main(argv: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--server", action="append", choices=[case.server for case in CASES])
    parser.add_argument("--bare", action="store_true")
    arguments = parser.parse_args(argv)
    cases = [case for case in CASES if not arguments.server or case.server in arguments.server]
    # A session looks for servers where the user's programs are.
    os.environ["PATH"] = server_path()
    is_well = arguments.bare or table("in a session", lsp_sessions.measure, cases, arguments.rounds)
    is_near = table("bare", lsp_bare.measure, cases, arguments.rounds)
    return 0 if is_well and (is_near or not arguments.bare) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
