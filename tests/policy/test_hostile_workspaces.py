"""Harmless commands ask if the workspace makes them run programs or show secrets."""

import os
import subprocess
from pathlib import Path

import pytest

from coder_tui.policy.rules import Effect
from tests.policy.corpus import UNDER_TEST, Judge, everyday_rules

_GIT = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull, "PATH": os.environ["PATH"]}
_REPOSITORY = (
    "git init -q -b main . && git config user.name x && git config user.email x@example.org"
    " && git add a.txt && git commit -qm x"
)
_SIGNED = (
    f"{_REPOSITORY} && git cat-file commit HEAD > c && (sed -n '1,/^committer/p' c; printf"
    r" 'gpgsig -----BEGIN PGP SIGNATURE-----\n \n x\n -----END PGP SIGNATURE-----\n\nm\n') > d"
    " && git update-ref HEAD $(git hash-object -t commit -w d) && git config gpg.program $PWD/run.sh"
)
_BARE = "git init -q --bare . && git config core.bare false && git config core.worktree $PWD"
_KEPT_SECRET = (
    f"{_REPOSITORY} && mkdir src && echo x > src/a.py && echo KEY > .env && git add . && git commit -qm y"
)
_TRAP = "config core.fsmonitor $PWD/run.sh"

# How the workspace is prepared, and the commands that must then ask.
CASES: dict[str, tuple[str, tuple[str, ...]]] = {
    "a hook in a folder of the workspace": (
        f"{_REPOSITORY} && mkdir .husky && cp run.sh .husky/post-index-change"
        " && git config core.hooksPath .husky",
        ("git status", "git diff"),
    ),
    "a hook that reading commands run": (
        f"{_REPOSITORY} && cp run.sh .git/hooks/post-index-change",
        ("git status", "git diff"),
    ),
    "a repository elsewhere in the workspace": (
        f"{_REPOSITORY} && mkdir vendor && mv .git vendor && git --git-dir=vendor/.git {_TRAP}"
        " && echo 'gitdir: vendor/.git' > .git",
        ("git status", "git log", "git diff"),
    ),
    "a repository outside": (
        f"{_REPOSITORY} && mv .git ../evil && git --git-dir=../evil {_TRAP} && echo 'gitdir: ../evil' > .git",
        ("git status",),
    ),
    "settings in another folder": (
        f"{_REPOSITORY} && git {_TRAP} && mkdir x && cp -r .git/objects .git/refs x && mv .git/config x"
        " && echo ../x > .git/commondir",
        ("git status",),
    ),
    "a bare repository as the root": (f"{_BARE} && git {_TRAP}", ("git status",)),
    "a bare repository with a hook": (f"{_BARE} && cp run.sh hooks/post-index-change", ("git status",)),
    "signatures shown by default": (f"{_SIGNED} && git config log.showSignature true", ("git log",)),
    "signatures in the usual format": (f"{_SIGNED} && git config format.pretty %G?", ("git log -1",)),
    "signatures in a named format": (f"{_SIGNED} && git config pretty.q %G?", ("git log --pretty=q",)),
    "objects that are fetched when missed": (
        f"{_REPOSITORY} && git config core.repositoryformatversion 1 && git config extensions.partialClone o"
        " && git config remote.o.url . && git config remote.o.promisor true"
        " && git config remote.o.uploadpack $PWD/run.sh",
        ("git log -p",),
    ),
    "a watcher": (f"{_REPOSITORY} && git {_TRAP}", ("git status", "git diff")),
    "settings included from a file": (
        f"{_REPOSITORY} && git config -f evil core.fsmonitor $PWD/run.sh && git config include.path ../evil",
        ("git status",),
    ),
    "a converter": (f"{_REPOSITORY} && git config diff.t.textconv $PWD/run.sh", ("git diff",)),
    "an external diff": (f"{_REPOSITORY} && git config diff.t.command $PWD/run.sh", ("git diff",)),
    "a filter": (f"{_REPOSITORY} && git config filter.t.clean $PWD/run.sh", ("git status", "git diff")),
    "settings on one line": (
        f"{_REPOSITORY} && echo '[core]fsmonitor=./run.sh' >> .git/config",
        ("git status",),
    ),
    "hidden files brought back by .ignore": ("echo KEY > .env && echo '!.env' > .ignore", ("rg KEY",)),
    "hidden files brought back by .rgignore": ("echo KEY > .env && echo '!.env' > .rgignore", ("rg KEY",)),
    "hidden files brought back by .gitignore": (
        "git init -q . && echo KEY > .env && echo '!.env' > .gitignore",
        ("rg KEY",),
    ),
    "hidden files brought back below": (
        "mkdir src && echo KEY > src/.env && echo '!.env' > src/.ignore",
        ("rg KEY", "rg KEY src"),
    ),
    "a list that counts for nothing without git": (
        "echo KEY > server.pem && echo server.pem > .gitignore",
        ("rg KEY",),
    ),
    "a list that another one overrules": (
        "git init -q . && echo KEY > server.pem && echo server.pem > .gitignore"
        " && echo '!server.pem' > .ignore",
        ("rg KEY",),
    ),
    "a list of folders": (
        "git init -q . && echo KEY > server.pem && echo server.pem/ > .gitignore",
        ("rg KEY",),
    ),
    "a secret among dependencies": (
        "mkdir -p node_modules/x && echo KEY > node_modules/x/server.pem",
        ("rg KEY", "grep -r KEY ."),
    ),
    "a secret that the repository keeps": (
        f"{_KEPT_SECRET} && echo KEY2 >> .env",
        (
            "git diff",
            "git log -p",
            "git log -U1",
            "git log --stat -p",
            "cd src && git diff",
            "git diff HEAD -- .",
        ),
    ),
    "a secret in a short index": (f"{_KEPT_SECRET} && git update-index --index-version 4", ("git diff",)),
    "a secret in a split index": (f"{_KEPT_SECRET} && git update-index --split-index", ("git diff",)),
    "a secret among hashes of another kind": (
        "git init -q --object-format=sha256 . && git add -f a.txt && echo KEY > .env && git add .env",
        ("git diff", "git diff --cached"),
    ),
    "a secret kept by a second working tree": (
        f"{_KEPT_SECRET} && mkdir ../main && mv .git ../main && cd ../main && git worktree add -q ../tree"
        " && mv ../tree/.git ../ws",
        ("git diff",),
    ),
    "a secret among results": ("mkdir dist && echo KEY > dist/.env", ("grep -r KEY .", "grep -rn KEY")),
}


