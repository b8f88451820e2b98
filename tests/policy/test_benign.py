"""Ordinary work under sensible rules is rarely interrupted by a question."""

import subprocess
from collections import Counter
from pathlib import Path

from coder_tui.policy.rules import Effect
from tests.policy.corpus import Judge, everyday_rules, ordinary, shown

MOST_NEEDLESS = 0.05


def test_there_are_at_least_a_thousand_different_commands() -> None:
    commands = Counter(command for _, command in ordinary(Path("/ws")))
    assert len(commands) >= 1000
    assert [command for command, count in commands.items() if count > 1] == []


def lived_in(root: Path) -> None:
    """Create a typical project: a repository with a remote, an ignored secret, dependencies, sources."""
    for name in (
        *("src/main.py", "src/lib/deep.py", "src/index.ts", "tests/test_main.py", "docs/guide.md"),
        *("packages/api/package.json", "packages/web/package.json", "node_modules/x/index.js", "README.md"),
        *("package.json", ".env", ".env.example", ".github/workflows/ci.yml", "a.txt", "b.txt"),
    ):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("x\n")
    (root / ".gitignore").write_text("node_modules/\n.env\ndist/\n*.log\n")
    for arguments in (
        ["init", "-q", "-b", "main"],
        ["config", "remote.origin.url", "https://example.org/x.git"],
        ["config", "branch.main.remote", "origin"],
    ):
        subprocess.run(["git", *arguments], cwd=root, check=True)


def test_at_most_one_in_twenty_commands_asks_needlessly(tmp_path: Path) -> None:
    root = tmp_path / "ws"
    lived_in(root)
    judge = Judge(root, tmp_path / "home", everyday_rules())
    commands = list(ordinary(root))
    verdicts = [(group, command, judge.verdict(command)) for group, command in commands]
    stopped = [
        f"{group}: {shown(command)} → {verdict.effect}: {'; '.join(verdict.reasons)[:120]}"
        for group, command, verdict in verdicts
        if verdict.effect is not Effect.ALLOW
    ]
    assert len(stopped) <= MOST_NEEDLESS * len(commands), "\n".join(stopped)
