"""Which programs are used as servers, and in which folder."""

import json
import os
from pathlib import Path

import pytest

from coder_tui.lsp.find_server import Places, find_program, find_root, missing_checker
from coder_tui.lsp.servers import KNOWN, ServerSpec
from tests.fakes.python_program import write_program

NAMED = {spec.name: spec for spec in KNOWN}
SPEC = ServerSpec("some", "py", ("some-server", "--stdio"))


def program(path: Path, text: str = "#!/bin/sh\n") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


def places(root: Path, path: Path, *, trusted: bool = False) -> Places:
    return Places(root, root.parent / "installed", str(path), uses_project_programs=trusted)


def test_a_program_of_the_project_is_used_only_where_the_project_is_trusted(tmp_path: Path) -> None:
    root = tmp_path / "w"
    theirs = program(root / "node_modules" / ".bin" / "some-server")
    assert find_program(SPEC, root, places(root, tmp_path / "bin")) == ""
    assert find_program(SPEC, root, places(root, tmp_path / "bin", trusted=True)) == str(theirs)


def test_our_own_installation_comes_before_the_systems(tmp_path: Path) -> None:
    system = program(tmp_path / "bin" / "some-server")
    where = places(tmp_path / "w", tmp_path / "bin")
    assert find_program(SPEC, tmp_path / "w", where) == str(system)
    own = program(tmp_path / "installed" / "node" / "node_modules" / ".bin" / "some-server")
    assert find_program(SPEC, tmp_path / "w", where) == str(own)


def test_relative_folders_on_the_path_are_ignored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program(tmp_path / "w" / "bin" / "some-server")
    monkeypatch.chdir(tmp_path / "w")
    assert find_program(SPEC, tmp_path / "w", places(tmp_path / "w", Path("bin"))) == ""


def test_a_command_with_a_slash_is_relative_to_the_workspace(tmp_path: Path) -> None:
    found = program(tmp_path / "w" / "tools" / "server")
    spec = ServerSpec("some", "py", ("./tools/server",))
    assert find_program(spec, tmp_path / "w", places(tmp_path / "w", tmp_path)) == str(found)


@pytest.mark.parametrize(("version", "is_used"), [("7.0.2", True), ("5.9.3", False), ("what?", False)])
def test_tsc_is_a_server_from_version_7_on(tmp_path: Path, version: str, is_used: bool) -> None:
    root = tmp_path / "w"
    found = program(root / "node_modules" / ".bin" / "tsc")
    package = root / "node_modules" / "typescript" / "package.json"
    package.parent.mkdir()
    package.write_text(json.dumps({"version": version}))
    expected = str(found) if is_used else ""
    assert find_program(NAMED["tsc"], root, places(root, tmp_path, trusted=True)) == expected


def test_the_nearest_folder_with_a_marker_is_the_root_but_none_above_the_workspace(tmp_path: Path) -> None:
    workspace = tmp_path / "w"
    inner = workspace / "packages" / "one"
    (inner / "src").mkdir(parents=True)
    (tmp_path / "pyproject.toml").touch()
    spec = NAMED["pylsp"]
    assert find_root(spec, inner / "src" / "a.py", workspace) == workspace
    (inner / "pyproject.toml").touch()
    assert find_root(spec, inner / "src" / "a.py", workspace) == inner
    assert find_root(spec, tmp_path / "other" / "a.py", workspace) == workspace


def test_projects_that_belong_together_have_their_common_folder_as_root(tmp_path: Path) -> None:
    for name in ("crates/one", "mod/inner", "alone"):
        (tmp_path / name).mkdir(parents=True)
    for name in ("crates/one/Cargo.toml", "alone/Cargo.toml", "mod/go.mod"):
        (tmp_path / name).write_text("[package]\n")
    rust, go = NAMED["rust-analyzer"], NAMED["gopls"]
    member, module = tmp_path / "crates" / "one" / "lib.rs", tmp_path / "mod" / "inner" / "a.go"
    assert find_root(rust, member, tmp_path) == member.parent
    assert find_root(go, module, tmp_path) == tmp_path / "mod"
    (tmp_path / "crates" / "Cargo.toml").write_text("[workspace]\nmembers = ['one']\n")
    (tmp_path / "go.work").touch()
    assert find_root(rust, member, tmp_path) == tmp_path / "crates"
    assert find_root(rust, tmp_path / "alone" / "main.rs", tmp_path) == tmp_path / "alone"
    assert find_root(go, module, tmp_path) == tmp_path


def test_files_of_a_deno_project_are_not_for_the_typescript_server(tmp_path: Path) -> None:
    (tmp_path / "deno.json").touch()
    assert find_root(NAMED["typescript-language-server"], tmp_path / "a.ts", tmp_path) is None


def test_a_server_without_its_checker_says_how_to_get_it(tmp_path: Path) -> None:
    spec = NAMED["bash-language-server"]
    assert (
        missing_checker(spec, "", {"PATH": str(tmp_path)})
        == "shellcheck is missing, run: apt install shellcheck"
    )
    program(tmp_path / "shellcheck")
    assert missing_checker(spec, "", {"PATH": str(tmp_path)}) == ""


def test_a_pylsp_whose_python_has_no_checkers_says_so(tmp_path: Path) -> None:
    spec = NAMED["pylsp"]
    with_all = write_program(tmp_path / "pylsp", "")
    assert missing_checker(spec, str(with_all), os.environ) == ""
    bare = ServerSpec("pylsp", "py", ("pylsp",), modules=("no_such_checker",), checker_hint="pip install it")
    assert missing_checker(bare, str(with_all), os.environ) == (
        "its checkers are missing, run: pip install it"
    )
    assert missing_checker(spec, str(program(tmp_path / "other", "\x7fELF")), os.environ) == ""
