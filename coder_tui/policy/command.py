"""A command line as policy sees it: its parts, what each touches, and what makes it doubtful.

The narrowest pattern that is still useful for a command: its program, and its subcommand if any.
"""

from dataclasses import dataclass

from coder_tui.policy.shell.notes import named
from coder_tui.policy.shell.programs.building import INTERPRETERS, SHELLS
from coder_tui.policy.shell.programs.wrappers import WRAPPERS
from coder_tui.protocol.access import Target
from coder_tui.protocol.findings import Finding


@dataclass(frozen=True, slots=True)
class CommandPart:
    """One simple command after unquoting; a wrapper (`env`, `timeout`) and what it wraps are a part each."""

    words: tuple[str, ...]
    doubts: tuple[str, ...] = ()
    """Why no rule may allow it silently; empty for literal words with flags that are known to be harmless."""
    is_read_only: bool = False
    """Proven to change nothing and to reach nothing but what it names."""
    other_texts: tuple[str, ...] = ()
    """Other ways to say the same; rules that ask or refuse are held against them, too."""
    plain_text: str = ""
    """The same without flags that change nothing (`git --no-pager`); a rule that allows may mean it."""
    is_transparent: bool = False
    """It does nothing by itself (`cd`, `timeout`): what stands beside or behind it decides."""

    @property
    def text(self) -> str:
        """What a rule's pattern is held against."""
        return " ".join(self.words)

    @property
    def allowable(self) -> tuple[str, ...]:
        """What a rule that allows is held against."""
        return (self.text, self.plain_text) if self.plain_text else (self.text,)


@dataclass(frozen=True, slots=True)
class ShellCommand:
    """The whole line. Without parts nothing was understood, and that is a doubt, too."""

    text: str
    parts: tuple[CommandPart, ...] = ()
    targets: tuple[Target, ...] = ()
    """Paths that it reads or writes as far as they are known, redirections included."""
    findings: tuple[Finding, ...] = ()
    doubts: tuple[str, ...] = ()
    """Doubts about the line as a whole: it does not parse, has hidden characters, is too long to judge."""
    own_writes: frozenset[str] = frozenset()
    """Paths whose change is what a part is for (`mkdir x`): a rule for the part covers them."""
    linked_out: frozenset[str] = frozenset()
    """Places outside of the workspace that it would change through a link inside."""
    unjudged: tuple[str, ...] = ()
    """Commands that were seen but not taken apart: only rules that ask or refuse are held against them."""
    has_hidden_characters: bool = False
    has_open_targets: bool = False
    """It changes or removes something that is known only when it runs."""

    @property
    def is_read_only(self) -> bool:
        is_proven = not self.doubts and bool(self.parts) and all(part.is_read_only for part in self.parts)
        return is_proven and not any(target.writes for target in self.targets)


# Subcommands that have subcommands of their own: one that lists beside one that removes.
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
# How many words say what is done; everything else is said by the first.
_ARITY: dict[str, int] = {
    **dict.fromkeys(
        named(
            "git cargo go npm pnpm yarn bun pip pip3 uv poetry pdm pipenv docker podman kubectl helm make "
            "gmake just "
            "task gradle mvn dotnet mix bundle composer gem brew apt apt-get gh glab terraform tofu aws "
            "gcloud az "
            "systemctl rustup nx turbo lerna conda mamba nox tox hatch cabal stack bazel swift flutter "
            "dart zig deno "
            "pre-commit django-admin rails rake sbt"
        ),
        2,
    ),
    **dict.fromkeys(("aws", "az", "gh", "glab"), 3),
    "gcloud": 4,
    **{f"{program} {group}": 3 for program, groups in _GROUPS.items() for group in groups.split()},
}
# They run whatever their arguments name: no pattern says what that is.
_RUNNERS = named("npx pnpx bunx uvx tsx ts-node dlx ssh find parallel eval sudo")
_RUNNING = frozenset(
    {
        "npm exec",
        "npm x",
        "pnpm exec",
        "pnpm dlx",
        "yarn dlx",
        "yarn exec",
        "bun x",
        "uv run",
        "uv tool",
        "poetry run",
        "pdm run",
        "pipenv run",
        "hatch run",
        "bundle exec",
        "docker run",
        "docker exec",
        "podman run",
        "podman exec",
        "kubectl exec",
        "kubectl run",
        "conda run",
        "mamba run",
        "dotnet exec",
        "go run",
        "deno run",
        "deno eval",
        "pipx run",
        "git config",
    }
)


def pattern_for(part: CommandPart) -> str:
    """Empty where no pattern may be offered: interpreters, wrappers, doubts, programs by their path."""
    words = _said(part)
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


def _said(part: CommandPart) -> tuple[str, ...]:
    return tuple(part.plain_text.split(" ")) if part.plain_text else part.words


def _is_plain(text: str) -> bool:
    """A star in a command would be a star in the rule."""
    return not any(char in text for char in "*?\n")
