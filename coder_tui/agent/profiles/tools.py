"""Which tools a profile's file means, in the words of the program that it was written for."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from rapidfuzz import fuzz, process

from coder_tui.agent.profiles.profiles import KIND_PREFIX, Switch
from coder_tui.policy.rules import EVERYTHING, FOREIGN, PERMISSION_KEYS, Effect, Rule
from coder_tui.protocol.access import ToolKind
from coder_tui.tools.aliases import TOOL_ALIASES

TOOLS, PERMISSION = "tools", "permission"

# A name that stands for several of ours: what one of them may do the others may as well.
_MEANT: dict[str, tuple[str, ...]] = {
    "read": ("read", "read_many", "read_around", "file_info"),
    "glob": ("glob", "list", "outline"),
    "list": ("list",),
    "edit": ("edit", "patch", "apply_patch"),
    "multiedit": ("edit", "patch", "apply_patch"),
    "patch": ("patch", "apply_patch"),
    "write": ("write", "create_file", "mkdir"),
    "bash": ("bash", "bash_output", "bash_kill"),
    "bashoutput": ("bash_output",),
    "killbash": ("bash_kill",),
    "killshell": ("bash_kill",),
    "todowrite": ("todowrite", "todoread"),
    "task": ("task", "fork"),
    "agent": ("task", "fork"),
    "askuserquestion": ("question",),
    "exitplanmode": ("plan_exit",),
    "lsp": ("lsp_*",),
    "git": ("git_*",),
}
# Other programs have them, we do not: nothing is lost where they are named.
_WITHOUT = frozenset(
    {
        *("notebookedit", "notebookread", "slashcommand", "codesearch", "doom_loop", "invalid"),
        *("listmcpresourcestool", "readmcpresourcetool", "enterplanmode", "structuredoutput"),
        *("taskoutput", "taskcreate", "taskget", "tasklist", "taskupdate", "taskstop"),
    }
)
_SPECIFIED = re.compile(r"([A-Za-z_]+)\((.*)\)", re.DOTALL)
_SPLIT = re.compile(r"[,\s]+(?![^(]*\))")


@dataclass(slots=True)
class ToolSwitches:
    """What was read so far; `problems` are sentences with the field that each is about."""

    source: str
    switches: list[Switch] = field(default_factory=list)
    rules: list[Rule] = field(default_factory=list)
    problems: list[tuple[str, str]] = field(default_factory=list)

    def only(self, given: str | Iterable[str]) -> None:
        """A list of all that the profile has."""
        names = [name for name in (_SPLIT.split(given) if isinstance(given, str) else given) if name.strip()]
        if EVERYTHING in names:
            return
        self.switches.append(Switch(EVERYTHING, is_on=False))
        limited: dict[str, list[str]] = {}
        for name in map(str.strip, names):
            if specified := _SPECIFIED.fullmatch(name):
                limited.setdefault(specified[1], []).append(specified[2])
            else:
                self.switch(name, is_on=True)
        for name, patterns in limited.items():
            self.switch(name, is_on=True)
            self._limit(name, patterns)

    def switch(self, name: str, *, is_on: bool) -> None:
        meant = self._meant(name)
        self.switches += [Switch(pattern, is_on) for pattern in meant]

    def permit(self, key: str, patterns: dict[str, str], source: str) -> None:
        """Rules of the profile's layer, which can only make things stricter."""
        ours = key if key == EVERYTHING else TOOL_ALIASES.get(key.casefold(), key.casefold())
        if ours.casefold() in _WITHOUT:
            return
        if ours != EVERYTHING and ours not in PERMISSION_KEYS and not key.startswith(FOREIGN):
            self.problems.append((PERMISSION, f"there is no tool {key}{_nearest(key)}"))
            return
        for pattern, effect in patterns.items():
            if effect not in list(Effect):
                wrong = f"permission.{key}: {effect!r} is none of {', '.join(Effect)}"
                self.problems.append((PERMISSION, wrong))
            else:
                name = key if key.startswith(FOREIGN) else ours
                self.rules.append(Rule(name, pattern, Effect(effect), source))

    def _limit(self, name: str, patterns: list[str]) -> None:
        """`Bash(git diff:*)`: of all commands only these."""
        key = self._meant(name)[:1]
        for each in key:
            self.rules.append(Rule(each, EVERYTHING, Effect.DENY, self.source))
            wanted = (pattern.replace(":*", "*") for pattern in patterns)
            self.rules += [Rule(each, pattern, Effect.ALLOW, self.source) for pattern in wanted]

    def _meant(self, name: str) -> tuple[str, ...]:
        """Return our tools for a name, a glob or a kind; record a problem if there is none."""
        folded = name.casefold()
        if name.startswith(FOREIGN):
            is_server = name.startswith("mcp__") and name.count("__") == 1
            return (f"{name}__*",) if is_server else (name,)
        if folded.startswith(KIND_PREFIX):
            return self._kind(folded)
        if folded in _WITHOUT:
            return ()
        ours = TOOL_ALIASES.get(folded, folded)
        if any(mark in name for mark in "*?["):
            return (name,)
        if meant := _MEANT.get(folded) or _MEANT.get(ours):
            return meant
        if ours in PERMISSION_KEYS:
            return (ours,)
        self.problems.append((TOOLS, f"there is no tool {name}{_nearest(name)}"))
        return ()

    def _kind(self, name: str) -> tuple[str, ...]:
        if name.removeprefix(KIND_PREFIX) in list(ToolKind):
            return (name,)
        self.problems.append((TOOLS, f"there is no kind {name}; there are {', '.join(ToolKind)}"))
        return ()


def _nearest(name: str) -> str:
    found = process.extractOne(name.casefold(), PERMISSION_KEYS, scorer=fuzz.ratio, score_cutoff=60)
    return f"; did you mean {found[0]}?" if found else ""