# Common setups, which do not make reading dangerous.
ORDINARY: dict[str, str] = {
    "a fresh repository": _REPOSITORY,
    "a clone": f"{_REPOSITORY} && git config remote.origin.url https://example.org/x.git"
    " && git config remote.origin.fetch +refs/heads/*:refs/remotes/origin/*"
    " && git config branch.main.remote origin && git config branch.main.merge refs/heads/main",
    "hooks for commits": f"{_REPOSITORY} && mkdir .husky && cp run.sh .husky/pre-commit"
    " && git config core.hooksPath .husky",
    "files that git leaves out": f"{_REPOSITORY} && printf 'node_modules\\n.env\\n*.log\\n' > .gitignore"
    " && echo KEY > .env",
}


def prepared(tmp_path: Path, setup: str) -> list[Judge]:
    root = tmp_path / "ws"
    root.mkdir()
    (root / "a.txt").write_text("one\n")
    (root / "run.sh").write_text("#!/bin/sh\n")
    (root / "run.sh").chmod(0o755)
    subprocess.run(["sh", "-c", setup], cwd=root, env=_GIT, check=True, capture_output=True)
    return [Judge(root, tmp_path, rules) for rules in (UNDER_TEST, everyday_rules())]


@pytest.mark.parametrize("name", CASES)
def test_a_trap_in_the_workspace_makes_the_command_ask(tmp_path: Path, name: str) -> None:
    setup, commands = CASES[name]
    judges = prepared(tmp_path, setup)
    allowed = {
        command for command in commands for judge in judges if judge.verdict(command).effect is Effect.ALLOW
    }
    assert allowed == set()


@pytest.mark.parametrize("name", ORDINARY)
def test_an_ordinary_workspace_asks_nothing(tmp_path: Path, name: str) -> None:
    judges = prepared(tmp_path, ORDINARY[name])
    commands = ("git status", "git diff", "git log -p", "rg KEY")
    verdicts = {command: judge.verdict(command) for command in commands for judge in judges}
    assert {
        command: verdict.reasons
        for command, verdict in verdicts.items()
        if verdict.effect is not Effect.ALLOW
    } == {}


@pytest.mark.parametrize(
    "command",
    [
        "git status",
        "git log",
        "git log --stat",
        "git diff --name-only",
        "git diff --stat HEAD~1",
        "git diff -- src",
        "git diff HEAD a.txt",
        "git log -p -- src/a.py",
    ],
)
def test_a_repository_that_tracks_a_secret_can_be_read_without_it(tmp_path: Path, command: str) -> None:
    judges = prepared(tmp_path, _KEPT_SECRET)
    assert {judge.verdict(command).effect for judge in judges} == {Effect.ALLOW}
