"""Why a server does not check a file, and how that is reported."""

from dataclasses import replace
from pathlib import Path

import pytest

from coder_tui.lsp.pool import FileProblems
from coder_tui.lsp.report import Report
from coder_tui.lsp.selection import MOST_FOLDERS, NO_SANDBOX
from coder_tui.lsp.servers import Catalog, ServerSpec
from coder_tui.protocol.diagnostics import ServerStatus
from coder_tui.shell.sandbox.sandbox import SandboxKind, SandboxStatus
from tests.fakes.lsp_pools import FAKE, fake_server, faked, only, pool_in

HINT = "bash-language-server not installed, run: npm i -g bash-language-server && apt install shellcheck"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "w").mkdir()
    return tmp_path / "w"


async def test_a_missing_server_is_reported_with_its_install_command(root: Path) -> None:
    pool = pool_in(root, only("bash-language-server"), path="")
    file = root / "a.sh"
    file.write_text("echo\n")
    assert await pool.diagnostics(file, "echo\n") == FileProblems(ServerStatus.NOT_INSTALLED, (), 0, HINT)
    assert await pool.after_change([file]) == Report(ServerStatus.NOT_INSTALLED, detail=HINT)
    assert await pool.check_proposed(file, "echo $x\n") == Report(ServerStatus.NOT_INSTALLED, detail=HINT)
    assert pool._hosting.pid is None


async def test_a_script_without_a_suffix_is_known_by_its_first_line(root: Path) -> None:
    pool = pool_in(root, only("bash-language-server"), path="")
    found = await pool.diagnostics(root / "configure", "#!/usr/bin/env -S bash -e\necho\n")
    assert found.status is ServerStatus.NOT_INSTALLED


async def test_a_file_of_unknown_type_has_no_server(root: Path) -> None:
    found = await pool_in(root).diagnostics(root / "a.xyz", "what\n")
    assert found == FileProblems(
        ServerStatus.UNSUPPORTED, (), 0, "no language server is known for this type of file"
    )


async def test_no_server_starts_in_a_folder_that_waits_for_trust(root: Path) -> None:
    answer = ["it waits for trust"]
    pool = pool_in(root, faked(), distrust=lambda: answer[0])
    try:
        found = await pool.diagnostics(root / "a.py", "bad\n")
        assert found == FileProblems(ServerStatus.UNTRUSTED, (), 0, "fake: it waits for trust")
        assert pool._hosting.pid is None
        answer[0] = ""
        assert (await pool.diagnostics(root / "a.py", "bad\n")).status is ServerStatus.FRESH
    finally:
        await pool.close()


@pytest.mark.parametrize("is_chosen", [False, True])
async def test_a_server_that_runs_project_code_needs_a_sandbox_or_the_users_consent(
    root: Path, is_chosen: bool
) -> None:
    fake = fake_server()
    eager = ServerSpec("eager", "py", fake.command, is_default=True, runs_project_code=True)
    status = SandboxStatus(SandboxKind.NONE, "none here", is_chosen=is_chosen)
    pool = pool_in(root, Catalog((eager,)), status=status)
    try:
        found = await pool.diagnostics(root / "a.py", "bad\n")
    finally:
        await pool.close()
    if is_chosen:
        assert found.status is ServerStatus.FRESH
    else:
        assert found == FileProblems(ServerStatus.UNTRUSTED, (), 0, f"eager: {NO_SANDBOX}")


async def test_a_missing_default_does_not_hide_what_another_server_says(root: Path) -> None:
    missing = ServerSpec("missing", "py", ("no-such-server",), install="get it", is_default=True)
    pool = pool_in(root, Catalog((missing, fake_server())))
    try:
        found = await pool.diagnostics(root / "a.py", "bad\n")
    finally:
        await pool.close()
    assert (found.status, len(found.items)) == (ServerStatus.FRESH, 1)


@pytest.mark.parametrize("is_restarted", [True, False])
async def test_a_checker_installed_later_is_used(
    root: Path, is_restarted: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    programs = root.parent / "programs"
    programs.mkdir()
    spec = replace(fake_server(), checkers=("linter",), checker_hint="get linter")
    pool = pool_in(root, Catalog((spec,)), path=str(programs))
    text = "bad\n"
    try:
        found = await pool.diagnostics(root / "a.py", text)
        assert (found.status, found.detail) == (
            ServerStatus.LINTER_MISSING,
            "linter is missing, run: get linter",
        )
        (before,) = await pool.servers()
        (programs / "linter").write_text("#!/bin/sh\n")
        (programs / "linter").chmod(0o755)
        if is_restarted:
            assert await pool.restart("fake")
        else:
            monkeypatch.setattr("coder_tui.lsp.selection._LOOK_AGAIN", 0.0)
            monkeypatch.setattr("coder_tui.lsp.selection._HOLDS", 0.0)
        found = await pool.diagnostics(root / "a.py", text)
        (after,) = await pool.servers()
        assert (found.status, found.detail) == (ServerStatus.FRESH, "")
        assert (after.status, after.pid != before.pid) == (ServerStatus.FRESH, True)
    finally:
        await pool.close()


async def test_a_server_that_replaces_another_is_used_alone(root: Path) -> None:
    command = fake_server().command
    old = ServerSpec("old", "py", command)
    new = ServerSpec("new", "py", command, replaces="old")
    assert FAKE.exists()
    selected = await pool_in(root, Catalog((old, new)))._selector.for_file(root / "a.py", "")
    assert [chosen.spec.name for chosen in selected.servers] == ["new"]


async def test_a_server_runs_in_a_few_folders_and_beyond_them_in_the_whole(root: Path) -> None:
    spec = replace(fake_server(), markers=("project",))
    selector = pool_in(root, Catalog((spec,)))._selector
    folders = [root / f"p{number:02}" for number in range(MOST_FOLDERS + 3)]
    roots: list[str] = []
    for folder in folders:
        folder.mkdir()
        (folder / "project").touch()
        roots += [order.root for order in (await selector.for_file(folder / "a.py", "")).orders]
    assert roots == [*map(str, folders[:MOST_FOLDERS]), *[str(root)] * 3]
