"""Compare `grep` and `glob` with ripgrep on a generated tree: same matches, and the ratio of the times.

uv run python -m bench.search [--files 8500] [--rounds 15]
"""

import argparse
import asyncio
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

from coder_tui.tools.base import JsonObject, ToolContext
from coder_tui.tools.builtin.glob import GlobTool
from coder_tui.tools.builtin.grep import GrepTool
from coder_tui.tools.registry import AnyTool
from coder_tui.workspace.files.confine import Workspace
from coder_tui.workspace.search.search import Search, search_program

LIMIT = 1.3
RG = search_program()[0]
WORDS = ("alpha", "beta", "return", "value", "config", "parse", "index", "buffer", "token", "stream", "error")


@dataclass(frozen=True, slots=True)
class Case:
    """One question for ripgrep (its arguments) and for a tool (its parameters)."""

    tool: str
    arguments: JsonObject
    ripgrep: tuple[str, ...]


CASES = (
    Case("grep", {"pattern": "rare_needle_\\d+"}, ("-n", "rare_needle_\\d+")),
    Case("grep", {"pattern": "needle", "max_matches": 2000}, ("-n", "needle")),
    Case(
        "grep", {"pattern": "NEEDLE", "ignore_case": True, "glob": "*.py"}, ("-n", "-i", "NEEDLE", "-g*.py")
    ),
    Case("grep", {"pattern": "no such thing"}, ("-n", "no such thing")),
    Case("grep", {"pattern": "(a+)+$"}, ("-n", "(a+)+$")),
    Case("grep", {"pattern": "value"}, ("-n", "value")),
    Case("glob", {"pattern": "**/*.toml"}, ("--files", "-g*.toml")),
    Case("glob", {"pattern": "*_7.py"}, ("--files", "-g*_7.py")),
    Case("glob", {"pattern": "**/*"}, ("--files",)),
)


def plant(root: Path, files: int) -> None:
    """Create a project of many small files, with a repository, ignored output and a few odd ones."""
    (root / ".git").mkdir()
    (root / ".gitignore").write_text("build/\n*.log\n")
    for number in range(files):
        suffix = "toml" if number % 40 == 0 else "py"
        folder = root / f"pkg{number % 23}" / f"mod{number % 211}"
        folder.mkdir(parents=True, exist_ok=True)
        lines = [f"{WORDS[(number * 7 + at * 3) % len(WORDS)]} = {number * at}" for at in range(120)]
        if number % 10 == 0:
            lines[60] = f"    needle({number})"
        if number % 500 == 0:
            lines[61] = f"    rare_needle_{number}()"
        (folder / f"file_{number}.{suffix}").write_text("\n".join(lines) + "\n")
    for number in range(files // 10):
        (root / "build").mkdir(exist_ok=True)
        (root / "build" / f"out{number}.js").write_text("needle\n")


def ripgrep(root: Path, case: Case) -> list[str]:
    command = [RG, "--no-config", "--hidden", "--glob=!.git", *case.ripgrep, "."]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    lines = [line.removeprefix("./") for line in done.stdout.splitlines()]
    if case.tool == "grep":
        lines = [":".join(line.split(":", 2)[:2]) for line in lines]
    return sorted(lines)


def result_lines(case: Case, result: JsonObject) -> list[str]:
    if case.tool == "glob":
        return sorted(result["matches"])
    return sorted(f"{match['path']}:{match['line']}" for match in result["matches"])


async def seconds(action: Callable[[], Awaitable[object]]) -> float:
    began = time.perf_counter()
    await action()
    return time.perf_counter() - began


async def measure(root: Path, case: Case, rounds: int) -> float:
    """Print a row and return the ratio; both take turns, so that a noisy moment hits both."""
    workspace, search = Workspace(root), Search(search_program())
    tool: AnyTool = GrepTool(workspace, search) if case.tool == "grep" else GlobTool(workspace, search)
    params = tool.params.model_validate(case.arguments)
    context = ToolContext("bench", "call", root)

    async def theirs() -> list[str]:
        return await asyncio.to_thread(ripgrep, root, case)

    expected, result = await theirs(), (await tool.run(params, context)).for_model
    found = result_lines(case, result)
    is_same = found == expected if not result["truncated"] else set(found) <= set(expected)
    if not is_same:
        sys.exit(f"{case}: {len(found)} matches here, {len(expected)} by ripgrep")
    pairs = [(await seconds(theirs), await seconds(lambda: tool.run(params, context))) for _ in range(rounds)]
    rg, ours = (statistics.median(pair[side] for pair in pairs) for side in (0, 1))
    print(
        f"{case.tool} {' '.join(case.ripgrep):<28} rg {rg * 1000:7.1f} ms   ours {ours * 1000:7.1f} ms   "
        f"{ours / rg:5.2f} ×   {len(found)}{'+' if result['truncated'] else ''} matches"
    )
    return ours / rg


def run(files: int, rounds: int) -> int:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder).resolve()
        plant(root, files)
        ratios = [asyncio.run(measure(root, case, rounds)) for case in CASES]
    print(f"largest ratio {max(ratios):.2f}, median {statistics.median(ratios):.2f}, allowed {LIMIT}")
    return int(max(ratios) > LIMIT)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--files", type=int, default=8_500)
    parser.add_argument("--rounds", type=int, default=15)
    options = parser.parse_args()
    sys.exit(run(options.files, options.rounds))
