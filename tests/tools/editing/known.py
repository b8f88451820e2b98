"""Rows of behaviors that the test suites of other coding agents check.

`peers` names the suites; `git` stands for GNU patch, too. `differs` says why we do something else on
purpose.
"""

from pathlib import Path
from typing import NamedTuple

from coder_tui.protocol.errors import ErrorType, ToolError
from tests.tools.calling import Bench
from tests.tools.patching import tree

Files = dict[str, str]


class Edit(NamedTuple):
    behavior: str
    peers: str
    before: str | None
    old: str
    new: str
    after: str | ErrorType
    replace_all: bool = False
    differs: str = ""


class Patch(NamedTuple):
    """`{root}` in the patch stands for the workspace."""

    behavior: str
    peers: str
    before: str | Files
    patch: str
    after: str | Files | ErrorType
    differs: str = ""


def name_of(row: Edit | Patch) -> str:
    return row.behavior


async def outcome(bench: Bench, tool: str, **arguments: object) -> Files | ErrorType:
    """Return all files after the call, or why it was refused; a refusal changes nothing."""
    before = tree(bench.root)
    try:
        await bench.call(tool, **arguments)
    except ToolError as error:
        assert tree(bench.root) == before
        return error.type
    return text_of(bench.root)


def text_of(root: Path) -> Files:
    return {name: content.decode() for name, content in tree(root).items()}


def as_files(text: str | Files) -> Files:
    return {"a.txt": text} if isinstance(text, str) else text


async def patched(bench: Bench, tool: str, row: Patch) -> Files | ErrorType:
    for name, text in as_files(row.before).items():
        bench.put(name, text)
    return await outcome(bench, tool, patch=row.patch.replace("{root}", str(bench.root)))


def expected(row: Patch) -> Files | ErrorType:
    return row.after if isinstance(row.after, ErrorType) else as_files(row.after)
