"""Read the shell corpora and decide on their commands as for calls of the bash tool."""

import os
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from coder_tui.policy.command import ShellCommand
from coder_tui.policy.decide import Action, Policy, Verdict, decide
from coder_tui.policy.paths import Boundaries
from coder_tui.policy.rules import Effect, Layer, Rule
from coder_tui.policy.shell.analysis import analyze_command
from coder_tui.protocol.access import Mode, Target, TargetKind, ToolKind

FOLDER = Path(__file__).parent
UNDER_TEST: Mapping[str, str] = {
    "*": "ask",
    "git status*": "allow",
    "git log*": "allow",
    "git diff*": "allow",
    "ls*": "allow",
    "cat*": "allow",
    "echo*": "allow",
    "find*": "allow",
    "sort*": "allow",
    "rg*": "allow",
    "sed -n*": "allow",
    "curl*": "deny",
}
"""The rules that every attack is decided with."""

GENEROUS: Mapping[str, str] = {
    "*": "ask",
    "echo*": "allow",
    "ls*": "allow",
    "head*": "allow",
    "curl*": "allow",
    "wget*": "allow",
    "aria2c*": "allow",
    "git clone*": "allow",
    "git commit*": "allow",
    "git diff*": "allow",
    "git fetch*": "allow",
    "git log*": "allow",
    "git merge*": "allow",
    "git pull*": "allow",
    "git push*": "allow",
    "git repack*": "allow",
}
"""Rules of a user who also allows git and downloads."""


@dataclass(frozen=True, slots=True)
class Attack:
    """An attack. `least` is the least strict effect that is right for it."""

    family: str
    least: Effect
    why: str
    command: str
    rules: str = "attack"
    """The rules that it is decided with."""

    def __str__(self) -> str:
        return f"{self.family} ({self.why}): {shown(self.command)}"


def attacks(root: Path) -> Iterator[Attack]:
    """Read the attacks. `{workspace}` in a command is the folder that it would run in."""
    for path in sorted((FOLDER / "attacks").glob("*.toml")):
        content = tomllib.loads(path.read_text())
        family, rules = content["family"], content.get("rules", "attack")
        for least, why, command in content["rows"]:
            yield Attack(family, Effect(least), why, command.replace("{workspace}", str(root)), rules)
        for built in content.get("built", ()):
            command = built["before"] + built["unit"] * built["times"] + built["after"]
            yield Attack(family, Effect(built["want"]), built["why"], command, rules)


def ordinary(root: Path) -> Iterator[tuple[str, str]]:
    """Yield everyday commands, each with the name of its group."""
    for path in sorted((FOLDER / "benign").glob("*.toml")):
        for group in tomllib.loads(path.read_text()).get("group", ()):
            for command in group["commands"]:
                yield group["name"], command.replace("{workspace}", str(root))


def everyday_rules() -> Mapping[str, str]:
    rules: dict[str, str] = tomllib.loads((FOLDER / "benign/rules.toml").read_text())["rules"]
    return rules


class Judge:
    """Decides on commands in a workspace without running them."""

    def __init__(self, root: Path, home: Path, rules: Mapping[str, str], mode: Mode = Mode.ASK) -> None:
        self._root = os.path.realpath(root)
        self._home = os.path.realpath(home)
        listed = tuple(Rule("bash", pattern, Effect(effect), "corpus") for pattern, effect in rules.items())
        self._policy = Policy(Boundaries(roots=(self._root,)), mode, (Layer("user", listed),))

    def verdict(self, command: str) -> Verdict:
        target = Target(TargetKind.COMMAND, command, writes=True)
        action = Action("bash", "bash", ToolKind.EXECUTE, (target,), self._analyse(command))
        return decide(action, self._policy)

    def words(self, command: str) -> set[tuple[str, ...]]:
        """What each program would be started with, as the analysis reads it."""
        return {part.words for part in self._analyse(command).parts}

    def _analyse(self, command: str) -> ShellCommand:
        return analyze_command(command, self._root, home=self._home, roots=(self._root,))


def shown(command: str) -> str:
    """Return a text that is short enough for a failing test."""
    text = repr(command)
    return text if len(text) <= 160 else f"{text[:100]}…{text[-40:]}"
