"""Commands are confined by what works here, and it is reported if they cannot be."""

import asyncio
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from coder_tui.protocol.errors import ErrorType, ToolError
from coder_tui.shell.sandbox import bubblewrap, sandbox
from coder_tui.shell.sandbox.confinement import NOTHING_MORE, Confinement
from coder_tui.shell.sandbox.sandbox import SandboxKind, SandboxSetting, SandboxStatus, probe
from tests.fakes.shells import (
    BUBBLEWRAP,
    LANDLOCK,
    UNCONFINED,
    folders_in,
    sandbox_for,
    shell_for,
    skip_without_sandbox,
)

needs_bubblewrap = pytest.mark.needs("bubblewrap")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "home").mkdir()
    (tmp_path / "ws").mkdir()
    return tmp_path / "ws"


async def said(root: Path, command: str, confinement: Confinement = NOTHING_MORE) -> str:
    """Return the output of a command, both streams, confined by bubblewrap."""
    shell = shell_for(root, BUBBLEWRAP)
    try:
        done = await shell.run(
            command, confinement, name="call", time_limit=30.0, on_output=lambda text: None
        )
    finally:
        await shell.close()
    return done.output


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def kind_found(tmp_path: Path, setting: SandboxSetting) -> SandboxStatus:
    return probe(setting, (tmp_path,), folders_in(tmp_path / "own"), tmp_path)


@needs_bubblewrap
def test_bubblewrap_is_used_if_it_works(tmp_path: Path) -> None:
    status = kind_found(tmp_path, SandboxSetting.AUTO)

    assert (status.kind, status.detail, status.guards_everything) == (SandboxKind.BUBBLEWRAP, "", True)
    assert list(tmp_path.iterdir()) == [tmp_path / "own"]


def test_without_bubblewrap_landlock_is_used_and_reports_what_it_cannot_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sandbox, "find_bubblewrap", lambda roots: "")

    status = kind_found(tmp_path, SandboxSetting.AUTO)

    assert (status.kind, status.guards_everything) == (SandboxKind.LANDLOCK, False)
    assert status.detail == "bubblewrap is not installed; .git is not protected"
    assert "apt install bubblewrap" in status.fix


def test_with_neither_the_reason_and_the_fix_are_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = tmp_path / "bwrap"
    broken.write_text("#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2\nexit 1\n")
    broken.chmod(0o755)
    monkeypatch.setattr(sandbox, "find_bubblewrap", lambda roots: str(broken))
    monkeypatch.setattr(sandbox, "landlock_version", lambda: 0)

    status = kind_found(tmp_path, SandboxSetting.AUTO)

    reason = "bubblewrap does not work here: bwrap: No permissions to create new namespace"
    assert (status.kind, status.detail) == (SandboxKind.NONE, reason)
    assert status.describe().startswith(f"none: {reason} (sysctl -w ")


def test_it_can_be_switched_off(tmp_path: Path) -> None:
    status = kind_found(tmp_path, SandboxSetting.OFF)

    assert status.describe() == "none: switched off by the setting bash.sandbox"


def test_a_bubblewrap_inside_the_workspace_is_never_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    planted = tmp_path / "bwrap"
    planted.write_text("#!/bin/sh\n")
    planted.chmod(0o755)
    monkeypatch.setattr(bubblewrap, "_PLACES", ())
    monkeypatch.setenv("PATH", str(tmp_path))

    assert bubblewrap.find_bubblewrap((tmp_path,)) == ""
    assert bubblewrap.find_bubblewrap((tmp_path / "elsewhere",)) == str(planted)


def test_required_without_a_sandbox_runs_nothing(root: Path) -> None:
    strict = sandbox_for(root, UNCONFINED, setting=SandboxSetting.REQUIRED)

    with pytest.raises(ToolError) as raised, strict.launch(("true",), {}, NOTHING_MORE):
        pass

    assert raised.value.type is ErrorType.NOT_INSTALLED
    assert "set bash.sandbox to 'auto'" in raised.value.hint


@pytest.mark.parametrize(
    ("confinement", "words"),
    [
        (NOTHING_MORE, "bubblewrap: no network, writes only here"),
        (Confinement(network=True), "bubblewrap: with network, writes only here"),
        (
            Confinement(files=("/srv/a",), git=("/ws/.git",)),
            "bubblewrap: no network, writes here and /srv/a, /ws/.git",
        ),
    ],
)
def test_an_approval_says_how_a_command_is_confined(confinement: Confinement, words: str) -> None:
    assert BUBBLEWRAP.describe(confinement) == words


