"""A command line as policy sees it: its parts, what each touches, and what makes it doubtful.

`pattern_for` finds the narrowest useful pattern for a part: its program, and its subcommand if any.
"""

from dataclasses import dataclass

from coder_tui.policy.shell.notes import named
from coder_tui.policy.shell.programs.building import INTERPRETERS, SHELLS
from coder_tui.policy.shell.programs.wrappers import WRAPPERS
from coder_tui.protocol.access import Target
from coder_tui.protocol.findings import Finding


@dataclass(frozen=True, slots=True)
class CommandPart:
    """One simple command after unquoting.

    A wrapper (`env`, `timeout`) and the command it wraps are separate parts.
    """

    words: tuple[str, ...]
    doubts: tuple[str, ...] = ()
    """Why no rule may allow it silently. Empty for literal words with flags that are known to be harmless."""
    is_read_only: bool = False
    """Whether it provably changes nothing and reads only what it names."""
    other_texts: tuple[str, ...] = ()
    """Other ways to write the same command. Rules that ask or deny also apply to these."""
    plain_text: str = ""
    """The same without flags that change nothing (`git --no-pager`). Rules that allow also apply to it."""
    is_transparent: bool = False
    """Whether it does nothing on its own (`cd`, `timeout`), so that the other parts decide."""

    @property
    def text(self) -> str:
        """The text that a rule's pattern is matched against."""
        return " ".join(self.words)

    @property
    def allowable(self) -> tuple[str, ...]:
        """The texts that a rule that allows is matched against."""
        return (self.text, self.plain_text) if self.plain_text else (self.text,)


@dataclass(frozen=True, slots=True)
class ShellCommand:
    """The whole line. A line without parts was not understood, and that is also a doubt."""

    text: str
    parts: tuple[CommandPart, ...] = ()
    targets: tuple[Target, ...] = ()
    """The paths that it is known to read or write, including redirections."""
    findings: tuple[Finding, ...] = ()
    doubts: tuple[str, ...] = ()
    """Doubts about the line as a whole: it does not parse, has hidden characters, is too long to judge."""
    own_writes: frozenset[str] = frozenset()
    """Paths that a part exists to change (`mkdir x`). A rule for the part covers them."""
    linked_out: frozenset[str] = frozenset()
    """Paths outside the workspace that it would change through a link inside."""
    unjudged: tuple[str, ...] = ()
    """Commands that were found but not analyzed. Only rules that ask or deny apply to them."""
    has_hidden_characters: bool = False
    has_open_targets: bool = False
    """Whether it changes or deletes something that is known only when it runs."""

    @property
    def is_read_only(self) -> bool:
        is_proven = not self.doubts and bool(self.parts) and all(part.is_read_only for part in self.parts)
        return is_proven and not any(target.writes for target in self.targets)


# Subcommands with subcommands of their own: one may list while another deletes.
_GROUPS: dict[str, str] = {
    "npm": "run run-script config cache dist-tag access owner team token profile org hook pkg",
    "pnpm": "run config cache store env",
    "yarn": "run config cache npm workspace plugin set",
    "bun": "run pm",
    "pip": "config cache",
    "pip3": "config cache",
    "uv": "pip cache python self",
    "poetry": "config cache env source self",
    "pdm": "config cache venv plugin self",
    "conda": "env config",
    "mamba": "env config",
    "hatch": "env config",
    "docker": "compose image container volume network system context builder buildx manifest plugin swarm "
    "secret config service node stack trust",
    "podman": "compose image container volume network system pod machine secret manifest",
    "kubectl": "config auth rollout create set certificate plugin",
    "helm": "repo plugin registry dependency",
    "terraform": "state workspace providers",
    "tofu": "state workspace providers",
    "git": "stash remote worktree submodule bisect notes lfs sparse-checkout reflog maintenance bundle",
    "go": "mod work tool telemetry",
    "cargo": "owner",
    "rustup": "toolchain target component override self",
    "brew": "services",
    "bundle": "config plugin",
    "composer": "config global",
    "gem": "sources",
    "dotnet": "nuget tool workload sln",
    "flutter": "pub config",
    "dart": "pub",
    "swift": "package",
    "stack": "config",
}
# How many words name the action. For other programs the first word is enough.
_ARITY: dict[str, int] = {
    **dict.fromkeys(
        named(
            "git cargo go npm pnpm yarn bun pip pip3 uv poetry pdm pipenv docker podman kubectl helm make "
            "gmake just task gradle mvn dotnet mix bundle composer gem brew apt apt-get gh glab terraform "
            "tofu aws gcloud az systemctl rustup nx turbo lerna conda mamba nox tox hatch cabal stack "
            "bazel swift flutter dart zig deno pre-commit django-admin rails rake sbt"
        ),
        2,
    ),
    **dict.fromkeys(("aws", "az", "gh", "glab"), 3),
    "gcloud": 4,
    **{f"{program} {group}": 3 for program, groups in _GROUPS.items() for group in groups.split()},
}
# They run whatever their arguments name, so no pattern can describe it.
_RUNNERS = named("npx pnpx bunx uvx tsx ts-node dlx ssh find parallel eval sudo")
_RUNNING_BY = {
    "exec": "npm pnpm yarn bundle docker podman kubectl dotnet",
    "x": "npm bun",
    "dlx": "pnpm yarn",
    "run": "uv poetry pdm pipenv hatch docker podman kubectl conda mamba go deno pipx",
    "tool": "uv",
    "eval": "deno",
    "config": "git",
}
_RUNNING = frozenset(f"{program} {verb}" for verb, names in _RUNNING_BY.items() for program in named(names))


def pattern_for(part: CommandPart) -> str:
    """Return the pattern to offer. Empty for interpreters, wrappers, doubts and programs by path."""
    words = _words_for_pattern(part)
    name = words[0]
    is_runner = (
        name in SHELLS | INTERPRETERS | _RUNNERS or name in WRAPPERS or " ".join(words[:2]) in _RUNNING
    )
    is_readable = name.isascii() and name.isprintable() and not any(char in name for char in "/*? ")
    if part.doubts or is_runner or not is_readable:
        return ""
    arity = _ARITY.get(" ".join(words[:2]), _ARITY.get(name, 1))
    kept = words[:arity]
    if len(kept) < arity or any(word.startswith("-") or not _is_plain(word) for word in kept[1:]):
        # Without its subcommand the pattern would cover them all.
        return part.text if _is_plain(part.text.replace(" ", "")) else ""
    return f"{' '.join(kept)}*"


def _words_for_pattern(part: CommandPart) -> tuple[str, ...]:
    return tuple(part.plain_text.split(" ")) if part.plain_text else part.words


def _is_plain(text: str) -> bool:
    """Return whether the text has no wildcard: a star in the command would be a star in the rule."""
    return not any(char in text for char in "*?\n")
