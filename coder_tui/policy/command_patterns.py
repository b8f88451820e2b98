"""The narrowest pattern that is still useful for a command: its program, and its subcommand if any."""

from coder_tui.policy.command import CommandPart
from coder_tui.policy.shell.programs.building import INTERPRETERS, SHELLS
from coder_tui.policy.shell.programs.wrappers import WRAPPERS
from coder_tui.policy.shell.words import named

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
