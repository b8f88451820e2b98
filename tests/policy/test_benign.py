"""Ordinary work under sensible rules is hardly ever interrupted by a question."""

from collections import Counter
from pathlib import Path

from coder_tui.policy.rules import Effect
from tests.policy.corpus import Judge, everyday_rules, ordinary, shown

MOST_NEEDLESS = 0.05


def test_there_are_at_least_a_thousand_different_commands() -> None:
    commands = Counter(command for _, command in ordinary(Path("/ws")))
    assert len(commands) >= 1000
    assert [command for command, count in commands.items() if count > 1] == []


def test_at_most_one_in_twenty_asks_a_needless_question(tmp_path: Path) -> None:
    root = tmp_path / "ws"
    for folder in ("src/lib", "tests", "docs", "packages/api", "packages/web"):
        (root / folder).mkdir(parents=True)
    judge = Judge(root, tmp_path / "home", everyday_rules())
    commands = list(ordinary(root))
    verdicts = [(group, command, judge.verdict(command)) for group, command in commands]
    stopped = [
        f"{group}: {shown(command)} → {verdict.effect}: {'; '.join(verdict.reasons)[:120]}"
        for group, command, verdict in verdicts
        if verdict.effect is not Effect.ALLOW
    ]
    assert len(stopped) <= MOST_NEEDLESS * len(commands), "\n".join(stopped)