@needs_bubblewrap
async def test_guarded_names_that_are_missing_cannot_be_created_and_nothing_is_left(root: Path) -> None:
    printed = await said(root, "touch .envrc .mcp.json; mkdir .vscode/x; echo inside > made")

    assert printed.count("Read-only file system") >= 2
    assert names_in(root) == ["made"]


@needs_bubblewrap
async def test_git_sees_nothing_of_the_placeholders(root: Path) -> None:
    await asyncio.to_thread(subprocess.run, ["git", "init", "-q", str(root)], check=True)

    assert await said(root, "git status --porcelain --untracked-files=all") == ""


@needs_bubblewrap
async def test_a_repository_above_the_workspace_is_still_found(root: Path) -> None:
    await asyncio.to_thread(subprocess.run, ["git", "init", "-q", str(root)], check=True)
    (root / "part").mkdir()

    assert await said(root / "part", "git rev-parse --show-toplevel") == f"{root}\n"


@needs_bubblewrap
async def test_tmp_is_the_sessions_own_and_lasts_from_call_to_call(root: Path) -> None:
    shell = shell_for(root, BUBBLEWRAP)

    async def out(command: str) -> str:
        done = await shell.run(command, NOTHING_MORE, name="c", time_limit=30.0, on_output=lambda text: None)
        return done.output

    first = await out("echo kept > /tmp/note; cat /var/tmp/note")
    second = await out("cat /tmp/note; ls $TMPDIR | wc -l")
    place = root.parent / "cache" / "sandbox" / "tmp"
    during = names_in(place)
    await shell.close()

    assert (first, second.splitlines()[0]) == ("kept\n", "kept")
    assert (len(during), names_in(place)) == (1, [])


@needs_bubblewrap
async def test_a_named_file_outside_can_be_written_but_not_its_neighbors(root: Path) -> None:
    home = root.parent / "home"
    (home / "notes").write_text("old\n")
    (home / "other").write_text("as it was\n")
    named = Confinement(files=(str(home / "notes"), str(home / "new")))

    printed = await said(root, f"cd {home}; sed -i s/old/new/ notes; echo x > new; echo x > other", named)

    assert "other: Read-only file system" in printed
    assert [(home / name).read_text() for name in ("notes", "new", "other")] == [
        "new\n",
        "x\n",
        "as it was\n",
    ]


@needs_bubblewrap
async def test_a_named_folder_can_be_written_with_its_content(root: Path) -> None:
    folder = root.parent / "home" / "site"
    (folder / "deep").mkdir(parents=True)

    await said(root, f"echo x > {folder}/deep/a; rm -r {folder}/deep", Confinement(folders=(str(folder),)))

    assert names_in(folder) == []


@needs_bubblewrap
async def test_a_named_secret_is_visible_but_not_its_neighbors(root: Path) -> None:
    keys = root.parent / "home" / ".ssh"
    keys.mkdir()
    (keys / "config").write_text("Host a\n")
    (keys / "id_rsa").write_text("key\n")

    printed = await said(root, f"cat {keys}/config; ls {keys}", Confinement(visible=(str(keys / "config"),)))

    assert printed == "Host a\nconfig\n"


@needs_bubblewrap
async def test_a_worktree_commits_into_the_repository_that_points_back(root: Path) -> None:
    def git(*words: str) -> None:
        identity = ["-c", "user.name=a", "-c", "user.email=a@b"]
        subprocess.run(["git", *identity, *words], check=True, capture_output=True)

    main, tree = root.parent / "home" / "main", root / "tree"
    await asyncio.to_thread(git, "init", "-q", str(main))
    await asyncio.to_thread(git, "-C", str(main), "commit", "--allow-empty", "-qm", "first")
    await asyncio.to_thread(git, "-C", str(main), "worktree", "add", "-q", str(tree))
    commit = "git -c user.name=a -c user.email=a@b commit --allow-empty -qm second && git log --format=%s"

    refused = await said(tree, commit)
    allowed = await said(tree, commit, Confinement(git=(str(tree / ".git"),)))

    assert refused.startswith("fatal: ")
    assert allowed == "second\nfirst\n"


