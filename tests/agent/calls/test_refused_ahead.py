"""A refusal that is known from the tool alone comes before anything that can fail."""

from pathlib import Path

import pytest

from coder_tui.protocol.access import Mode
from tests.fakes.real_tools import RealTools, setup_in

EDIT = {"path": "missing.txt", "old_string": "a", "new_string": "b"}
FAILING = [
    ("git_commit", {"message": "x"}),
    ("git_add", {"path": "missing.txt"}),
    ("edit", EDIT),
    ("apply_patch", {"patch": "*** Begin Patch\n*** Delete File: missing.txt\n*** End Patch\n"}),
]
DENY = '[permission]\ngit_commit = "deny"\ngit_add = "deny"\nedit = "deny"\n'
DENY_BUT = '[permission.edit]\n"*" = "deny"\n"missing*" = "allow"\n'


def tools(tmp_path: Path, mode: Mode, config: str) -> RealTools:
    """The tools of a folder that is no repository and has no files."""
    (tmp_path / "project").mkdir()
    (tmp_path / "config").mkdir()
    (tmp_path / "config/config.toml").write_text(config)
    return RealTools(setup_in(tmp_path, tmp_path / "project", mode))


@pytest.mark.parametrize(("mode", "config"), [(Mode.PLAN, ""), (Mode.ASK, DENY)], ids=["plan", "rule"])
@pytest.mark.parametrize(("tool", "arguments"), FAILING)
async def test_what_is_refused_is_not_prepared(
    tmp_path: Path, mode: Mode, config: str, tool: str, arguments: dict[str, str]
) -> None:
    made = tools(tmp_path, mode, config)

    assert await made.outcome(tool, **arguments) == "permission_denied"


async def test_a_rule_with_exceptions_is_decided_by_what_the_call_touches(tmp_path: Path) -> None:
    made = tools(tmp_path, Mode.ASK, DENY_BUT)

    assert await made.outcome("edit", **EDIT) == "file_not_found"
