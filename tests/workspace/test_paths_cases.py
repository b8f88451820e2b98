"""No path leads out of the workspace, blocks, or writes what was not meant: one table, the real runner."""

import json
import os
from pathlib import Path

import pytest

from coder_tui.bootstrap.setup import Setup
from coder_tui.protocol.access import Mode
from tests.fakes.real_tools import ALLOW, RealTools, setup_in
from tests.workspace.path_cases import CASES, DENIED, NOT_A_FILE, OK, PATCHED, SECRET, Case, make_tree

Contents = dict[str, bytes]


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    base = tmp_path_factory.mktemp("paths")
    make_tree(base)
    return base


@pytest.fixture(scope="module")
def setup(base: Path) -> Setup:
    return setup_in(base, base / "ws", Mode.EDITS)


def outside(base: Path) -> Contents:
    """Return everything outside the workspace except the program's own log."""
    files = (path for name in ("out", "ws-evil", "w") for path in (base / name, *(base / name).rglob("*")))
    return {str(path): path.read_bytes() if path.is_file() else b"" for path in files}


def test_the_table_is_large_enough() -> None:
    assert len(CASES) >= 120


@pytest.mark.parametrize("case", CASES, ids=str)
async def test_a_path_gets_its_due(case: Case, base: Path, setup: Setup) -> None:
    before = outside(base)
    path = case.path.format(base=base, root=base / "ws")
    tools = RealTools(setup)

    result = await tools.call(case.tool, path=path, **dict(case.more))

    outcome = "ok" if result["ok"] else result["error"]["type"]
    assert (outcome, outside(base)) == (case.outcome, before), result
    assert SECRET not in json.dumps(result).replace(json.dumps(dict(case.more)), "")


UNIFIED = "--- /dev/null\n+++ {path}\n@@ -0,0 +1 @@\n+new\n"
ENVELOPE = "*** Begin Patch\n*** Add File: {path}\n+new\n*** End Patch\n"


@pytest.mark.parametrize(("tool", "form"), [("patch", UNIFIED), ("apply_patch", ENVELOPE)])
@pytest.mark.parametrize(("path", "outcome"), PATCHED.items())
async def test_a_path_in_a_patch_gets_its_due_and_takes_the_others_with_it(
    tool: str, form: str, path: str, outcome: str, base: Path, setup: Setup
) -> None:
    before = outside(base)
    fellow = base / f"ws/fellow-{tool}-{len(path)}.txt"
    name = path.format(base=base, root=base / "ws")
    name = name.replace("patched.txt", f"patched-{tool}.txt")
    first = form.format(path=fellow.name).removesuffix("*** End Patch\n")
    second = form.format(path=name).removeprefix("*** Begin Patch\n")

    got = await RealTools(setup).outcome(tool, patch=first + second)

    assert (got, outside(base), fellow.exists()) == (outcome, before, outcome == OK)


OUTSIDE_FOR_ASKING = ("../out/secret.txt", "{root}-evil/x.txt", "link_file_out", "link_folder_out/secret.txt")


@pytest.mark.parametrize("path", OUTSIDE_FOR_ASKING)
async def test_outside_paths_are_read_if_the_user_allows_it(path: str, base: Path, setup: Setup) -> None:
    tools = RealTools(setup, lambda request: ALLOW)

    result = await tools.call("read", path=path.format(root=base / "ws"))

    assert (result["ok"], result.get("content"), len(tools.asked)) == (True, f"{SECRET} old", 1)


@pytest.mark.parametrize("path", ["link_file_out", "link_folder_out/new", "dangling_out", "chain_1/new"])
async def test_writing_through_a_link_that_leads_out_is_never_allowed(
    path: str, base: Path, setup: Setup
) -> None:
    before = outside(base)
    tools = RealTools(setup, lambda request: ALLOW)

    outcome = await tools.outcome("write", path=path, content="x")

    assert (outcome, tools.asked, outside(base)) == (DENIED, [], before)


@pytest.mark.parametrize(
    ("path", "outcome"),
    [
        ("/proc/self/environ", DENIED),
        ("link_environ", DENIED),
        ("/dev/zero", NOT_A_FILE),
        ("pipe", NOT_A_FILE),
    ],
)
async def test_reading_what_is_not_a_file_is_never_allowed(path: str, outcome: str, setup: Setup) -> None:
    assert await RealTools(setup, lambda request: ALLOW).outcome("read", path=path) == outcome


async def test_a_file_with_another_name_is_reported_and_only_this_name_is_changed(
    tmp_path: Path,
) -> None:
    root = make_tree(tmp_path)
    tools = RealTools(setup_in(tmp_path, root, Mode.ASK), lambda request: ALLOW)

    outcome = await tools.outcome("edit", path="hard.txt", old_string="inside", new_string="changed")

    facts = [fact for request in tools.asked for fact in request.facts]
    assert outcome == OK
    assert "The file has 2 hard links; the others keep the old content." in facts
    assert (tmp_path / "out/linked.txt").read_text() == "a name inside, too\n"


async def test_a_name_that_is_not_text_is_listed_and_searched_without_harm(setup: Setup, base: Path) -> None:
    tools = RealTools(setup)

    listed = await tools.call("list", path=".")
    found = await tools.call("glob", pattern="caf*")

    assert "caf\ufffd.txt" in [item["name"] for item in listed["items"]]
    assert found["ok"]
    assert os.fsdecode(b"caf\xff.txt") in os.fsdecode(b"\0".join(map(os.fsencode, (base / "ws").iterdir())))
