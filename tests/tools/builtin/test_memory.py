"""A fact is added to instructions that sessions read: shown first, never a secret, nothing else touched."""

import json
from pathlib import Path
from typing import Any

import pytest

from coder_tui.protocol.access import TargetKind
from coder_tui.protocol.display import DiffBlock
from coder_tui.protocol.errors import ToolError
from coder_tui.text.redact import BY_SHAPE
from coder_tui.tools.arguments import parse_call
from coder_tui.tools.base import ToolContext
from coder_tui.tools.builtin.memory import OWN, MemoryTool, with_fact
from coder_tui.workspace.files.confine import Workspace
from coder_tui.workspace.files.text import ReadLedger

SECRET = "sk-ant-" + "a1B2c3D4e5" * 4


def context(root: Path) -> ToolContext:
    return ToolContext("session", "call", root)


def tool(root: Path, own: Path, *, reads_project: bool) -> MemoryTool:
    return MemoryTool(Workspace(root), ReadLedger(), own, BY_SHAPE, reads_project=reads_project)


def params(made: MemoryTool, fact: str) -> Any:
    return parse_call(made, json.dumps({"fact": fact}))[1]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", "## Remembered\n\n- new\n"),
        ("# Project\n", "# Project\n\n## Remembered\n\n- new\n"),
        ("## Remembered\n\n- old\n", "## Remembered\n\n- old\n- new\n"),
        ("## Remembered\n\n- old\n\n## Rest\n", "## Remembered\n\n- old\n- new\n\n## Rest\n"),
        ("## Remembered\r\n\r\n- old\r\n", "## Remembered\r\n\r\n- old\r\n- new\r\n"),
    ],
    ids=["empty", "no list", "list", "list in the middle", "crlf"],
)
def test_a_fact_is_the_last_of_its_list(before: str, after: str) -> None:
    assert with_fact(before, "new") == after


async def test_the_projects_file_is_used_where_sessions_read_it(tmp_path: Path) -> None:
    root, own = tmp_path / "p", tmp_path / "own"
    root.mkdir()
    (root / "CLAUDE.md").write_text("# Here\n")
    made = tool(root, own, reads_project=True)
    given = params(made, "tests run by make check")

    access = await made.access(given, context(root))
    result = await made.run(given, context(root))

    assert [(target.kind, target.value) for target in access.targets] == [
        (TargetKind.PATH, str(root / "CLAUDE.md"))
    ]
    assert isinstance(access.preview, DiffBlock)
    assert result.for_model == {"ok": True, "path": "CLAUDE.md"}
    assert (root / "CLAUDE.md").read_text().endswith("- tests run by make check\n")
    assert not own.exists()


async def test_otherwise_the_users_own_file_is_used(tmp_path: Path) -> None:
    root, own = tmp_path / "p", tmp_path / "own"
    root.mkdir()
    (root / "AGENTS.md").write_text("# Not trusted\n")
    made = tool(root, own, reads_project=False)
    given = params(made, "  prefers\ntabs ")

    access = await made.access(given, context(root))
    assert not own.exists(), "nothing is made before it is allowed"
    await made.run(given, context(root))

    assert [(target.kind, target.value) for target in access.targets] == [(TargetKind.NAME, OWN)]
    assert (own / "AGENTS.md").read_text() == "## Remembered\n\n- prefers tabs\n"
    assert (root / "AGENTS.md").read_text() == "# Not trusted\n"


async def test_a_secret_is_refused(tmp_path: Path) -> None:
    made = tool(tmp_path, tmp_path / "own", reads_project=False)
    with pytest.raises(ToolError, match="A secret must not be written"):
        await made.access(params(made, f"the key is {SECRET}"), context(tmp_path))
    assert not (tmp_path / "own").exists()


@pytest.mark.parametrize("fact", ["", "  \n ", "x" * 3000], ids=["empty", "blank", "long"])
def test_an_invalid_fact_is_refused(tmp_path: Path, fact: str) -> None:
    with pytest.raises(ToolError, match="invalid args"):
        params(tool(tmp_path, tmp_path, reads_project=False), fact)
