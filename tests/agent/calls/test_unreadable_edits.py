"""A rule that keeps a file from being read also keeps edits from showing it."""

import json
from pathlib import Path

import pytest

from coder_tui.protocol.access import Mode
from coder_tui.protocol.requests import ApprovalReply, Decision
from tests.fakes.real_tools import RealTools, setup_in

SECRET = "line one\nhidden words\nline three\n"
MISFIT = "@@\n line one\n-?\n+x\n line three\n"
ENVELOPE = f"*** Begin Patch\n*** Update File: open.txt\n@@\n-a\n+b\n*** Update File: private/x.txt\n{MISFIT}"
FITTING = "*** Begin Patch\n*** Update File: private/x.txt\n@@\n-line one\n+x\n*** End Patch\n"
UNIFIED = "--- a/private/x.txt\n+++ b/private/x.txt\n@@ -1,3 +1,3 @@\n line one\n-?\n+x\n line three\n"
EDIT: dict[str, object] = {
    "path": "private/x.txt",
    "old_string": "line one\n?\nline three",
    "new_string": "x",
}
CALLS: list[tuple[str, dict[str, object]]] = [
    ("edit", EDIT),
    ("edit", {"path": "private/x.txt", "old_string": "line one", "new_string": "x"}),
    ("write", {"path": "private/x.txt", "content": "x\n"}),
    ("patch", {"patch": UNIFIED}),
    ("patch", {"patch": UNIFIED, "dry_run": True}),
    ("patch", {"patch": UNIFIED.replace("-?", "-hidden words"), "dry_run": True}),
    ("apply_patch", {"patch": ENVELOPE}),
    ("apply_patch", {"patch": FITTING}),
]


def tools(tmp_path: Path, config: str, mode: Mode) -> RealTools:
    project = tmp_path / "project"
    (project / "private").mkdir(parents=True)
    (project / "private/x.txt").write_text(SECRET)
    (project / "open.txt").write_text("a\n")
    (tmp_path / "config").mkdir()
    (tmp_path / "config/config.toml").write_text(config)
    return RealTools(setup_in(tmp_path, project, mode))


@pytest.mark.parametrize("mode", [Mode.ASK, Mode.EDITS])
@pytest.mark.parametrize("effect", ["deny", "ask"])
@pytest.mark.parametrize(("tool", "arguments"), CALLS)
async def test_the_result_shows_nothing_of_the_file(
    tmp_path: Path, mode: Mode, effect: str, tool: str, arguments: dict[str, object]
) -> None:
    """Nobody is there to approve, so a rule that asks refuses as well."""
    made = tools(tmp_path, f'[permission.read]\n"private/*" = "{effect}"\n', mode)

    result = await made.call(tool, **arguments)

    assert result["error"]["type"] == "permission_denied"
    assert "hidden" not in json.dumps(result)
    assert (tmp_path / "project/private/x.txt").read_text() == SECRET


async def test_after_an_approval_the_error_says_what_differs(tmp_path: Path) -> None:
    made = tools(tmp_path, '[permission.read]\n"private/*" = "ask"\n', Mode.EDITS)
    made.answer = lambda request: ApprovalReply(Decision.ALLOW_ONCE)

    result = await made.call("edit", **EDIT)

    assert (result["error"]["type"], len(made.asked)) == ("no_match", 1)
    assert "hidden words" in result["error"]["message"]


async def test_an_edit_that_cannot_be_made_is_not_asked_about(tmp_path: Path) -> None:
    made = tools(tmp_path, "", Mode.ASK)

    assert await made.outcome("edit", **EDIT) == "no_match"
    assert made.asked == []


async def test_a_rule_that_asks_for_everything_yields_to_the_mode(tmp_path: Path) -> None:
    made = tools(tmp_path, '[permission]\n"*" = "ask"\n', Mode.EDITS)

    assert await made.outcome("edit", path="private/x.txt", old_string="one", new_string="1") == "ok"
