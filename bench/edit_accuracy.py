"""Measure how often edits and patches are right, through the same runner as `coder-tui tool call --stdin`.

As a candidate of `edit_replay.py` it reads cases from standard input:
    edit_replay.py run --repo DIR --candidate 'ours=python -m bench.edit_accuracy'
As a driver it runs that tool, found at the path it is given, with itself as the candidate:
    python -m bench.edit_accuracy --replay edit_replay.py --repo DIR [--repo DIR] [--n 40] [--seed 1]
"""

import argparse
import asyncio
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from coder_tui.agent.event_bus import EventBus
from coder_tui.bootstrap.prepare import load_setup
from coder_tui.bootstrap.setup import Setup
from coder_tui.bootstrap.toolset import build_tools_alone
from coder_tui.config.paths import find_directories
from coder_tui.config.sources import find_sources
from coder_tui.protocol.access import Mode
from coder_tui.protocol.messages import ToolCall
from coder_tui.protocol.todos import TodoItem
from coder_tui.tools.builtin.todo import TodoList

ROOT = Path(__file__).resolve().parents[1]
MEMORY = Path("/dev/shm")


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--replay", type=Path, help="where edit_replay.py is; without it, be a candidate")
    arguments, rest = parser.parse_known_args()
    if arguments.replay:
        return drive(arguments.replay, rest)
    # In memory if possible, because the disk's sync is not what is measured.
    with tempfile.TemporaryDirectory(dir=MEMORY if MEMORY.is_dir() else None) as scratch:
        asyncio.run(answer_all(Path(scratch).resolve()))
    return 0


def drive(replay: Path, rest: list[str]) -> int:
    candidate = f"ours={sys.executable} -m bench.edit_accuracy"
    command = [sys.executable, str(replay.resolve()), "run", *rest, "--candidate", candidate]
    return subprocess.run(command, check=False, env={**os.environ, "PYTHONPATH": str(ROOT)}).returncode


async def answer_all(scratch: Path) -> None:
    setup = scratch_setup(scratch)
    for number, line in enumerate(sys.stdin):
        case = json.loads(line)
        folder = scratch / str(number)
        print(json.dumps({"id": case["id"], **await answer(replace(setup, directory=folder), case)}))
        shutil.rmtree(folder)


def scratch_setup(scratch: Path) -> Setup:
    """Default settings, nothing from the user, and no language servers."""
    environ = {f"CODER_TUI_{name}_DIR": str(scratch / name.lower()) for name in ("DATA", "CONFIG", "CACHE")}
    environ["HOME"] = str(scratch)
    environ["CODER_TUI_LSP"] = '{"*": {"enabled": false}}'
    directories = find_directories(environ)
    return load_setup(
        scratch, directories, find_sources(directories, scratch, environ, {}, None), environ, Mode.EDITS
    )


async def keep(items: tuple[TodoItem, ...]) -> None:
    """Nothing here writes todos."""


async def answer(setup: Setup, case: dict[str, Any]) -> dict[str, Any]:
    before: dict[str, str] = case["files"]
    for name, text in before.items():
        path = setup.directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
    setup.directory.mkdir(exist_ok=True)
    bench = build_tools_alone(setup, EventBus(), TodoList("bench", keep))
    call = ToolCall(case["id"], case["kind"], json.dumps(case["args"]))
    result = json.loads((await bench.runner.execute(call, "")).content)
    if not result["ok"]:
        return {"ok": False, "error": result["error"]}
    after = dict(files_in(setup.directory))
    changed = {name: text for name, text in after.items() if before.get(name) != text}
    return {"ok": True, "files": {**changed, **{name: None for name in before if name not in after}}}


def files_in(folder: Path) -> Iterator[tuple[str, str]]:
    for path in folder.rglob("*"):
        if path.is_file():
            yield str(path.relative_to(folder)), path.read_bytes().decode()


if __name__ == "__main__":
    raise SystemExit(main())
