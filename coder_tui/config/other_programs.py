"""Names what else in a folder runs things when other programs are pointed at it; none of it is used here."""

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path

from coder_tui.config.inventory import ItemKind, ProjectItem
from coder_tui.config.project import ProjectFileError, read_project_file

# Programs that we start ourselves: one of the same name in the folder is a trap.
_PROGRAMS = ("git", "rg", "bwrap", "sh", "bash", "pylsp", "bash-language-server", "node", "python", "python3")
_GIT_FILES = (".git/config", ".git/config.worktree")
_SECTION = re.compile(r'\[\s*([A-Za-z0-9.-]+)(?:\s+"((?:[^"\\]|\\.)*)")?\s*\]\s*(.*)')
_PAIR = re.compile(r"([A-Za-z][A-Za-z0-9-]*)\s*(?:=\s*(.*))?$")
_RUNS = {
    "core": {"fsmonitor", "hookspath", "sshcommand", "pager", "editor", "askpass", "gitproxy", "worktree"},
    "diff": {"external", "textconv", "command"},
    "filter": {"clean", "smudge", "process"},
    "merge": {"driver"},
    "gpg": {"program", "defaultkeycommand"},
    "credential": {"helper"},
    "include": {"path"},
    "includeif": {"path"},
    "hook": {"command"},
    "sequence": {"editor"},
}
_MOST_SAID = 120


def surrounding_items(workspace: Path) -> Iterator[ProjectItem]:
    """Each for information only: it changes nothing about what the program does."""
    for name in _GIT_FILES:
        if text := _text(workspace, name):
            yield from _git_settings(name, text)
    yield from _git_hooks(workspace)
    if (workspace / ".envrc").is_file():
        yield _known(ItemKind.ENVIRONMENT, ".envrc", "is not read: the environment is yours alone")
    yield from _package_scripts(workspace)
    for name in _PROGRAMS:
        if os.access(workspace / name, os.X_OK) and (workspace / name).is_file():
            yield _known(ItemKind.SCRIPT, name, f"is a program named {name}; the one of the system is used")


def _known(kind: ItemKind, file: str, sentence: str, line: int = 0) -> ProjectItem:
    return ProjectItem(kind, file, line, sentence, needs_trust=False)


def _text(workspace: Path, name: str) -> str:
    try:
        file = read_project_file(workspace, name)
    except ProjectFileError:  # a link that leads out, a pipe: nothing here that we would read
        return ""
    return file.data.decode("utf-8", "replace") if file else ""


def _git_settings(name: str, text: str) -> Iterator[ProjectItem]:
    """Good enough to name what runs programs; git itself is told to ignore it, known here or not."""
    section, subsection = "", ""
    for number, line in enumerate(text.splitlines(), 1):
        rest = line.strip()
        if header := _SECTION.match(rest):
            section, subsection, rest = header[1].lower(), header[2] or "", header[3]
        if not (pair := _PAIR.match(rest)) or pair[1].lower() not in _RUNS.get(section, ()):
            continue
        key = ".".join(part for part in (section, subsection, pair[1]) if part)
        value = (pair[2] or "").strip()[:_MOST_SAID]
        yield _known(ItemKind.GIT, name, f"sets {key} to {value}; reading git tools ignore it", number)


def _git_hooks(workspace: Path) -> Iterator[ProjectItem]:
    folder = workspace / ".git" / "hooks"
    try:
        names = sorted(entry.name for entry in os.scandir(folder))
    except OSError:
        return
    for name in names:
        if not name.endswith(".sample") and os.access(folder / name, os.X_OK):
            yield _known(
                ItemKind.GIT, f".git/hooks/{name}", "is a git hook; a commit names it before it runs"
            )


def _package_scripts(workspace: Path) -> Iterator[ProjectItem]:
    try:
        package = json.loads(_text(workspace, "package.json") or "{}")
    except (ValueError, RecursionError):
        return
    scripts = package.get("scripts") if isinstance(package, dict) else None
    if isinstance(scripts, dict) and scripts:
        names = ", ".join(map(str, scripts))[:_MOST_SAID]
        yield _known(ItemKind.SCRIPT, "package.json", f"has scripts ({names}); none runs by itself")