@needs_bubblewrap
async def test_a_commit_cannot_lead_git_elsewhere(root: Path) -> None:
    """A hook of the project runs with a commit. It must not leave anything that git follows later."""
    await asyncio.to_thread(subprocess.run, ["git", "init", "-q", str(root)], check=True)
    module = root / ".git" / "modules" / "lib"
    module.mkdir(parents=True)
    (module / "config").write_text("[core]\n")
    before = names_in(root / ".git")

    printed = await said(
        root,
        "echo ../evil > .git/commondir; echo x > .git/config.worktree; echo x >> .git/modules/lib/config; "
        "echo x >> .git/config; touch .git/hooks/pre-push; touch .git/index",
        Confinement(git=(str(root / ".git"),)),
    )

    assert printed.count("Read-only file system") == 3
    assert names_in(root / ".git") == sorted([*before, "index"])
    assert (module / "config").read_text() == "[core]\n"


@needs_bubblewrap
async def test_pairs_of_sockets_work_and_named_ones_only_when_granted(root: Path) -> None:
    pair = 'python3 -c "import socket; socket.socketpair()" && echo pair; '
    named = 'python3 -c "import socket; socket.socket(socket.AF_UNIX)" 2>/dev/null && echo named'

    assert await said(root, pair + named) == "pair\n"
    assert await said(root, pair + named, Confinement(sockets=True)) == "pair\nnamed\n"


@needs_bubblewrap
async def test_the_network_is_there_when_it_is_granted(root: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        program = f"import socket; socket.create_connection(('127.0.0.1', {port}))"
        command = f'python3 -c "{program}" 2>/dev/null && echo connected || echo alone'

        assert await said(root, command) == "alone\n"
        assert await said(root, command, Confinement(network=True)) == "connected\n"


@needs_bubblewrap
async def test_servers_on_loopback_work_inside(root: Path) -> None:
    program = "from socket import *; s = create_server(('127.0.0.1', 0)); create_connection(s.getsockname())"

    assert await said(root, f'python3 -c "{program}" && echo connected') == "connected\n"


@pytest.mark.parametrize("status", [LANDLOCK, BUBBLEWRAP], ids=lambda status: status.kind)
async def test_writes_stay_in_the_workspace_and_caches_are_ours(root: Path, status: SandboxStatus) -> None:
    skip_without_sandbox(status.kind)
    shell, home = shell_for(root, status), root.parent / "home"

    done = await shell.run(
        f'echo a > here; echo a > {home}/there; mktemp; mkdir -p "$XDG_CACHE_HOME/x" && echo $XDG_CACHE_HOME',
        NOTHING_MORE,
        name="call",
        time_limit=30.0,
        on_output=lambda text: None,
    )
    await shell.close()

    assert ((root / "here").exists(), (home / "there").exists()) == (True, False)
    assert done.stdout.splitlines()[-1].startswith(str(root.parent / "cache"))


def test_the_caller_keeps_no_descriptor(root: Path) -> None:
    def count() -> int:
        return len(list(Path("/proc/self/fd").iterdir()))

    before = count()
    for status in (BUBBLEWRAP, LANDLOCK, UNCONFINED):
        made = sandbox_for(root, status)
        with made.launch(("true",), dict(os.environ), NOTHING_MORE):
            pass
        made.close()

    assert count() == before


@needs_bubblewrap
@pytest.mark.parametrize("is_ours", [False, True])
async def test_programs_on_the_path_and_next_to_ours_are_visible_in_a_hidden_folder(
    root: Path, monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory, is_ours: bool
) -> None:
    """An environment below /tmp: its programs, and the files next to them."""
    environment = tmp_path_factory.mktemp("environment")
    (environment / "bin").mkdir()
    (environment / "data").write_text("neighbor")
    (environment / "bin/greet").write_text(f"#!/bin/sh\ncat {environment}/data\n")
    (environment / "bin/greet").chmod(0o755)
    if is_ours:
        monkeypatch.setattr(sys, "prefix", str(environment))
    else:
        monkeypatch.setenv("PATH", f"{environment}/bin:{os.environ['PATH']}")

    assert await said(root, f"{environment}/bin/greet" if is_ours else "greet") == "neighbor"
    assert "Read-only" in await said(root, f"echo x > {environment}/data")
