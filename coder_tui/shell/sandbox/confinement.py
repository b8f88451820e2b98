"""Decide what one command may reach beyond the workspace: only what its findings name."""

import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise
from pathlib import Path

from coder_tui.policy.command import ShellCommand
from coder_tui.policy.paths import is_within
from coder_tui.policy.rules import pattern_matches
from coder_tui.protocol.findings import FindingKind
from coder_tui.shell.sandbox.protected import ALSO_GUARDED, GUARDED

_GIT = ".git"
# They write objects and references, but never hooks or configuration.
_PLAIN_GIT = frozenset(
    {"add", "commit", "tag", "reset", "restore", "rm", "mv", "stash", "update-index", "notes"}
)
_GRANTABLE = frozenset(GUARDED + ALSO_GUARDED) - {".coder-tui"}
# They work through a service of the machine, outside any sandbox.
_OVER_SERVICES = frozenset({"docker", "docker-compose", "podman", "nerdctl"})
_OVER_SSH = frozenset({"git", "ssh", "scp", "sftp", "rsync"})


@dataclass(frozen=True, slots=True)
class Confinement:
    """What a command may reach, as absolute paths. By default: no network, writes only here, no secrets."""

    network: bool = False
    folders: tuple[str, ...] = ()
    """Folders outside the workspace that may be written, with their content."""
    files: tuple[str, ...] = ()
    """Files outside the workspace that may be written or created. Nothing next to them may change."""
    visible: tuple[str, ...] = ()
    """Secrets that the command reads, by its analysis."""
    git: tuple[str, ...] = ()
    """The `.git` of repositories that may be written, except for hooks and configuration."""
    git_setup: bool = False
    """Whether the configuration of those repositories may also be written."""
    unguarded: tuple[str, ...] = ()
    """Guarded names of the workspace that the command writes, by its analysis."""
    sockets: bool = False
    """Whether it may use services of the user's session (docker, ssh-agent)."""
    is_lasting: bool = False
    """For a program that keeps running: existing hooks and settings in `folders` cannot be changed.

    Missing names cannot be reserved for so long: other programs would run into the placeholders.
    """


NOTHING_MORE = Confinement()


def confinement_for(
    command: ShellCommand | None, roots: Sequence[Path], home: Path, network_patterns: tuple[str, ...] = ()
) -> Confinement:
    """Return the confinement of an approved command. Blocks: it checks which of the paths exist."""
    if command is None:
        return NOTHING_MORE
    inside = tuple(str(root) for root in roots)
    network = _wants_network(command, network_patterns)
    touched = _targets(command, FindingKind.WRITES, FindingKind.DELETES)
    read = _targets(command, FindingKind.READS)
    git = tuple(dict.fromkeys(_repositories(command, touched, inside)))
    outside = [path for path in touched if not _is_in_git(path) and not is_within(path, inside)]
    has_ssh = network and _runs(command, _OVER_SSH)
    has_services = network and _runs(command, _OVER_SERVICES)
    return Confinement(
        network=network,
        folders=tuple(path for path in outside if Path(path).is_dir()),
        files=tuple(dict.fromkeys(_first_new(path) for path in outside if not Path(path).is_dir())),
        visible=(*dict.fromkeys((*read, *outside)), *((str(home / ".ssh"),) if has_ssh else ())),
        git=git,
        git_setup=bool(git) and _sets_up_git(command, touched),
        unguarded=tuple(dict.fromkeys(_guarded_names(touched, inside))),
        sockets=has_ssh or has_services or any(_is_socket(path) for path in (*touched, *read)),
    )


def _targets(command: ShellCommand, *kinds: FindingKind) -> tuple[str, ...]:
    found = (finding.target for finding in command.findings if finding.kind in kinds)
    return tuple(target for target in found if target.startswith("/"))


def _wants_network(command: ShellCommand, patterns: tuple[str, ...]) -> bool:
    if any(finding.kind is FindingKind.NETWORK for finding in command.findings):
        return True
    if command.doubts or not patterns:
        return False
    # Whatever runs together with a command that has the network, has it too.
    working = [part for part in command.parts if not (part.is_read_only or part.is_transparent)]
    return bool(working) and all(
        any(pattern_matches(pattern, part.text) for pattern in patterns) for part in working
    )


def _runs(command: ShellCommand, programs: frozenset[str]) -> bool:
    return any(part.words and part.words[0].rpartition("/")[2] in programs for part in command.parts)


def _is_in_git(path: str) -> bool:
    return _GIT in Path(path).parts


def _repositories(command: ShellCommand, touched: tuple[str, ...], roots: tuple[str, ...]) -> Iterator[str]:
    """Yield each `.git` that is named, and the one that git will find: above the folder, or after `-C`."""
    for path in touched:
        parts = Path(path).parts
        if _GIT not in parts:
            continue
        named = Path(*parts[: parts.index(_GIT) + 1])
        yield str(named)
        if not named.exists():
            yield from _enclosing(named.parent)
        for part in command.parts:
            for flag, folder in pairwise(part.words):
                if part.words[0] == "git" and flag == "-C":
                    yield from _enclosing(Path(os.path.realpath(Path(roots[0], folder))))


def _enclosing(folder: Path) -> Iterator[str]:
    found = (place / _GIT for place in (folder, *folder.parents))
    yield from (str(git) for git in islice((git for git in found if git.exists()), 1))


def _guarded_names(touched: tuple[str, ...], roots: tuple[str, ...]) -> Iterator[str]:
    for path in touched:
        for root in roots:
            parts = Path(path).relative_to(root).parts if is_within(path, (root,)) else ()
            if parts[:1] and parts[0] in _GRANTABLE:
                yield str(Path(root, parts[0]))


def _sets_up_git(command: ShellCommand, touched: tuple[str, ...]) -> bool:
    named = any(Path(path).name == "config" and _GIT in Path(path).parts for path in touched)
    return named or not all(_is_plain_git(part.words) for part in command.parts if part.words[:1] == ("git",))


def _is_plain_git(words: tuple[str, ...]) -> bool:
    rest = list(words[1:])
    while rest and rest[0].startswith("-"):
        # The only flag before the command that takes a word and is not a setting.
        del rest[: 2 if rest[0] == "-C" else 1]
    return bool(rest) and rest[0] in _PLAIN_GIT


def _first_new(path: str) -> str:
    """Return the path, or the outermost of its folders that does not exist yet."""
    made = Path(path)
    while made != made.parent and not made.parent.exists():
        made = made.parent
    return str(made)


def _is_socket(path: str) -> bool:
    try:
        return stat.S_ISSOCK(Path(path).stat().st_mode)
    except OSError:
        return False
