"""A repository is not trusted: reading it runs nothing, follows nothing elsewhere, and never hangs."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from coder_tui.protocol.errors import ErrorType, ToolError
from coder_tui.shell.command import OutputCollector, run_launch
from coder_tui.shell.environment import find_program
from coder_tui.workspace.files.confine import Workspace
from coder_tui.workspace.git.git import Git, ReadOnly, discard_output
from coder_tui.workspace.git.repository import find_repository, foreign_owner
from tests.fakes.repository import GitRepository
from tests.fakes.shells import BUBBLEWRAP, UNCONFINED
from tests.tools.builtin.git_bench import GitBench

Trap = Callable[[GitRepository, str], None]


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> GitRepository:
    made = GitRepository(tmp_path / "repo", tmp_path / "home")
    monkeypatch.setenv("HOME", str(made.home))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    return made


def _set(*keys: str) -> Trap:
    def trap(repository: GitRepository, program: str) -> None:
        for key in keys:
            repository.git("config", key, program)

    return trap


def _clean_filter(repository: GitRepository, program: str) -> None:
    repository.git("config", "filter.a=b.c.clean", program)
    repository.git("config", "filter.a=b.c.required", "true")
    repository.put(".gitattributes", "* filter=a=b.c\n")


def _process_filter(repository: GitRepository, program: str) -> None:
    repository.git("config", "filter.x.process", program)
    repository.put(".gitattributes", "* filter=x\n")


def _textconv(repository: GitRepository, program: str) -> None:
    repository.git("config", "diff.x.textconv", program)
    repository.git("config", "diff.x.command", program)
    repository.put(".gitattributes", "* diff=x\n")


def _included(repository: GitRepository, program: str) -> None:
    repository.put("more", f"[core]\n\tfsmonitor = {program}\n[diff]\n\texternal = {program}\n")
    repository.git("config", "include.path", "../more")


def _included_filter(repository: GitRepository, program: str) -> None:
    repository.put("more", f'[filter "x"]\n\tclean = {program}\n')
    repository.git("config", "include.path", "../more")
    repository.put(".gitattributes", "* filter=x\n")


def _worktree_settings(repository: GitRepository, program: str) -> None:
    repository.git("config", "extensions.worktreeConfig", "true")
    repository.git("config", "--worktree", "core.fsmonitor", program)
    repository.git("config", "--worktree", "filter.x.clean", program)
    repository.put(".gitattributes", "* filter=x\n")


def _signatures(repository: GitRepository, program: str) -> None:
    repository.git("config", "gpg.program", program)
    repository.git("config", "log.showSignature", "true")
    repository.git("config", "format.pretty", "%GG %G? %h")
    tree = repository.git("write-tree").strip()
    commit = repository.put(
        "../commit",
        f"tree {tree}\nauthor A <a@b> 1 +0000\ncommitter A <a@b> 1 +0000\n"
        "gpgsig -----BEGIN PGP SIGNATURE-----\n \n x\n -----END PGP SIGNATURE-----\n\nsigned\n",
    )
    made = repository.git("hash-object", "-t", "commit", "-w", str(commit)).strip()
    repository.git("update-ref", "refs/heads/main", made)


def _hooks(repository: GitRepository, program: str) -> None:
    for name in ("post-index-change", "fsmonitor-watchman", "reference-transaction", "post-checkout"):
        repository.put(f".git/hooks/{name}", f"#!/bin/sh\n{program}\n").chmod(0o755)


def _submodule(repository: GitRepository, program: str) -> None:
    inner = GitRepository(repository.root / "sub", repository.home)
    inner.commit(a="1\n")
    repository.put(".gitmodules", '[submodule "sub"]\n\tpath = sub\n\turl = ./sub\n')
    repository.git("add", ".gitmodules", "sub")
    repository.git("commit", "--quiet", "--message", "sub")
    repository.git("config", "status.submoduleSummary", "true")
    repository.git("config", "diff.submodule", "log")
    repository.git("config", "diff.ignoreSubmodules", "none")
    inner.git("config", "core.fsmonitor", program)
    inner.git("config", "filter.x.clean", program)
    inner.put(".gitattributes", "* filter=x\n")
    inner.put("a", "2\n")


def _bare_inside(repository: GitRepository, program: str) -> None:
    repository.git("init", "--quiet", "--bare", "bare")
    repository.git("--git-dir=bare", "config", "core.fsmonitor", program)
    repository.git("--git-dir=bare", "config", "core.bare", "false")
    repository.git("--git-dir=bare", "config", "core.worktree", "..")


def _missing_object(repository: GitRepository, program: str) -> None:
    repository.git("config", "remote.evil.url", f"ext::{program} %S")
    repository.git("config", "remote.evil.promisor", "true")
    repository.git("config", "extensions.partialClone", "evil")
    repository.git("config", "core.repositoryFormatVersion", "1")
    repository.git("config", "protocol.ext.allow", "always")
    blob = repository.git("rev-parse", "HEAD:a").strip()
    (repository.root / ".git/objects" / blob[:2] / blob[2:]).unlink()


TRAPS: dict[str, Trap] = {
    "fsmonitor": _set("core.fsmonitor"),
    "external diff": _set("diff.external"),
    "pagers and editors": _set("core.pager", "pager.status", "pager.log", "pager.diff", "core.editor"),
    "helpers": _set("core.sshCommand", "core.askPass", "credential.helper", "core.alternateRefsCommand"),
    "aliases": _set("alias.status", "alias.diff", "alias.log"),
    "clean filter": _clean_filter,
    "process filter": _process_filter,
    "textconv": _textconv,
    "an included file": _included,
    "a filter in an included file": _included_filter,
    "settings of the worktree": _worktree_settings,
    "signatures": _signatures,
    "hooks": _hooks,
    "submodule": _submodule,
    "bare repository inside": _bare_inside,
    "missing object": _missing_object,
}


# Those that need a terminal, a remote or their own name are set for completeness.
NOT_SPRUNG_BY_PLAIN_READING = {"pagers and editors", "helpers", "aliases", "bare repository inside"}
CALLS: tuple[tuple[str, dict[str, object]], ...] = (
    ("git_status", {}),
    ("git_status", {"short": True}),
    ("git_diff", {}),
    ("git_diff", {"staged": True}),
    ("git_diff", {"path": "a"}),
    ("git_log", {}),
    ("git_log", {"oneline": True}),
)


@pytest.mark.parametrize("name", sorted(set(TRAPS) - NOT_SPRUNG_BY_PLAIN_READING))
def test_the_traps_are_real(repository: GitRepository, tmp_path: Path, name: str) -> None:
    canary = tmp_path / "canary"
    program = repository.script("evil.sh", canary, "exit 1")
    repository.commit(a="1\n", b="1\n")
    TRAPS[name](repository, str(program))
    repository.put("a", "2\n")
    os.utime(repository.root / "b", (1, 1))
    canary.unlink(missing_ok=True)

    for command in ("status", "diff", "log"):
        subprocess.run(
            ["git", command],
            cwd=repository.root,
            env=repository.environment,
            check=False,
            capture_output=True,
        )

    assert canary.exists()


@pytest.mark.parametrize("name", TRAPS)
async def test_reading_runs_nothing_that_the_repository_names(
    repository: GitRepository, tmp_path: Path, name: str
) -> None:
    canary = tmp_path / "canary"
    program = repository.script("evil.sh", canary)
    repository.commit(a="1\n", b="1\n")
    TRAPS[name](repository, str(program))
    repository.put("a", "2\n")
    os.utime(repository.root / "b", (1, 1))
    canary.unlink(missing_ok=True)
    bench = GitBench(repository.root)

    for tool, arguments in CALLS:
        try:
            await bench.call(tool, **arguments)
        except ToolError as error:
            assert (name, error.type) == ("missing object", ErrorType.EXECUTION_FAILED)

    assert not canary.exists(), canary.read_text()


@pytest.mark.parametrize("name", sorted(set(TRAPS) - {"missing object", "signatures"}))
async def test_looking_at_what_could_be_staged_or_committed_runs_nothing_either(
    repository: GitRepository, tmp_path: Path, name: str
) -> None:
    canary = tmp_path / "canary"
    program = repository.script("evil.sh", canary)
    repository.commit(a="1\n", b="1\n")
    repository.put("b", "2\n")
    repository.git("add", "b")
    TRAPS[name](repository, str(program))
    repository.put("a", "2\n")
    if name == "submodule":
        repository.put("staged", "")
        repository.git("add", "staged")
    canary.unlink(missing_ok=True)
    bench = GitBench(repository.root)

    await bench.access("git_add", path=".")
    await bench.access("git_commit", message="x")

    assert not canary.exists(), canary.read_text()


async def test_staging_does_not_ask_inside_a_submodule(repository: GitRepository, tmp_path: Path) -> None:
    canary = tmp_path / "canary"
    program = repository.script("evil.sh", canary)
    repository.commit(a="1\n")
    _submodule(repository, str(program))
    repository.put("a", "2\n")
    canary.unlink(missing_ok=True)

    assert (await GitBench(repository.root).call("git_add", path="."))["files"] == ["a"]
    assert not canary.exists()


async def test_variables_that_steer_git_do_not_reach_it(
    repository: GitRepository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    canary = tmp_path / "canary"
    program = str(repository.script("evil.sh", canary))
    repository.commit(a="1\n")
    repository.put("a", "2\n")
    for name in ("GIT_EXTERNAL_DIFF", "GIT_PAGER", "GIT_SSH_COMMAND", "GIT_PROXY_COMMAND", "GIT_EDITOR"):
        monkeypatch.setenv(name, program)
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "nowhere"))
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", "core.fsmonitor")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", program)

    assert "+2\n" in (await GitBench(repository.root).call("git_diff"))["content"]
    assert not canary.exists()


async def test_a_git_in_the_workspace_is_never_used(
    repository: GitRepository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    canary = tmp_path / "canary"
    system_git = find_program("git", os.environ, ())
    repository.script("git", canary)
    repository.script("bin/git", canary)
    (tmp_path / "linked").symlink_to(repository.root / "bin")
    path = f".:{repository.root}:{repository.root}/bin:{tmp_path}/linked:{os.environ['PATH']}"
    monkeypatch.setenv("PATH", path)
    monkeypatch.chdir(repository.root)

    await GitBench(repository.root).call("git_status")

    assert not canary.exists()
    assert Git(Workspace(repository.root), ReadOnly(UNCONFINED)).program() == system_git


async def test_reading_leaves_the_index_as_it_is(repository: GitRepository) -> None:
    repository.commit(a="1\n")
    os.utime(repository.root / "a", (1, 1))
    before = (repository.root / ".git/index").read_bytes()

    await GitBench(repository.root).call("git_status")

    assert (repository.root / ".git/index").read_bytes() == before


@pytest.mark.parametrize("form", ["file", "link", "commondir", "worktree without a way back"])
async def test_another_repository_is_not_passed_off_as_this_one(
    repository: GitRepository, tmp_path: Path, form: str
) -> None:
    repository.commit("private", secret="1\n")
    private = repository.root / ".git"
    fake = tmp_path / "fake"
    fake.mkdir()
    match form:
        case "file":
            (fake / ".git").write_text(f"gitdir: {private}\n")
        case "link":
            (fake / ".git").symlink_to(private)
        case "commondir":
            GitRepository(fake, repository.home)
            (fake / ".git/commondir").write_text(f"{private}\n")
        case _:
            tree = tmp_path / "tree"
            repository.git("worktree", "add", "--quiet", str(tree))
            (fake / ".git").write_text((tree / ".git").read_text())

    error = await GitBench(fake).failure("git_log")

    assert error.type is ErrorType.PERMISSION_DENIED
    assert "presents a repository from elsewhere" in error.message


async def test_core_worktree_does_not_lead_elsewhere(repository: GitRepository, tmp_path: Path) -> None:
    repository.commit(a="1\n")
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "a").write_text("private\n")
    repository.git("config", "core.worktree", str(outside))

    assert (await GitBench(repository.root).call("git_diff"))["content"] == ""
    repository.put("a", "2\n")
    error = await GitBench(repository.root).failure("git_add", path="a")
    assert error.type is ErrorType.PERMISSION_DENIED
    assert str(outside) in error.message


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
async def test_a_repository_of_another_user_is_refused_unless_trusted(
    repository: GitRepository,
) -> None:
    repository.commit(a="1\n")
    os.chown(repository.root / ".git", 12345, 12345)
    bench = GitBench(repository.root)

    error = await bench.failure("git_status")
    assert foreign_owner(find_repository(repository.root), {}) == repository.root / ".git"
    assert foreign_owner(find_repository(repository.root), {"SUDO_UID": "12345"}) is None
    repository.git("config", "--file", str(repository.root / ".git/config"), "safe.directory", "*")
    still = await bench.failure("git_status")
    repository.git("config", "--global", "safe.directory", str(repository.root))

    assert (error.type, still.type) == (ErrorType.PERMISSION_DENIED, ErrorType.PERMISSION_DENIED)
    assert "safe.directory" in error.hint
    assert (await bench.call("git_status", short=True))["content"] == "## main\n"


async def test_a_pipe_that_git_should_read_does_not_hang_it(
    repository: GitRepository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("coder_tui.workspace.git.git.READ_SECONDS", 0.5)
    os.mkfifo(tmp_path / "pipe")
    repository.git("config", "include.path", "x")
    config = repository.root / ".git/config"
    config.write_text(config.read_text().replace("path = x", f"path = {tmp_path}/pipe"))

    assert (await GitBench(repository.root).failure("git_status")).type is ErrorType.TIMEOUT


@pytest.mark.needs("bubblewrap")
async def test_a_program_that_got_through_could_write_nowhere(
    repository: GitRepository, tmp_path: Path
) -> None:
    canary = tmp_path / "canary"
    script = f"#!/bin/sh\ntouch {canary}; touch inside; echo ran >&2; exit 1\n"
    fake = repository.put("../bin/git", script)
    fake.chmod(0o755)

    launch = ReadOnly(BUBBLEWRAP).launch((str(fake),), {"PATH": "/usr/bin:/bin"})
    collector = OutputCollector(1000, discard_output)
    done = await run_launch(launch, collector, directory=repository.root, time_limit=20)
    launch.close()

    assert done.stderr.endswith("ran\n")
    assert (canary.exists(), (repository.root / "inside").exists()) == (False, False)


@pytest.mark.needs("bubblewrap")
async def test_confined_reading_tells_the_same(repository: GitRepository) -> None:
    repository.commit(**{"a": "1\n", ".env": "KEY=1\n"})
    repository.put("a", "2\n")
    repository.put(".env", "KEY=2\n")
    plain, confined = GitBench(repository.root), GitBench(repository.root, BUBBLEWRAP)
    named: dict[str, object] = {"path": ".env"}
    calls = (*CALLS, ("git_diff", named))

    results = [
        await bench.call(tool, **arguments) for bench in (plain, confined) for tool, arguments in calls
    ]

    assert results[: len(calls)] == results[len(calls) :]


async def test_a_submodule_that_is_opened_itself_can_be_committed_to(
    repository: GitRepository, tmp_path: Path
) -> None:
    other = GitRepository(tmp_path / "other", repository.home)
    other.commit(a="1\n")
    repository.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(other.root), "sub")
    repository.put("sub/a", "2\n")
    bench = GitBench(repository.root / "sub")

    assert (await bench.call("git_add", path="."))["files"] == ["a"]
    assert (await bench.call("git_commit", message="x"))["ok"] is True
