"""The files of a project, and of a person, in which other programs keep their MCP servers."""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

from coder_tui.config.mcp_formats import (
    Convert,
    FoundServers,
    claude_entry,
    gemini_entry,
    opencode_entry,
    read_servers,
)
from coder_tui.config.paths import display_path
from coder_tui.config.project import SERVERS_NAME, ProjectFile, ProjectFileError, read_project_file

_SERVERS = "mcpServers"
GEMINI_NAME = ".gemini/settings.json"
OPENCODE_NAMES = ("opencode.json", "opencode.jsonc")
SHARED_NAMES = (*OPENCODE_NAMES, GEMINI_NAME)
"""Files that hold other things as well: trust is about their servers alone."""
_FORMATS: dict[str, tuple[str, Convert]] = {
    **dict.fromkeys(OPENCODE_NAMES, ("mcp", opencode_entry)),
    GEMINI_NAME: (_SERVERS, gemini_entry),
    SERVERS_NAME: (_SERVERS, claude_entry),
}
PROJECT_NAMES = (*SHARED_NAMES, SERVERS_NAME)
"""Weakest first: of one name the later holds."""
_CLAUDE = ".claude.json"
_LARGEST = 50_000_000
# A text in quotes is kept as it is; a comment goes. What is never closed reaches to the end: looked for anew
# from each sign inside it, a stranger's small file would take hours.
_TEXT = r'"(?:[^"\\]++|\\.)*+(?:"|\\?\Z)'
_COMMENT = re.compile(_TEXT + r"|//[^\n]*|/\*.*?(?:\*/|\Z)", re.DOTALL)
_LAST_COMMA = re.compile(_TEXT + r"|,(?=\s*[}\]])", re.DOTALL)


def server_file(workspace: Path, name: str) -> ProjectFile | None:
    """What trust is about in such a file, of a shared one its servers alone; None where there are none."""
    file = read_project_file(workspace, name)
    return None if file is None else _trusted_part(file)


def server_table(file: ProjectFile) -> dict[str, object]:
    """The servers that `server_file` gave, as they stand there."""
    values, _ = _values(file)
    # An `.mcp.json` may leave the word around its servers out.
    table = values.get(_SERVERS, values)
    return table if isinstance(table, dict) else {}


def project_servers(workspace: Path, trusts: Callable[[ProjectFile], bool]) -> Iterator[FoundServers]:
    """Of each file in its order; one that is not trusted has only a word to say. Blocks."""
    for name in PROJECT_NAMES:
        try:
            file = read_project_file(workspace, name)
            part = None if file is None else _trusted_part(file)
            if file is None or part is None:
                continue
            if trusts(part):
                yield _read(file)
            else:
                told = f"found MCP servers in {name}, not started: not trusted; 'coder-tui trust' asks"
                yield FoundServers(problems=(told,))
        except ProjectFileError as error:
            yield FoundServers(problems=(f"{name} {error}; its servers are not used",))


def _trusted_part(file: ProjectFile) -> ProjectFile | None:
    if file.name not in SHARED_NAMES:
        return file
    key, _ = _FORMATS[file.name]
    servers = _values(file)[0].get(key)
    if not servers:
        return None
    return ProjectFile(file.name, json.dumps({_SERVERS: servers}, sort_keys=True, indent=1).encode())


def claude_servers(home: Path, workspace: Path) -> FoundServers:
    """The person's own of Claude Code: for every folder, and for this one. Blocks."""
    path = home / _CLAUDE
    try:
        if not path.is_file() or path.stat().st_size > _LARGEST:
            return FoundServers()
        values = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError) as error:
        return FoundServers(problems=(f"{display_path(path)} cannot be read: {error}",))
    if not isinstance(values, dict):
        return FoundServers()
    projects = values.get("projects")
    here = projects.get(str(workspace)) if isinstance(projects, dict) else None
    tables = (values.get(_SERVERS), here.get(_SERVERS) if isinstance(here, dict) else None)
    merged = {name: entry for table in tables if isinstance(table, dict) for name, entry in table.items()}
    return read_servers(merged, display_path(path), claude_entry, is_own=True)


def _read(file: ProjectFile) -> FoundServers:
    key, convert = _FORMATS[file.name]
    values, twice = _values(file)
    table = server_table(file) if file.name == SERVERS_NAME else values.get(key, {})
    if file.name == GEMINI_NAME and isinstance(table, dict):
        table = _let_by_gemini(table, values.get("mcp"))
    found = read_servers(table, file.name, convert, is_own=False)
    notes = tuple(f"{file.name}: {name} is written twice; the last holds" for name in twice)
    return replace(found, problems=(*found.problems, *notes))


def _let_by_gemini(table: dict[str, object], said: object) -> dict[str, object]:
    """Without those that the same file switches off, by name."""
    allowed, excluded = (said.get(key) if isinstance(said, dict) else None for key in ("allowed", "excluded"))
    return {
        name: entry
        for name, entry in table.items()
        if (not isinstance(allowed, list) or name in allowed)
        and not (isinstance(excluded, list) and name in excluded)
    }


def _values(file: ProjectFile) -> tuple[dict[str, object], tuple[str, ...]]:
    """The file's content, and which keys of it are there twice; comments are no mistake."""
    twice: list[str] = []

    def pairs(given: list[tuple[str, object]]) -> dict[str, object]:
        times = Counter(name for name, _ in given)
        twice.extend(name for name, count in times.items() if count > 1)
        return dict(given)

    text = file.data.decode("utf-8", "replace").removeprefix("\ufeff")
    text = _LAST_COMMA.sub(_without, _COMMENT.sub(_without, text))
    try:
        values = json.loads(text, object_pairs_hook=pairs)
    except (ValueError, RecursionError) as error:
        raise ProjectFileError(f"is not valid JSON: {error}") from error
    if not isinstance(values, dict):
        raise ProjectFileError("must be a JSON object")
    return values, tuple(twice)


def _without(found: re.Match[str]) -> str:
    return found[0] if found[0].startswith('"') else ""
