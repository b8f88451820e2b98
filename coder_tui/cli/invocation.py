"""What the arguments mean: folder, raw settings and mode. Cheap, for it stands before the first paint."""

import argparse
import os
import re
from pathlib import Path
from typing import Any

from coder_tui.bootstrap.invocation import Invocation, existing_folder
from coder_tui.cli.arguments import nearest_command
from coder_tui.config.paths import find_directories
from coder_tui.config.sources import find_sources
from coder_tui.protocol.access import Mode
from coder_tui.protocol.errors import UsageError


def read_invocation(arguments: argparse.Namespace, path: str = ".") -> Invocation:
    """Check what can be checked without the settings' schema; `UserError` says what is wrong."""
    given: dict[str, Any] = vars(arguments)
    _check_resume(given)
    directory = _session_folder(path) if "path" in given else existing_folder(path)
    directories = find_directories(os.environ)
    config = given.get("config")
    sources = find_sources(
        directories, directory, os.environ, _flags(given), Path(config).expanduser() if config else None
    )
    return Invocation(
        directory=directory,
        directories=directories,
        sources=sources,
        mode=Mode(given["permission"]) if given.get("permission") else None,
        added_roots=tuple(existing_folder(folder) for folder in given.get("add_dir") or ()),
        resume=given.get("resume") or "",
        is_continued=bool(given.get("continue_")),
        agent=given.get("agent") or "",
        is_fork=bool(given.get("fork")),
    )


def _check_resume(given: dict[str, Any]) -> None:
    if given.get("resume") is not None and not given["resume"].strip():
        raise UsageError("--resume needs the id of a session; 'coder-tui sessions list' shows them")
    if given.get("fork") and not given.get("resume") and not given.get("continue_"):
        raise UsageError("--fork goes with --resume ID or --continue: it goes on with a copy of that session")


def _session_folder(text: str) -> Path:
    """A word that is no folder may have been meant for a command."""
    if re.fullmatch(r"[A-Za-z][\w-]*", text) and not os.path.lexists(text):
        near = nearest_command(text)
        hint = f"did you mean '{near}'?" if near else "see 'coder-tui --help'"
        raise UsageError(f"no folder at {text}, and no such command; {hint}")
    return existing_folder(text)


def _flags(given: dict[str, Any]) -> dict[str, object]:
    """Flags as nested settings; what was not given is not there."""
    wanted = {
        ("model", "name"): given.get("model"),
        ("model", "api_base"): given.get("api_base"),
        ("limits", "max_steps"): given.get("max_turns"),
        ("limits", "max_cost"): given.get("max_cost"),
        ("ui", "theme"): given.get("theme"),
    }
    flags: dict[str, dict[str, object]] = {}
    for (section, key), value in wanted.items():
        if value is not None and value != "":
            flags.setdefault(section, {})[key] = value
    return dict(flags)
