"""Keeps git from running programs that a repository names: what is overridden, and what is left to show."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

Pairs = Mapping[str, str]
_FILTER = re.compile(r"filter\.(?s:.*)\.(clean|smudge|process|required)")
_SIGNERS = {
    "gpg.program": "gpg",
    "gpg.openpgp.program": "gpg",
    "gpg.x509.program": "gpgsm",
    "gpg.ssh.program": "ssh-keygen",
    "gpg.ssh.defaultkeycommand": "",
}
_HOOK_COMMAND = re.compile(r"hook\.(?s:.*)\.command")
_OF_THE_REPOSITORY = frozenset({"local", "worktree"})

# Where a setting cannot be emptied it gets a value that does nothing.
_ALWAYS: Pairs = {
    "core.fsmonitor": "false",
    "core.pager": "cat",
    "core.editor": ":",
    "core.quotePath": "false",
    "safe.bareRepository": "explicit",
    "submodule.recurse": "false",
    "status.submoduleSummary": "false",
    "gc.auto": "0",
    "maintenance.auto": "false",
    "color.ui": "false",
    "color.status": "false",
    "color.diff": "false",
    "column.ui": "never",
    "column.status": "never",
    "advice.statusHints": "false",
    "i18n.logOutputEncoding": "utf-8",
}
_READING: Pairs = {
    **_ALWAYS,
    "core.hooksPath": "/dev/null",
    "core.attributesFile": "/dev/null",
    "core.sshCommand": "/bin/false",
    "core.askPass": "/bin/false",
    "core.alternateRefsCommand": "/bin/false",
    "credential.helper": "",
    "protocol.allow": "never",
    "diff.orderFile": "/dev/null",
    "diff.ignoreSubmodules": "all",
    "log.showSignature": "false",
    **dict.fromkeys(
        ("gpg.program", "gpg.ssh.program", "gpg.x509.program", "gpg.openpgp.program"), "/bin/false"
    ),
}


@dataclass(frozen=True, slots=True)
class Entry:
    """One setting as git lists it; `scope` tells the repository's own from the person's."""

    scope: str
    key: str
    value: str

    @property
    def is_of_the_repository(self) -> bool:
        return self.scope in _OF_THE_REPOSITORY


def parse_listing(text: str) -> tuple[Entry, ...]:
    """Read `git config --list --show-scope -z`: scope and setting take turns."""
    fields = text.split("\0")
    entries = []
    for scope, setting in zip(fields[::2], fields[1::2], strict=False):
        key, _, value = setting.partition("\n")
        entries.append(Entry(scope, key, value))
    return tuple(entries)


def for_reading(entries: Iterable[Entry], excludes: str) -> dict[str, str]:
    """Overrides under which nothing but git itself runs."""
    return {**_READING, "core.excludesFile": excludes, **_without_filters(entries)}


def for_acting(entries: Iterable[Entry], *, filters: bool) -> dict[str, str]:
    """Overrides for what a person approved: the signing program is theirs, whatever the repository says."""
    known = tuple(entries)
    return {**_ALWAYS, **({} if filters else _without_filters(known)), **_own_signers(known)}


def programs_of_repository(entries: Iterable[Entry]) -> tuple[Entry, ...]:
    """Filters that the repository's own settings run for files, the ones that do nothing left out."""
    return tuple(
        entry
        for entry in entries
        if entry.is_of_the_repository
        and entry.value
        and _FILTER.fullmatch(entry.key)
        and entry.key.endswith((".clean", ".process"))
    )


def configured_hooks(entries: Iterable[Entry]) -> tuple[Entry, ...]:
    return tuple(
        entry for entry in entries if entry.is_of_the_repository and _HOOK_COMMAND.fullmatch(entry.key)
    )


def last_value(entries: Iterable[Entry], key: str) -> str:
    values = [entry.value for entry in entries if entry.key == key]
    return values[-1] if values else ""


def _without_filters(entries: Iterable[Entry]) -> dict[str, str]:
    found = (entry.key for entry in entries if entry.is_of_the_repository and _FILTER.fullmatch(entry.key))
    return {key: "false" if key.endswith(".required") else "" for key in found}


def _own_signers(entries: tuple[Entry, ...]) -> dict[str, str]:
    named = {entry.key for entry in entries if entry.is_of_the_repository and entry.key in _SIGNERS}
    own = {entry.key: entry.value for entry in entries if not entry.is_of_the_repository}
    return {key: own.get(key, _SIGNERS[key]) for key in named}
