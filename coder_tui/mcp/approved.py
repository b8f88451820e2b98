"""Remembers what a server and its tools were when a person let them run: who changes is asked about again."""

import hashlib
import json
import logging
from pathlib import Path
from typing import Any

from coder_tui.config.own_files import write_private
from coder_tui.mcp.wire import ToolInfo

log = logging.getLogger(__name__)
_KEPT = 20
"""Earlier forms of one thing that are remembered: two projects may have servers of one name."""
CONFIG_CHANGED = "how this server is started or reached has changed since its tools were last allowed"
RECORD_LOST = "the record of what was allowed before cannot be read"
TOOL_CHANGED = "what this tool says of itself has changed since it was last allowed"


def fingerprint(info: ToolInfo) -> str:
    """Of all that a server tells of a tool: a model is steered by every word of it."""
    told = [info.name, info.description, info.title, info.claims, info.schema]
    return hashlib.sha256(json.dumps(told, sort_keys=True, default=str).encode()).hexdigest()


class Approved:
    """One file of the person's. A thing that was never seen is not changed: then the rules alone decide."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._seen, self._is_lost = _read(path)

    def changed(self, server: str, config: str, tool: str, told: str) -> str:
        """Why a call must be asked about though a rule allows it; empty where it need not."""
        if self._is_lost and not (_server(server) in self._seen and _tool(tool) in self._seen):
            return RECORD_LOST
        if config not in self._seen.get(_server(server), [config]):
            return CONFIG_CHANGED
        return TOOL_CHANGED if told not in self._seen.get(_tool(tool), [told]) else ""

    def note(self, server: str, config: str, tool: str, told: str) -> None:
        """They may run as they are now. Blocks; what cannot be kept holds for this session."""
        wanted = {_server(server): config, _tool(tool): told}
        if all(self._seen.get(key, [])[-1:] == [value] for key, value in wanted.items()):
            return
        seen = {**_read(self._path)[0], **self._seen}
        for key, value in wanted.items():
            seen[key] = [*(each for each in seen.get(key, []) if each != value), value][-_KEPT:]
        self._seen = seen
        try:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            write_private(self._path, json.dumps(seen, indent=1).encode())
        except OSError as error:
            log.warning("cannot keep which tools were allowed: %s", error)


def _server(name: str) -> str:
    return f"server {name}"


def _tool(name: str) -> str:
    return f"tool {name}"


def _read(path: Path) -> tuple[dict[str, list[str]], bool]:
    """What is remembered, and whether some of it was lost."""
    try:
        stored: Any = json.loads(path.read_bytes())
    except FileNotFoundError:
        return {}, False
    except (OSError, ValueError, RecursionError) as error:
        log.warning("cannot read which tools were allowed: %s", error)
        return {}, True
    if not isinstance(stored, dict):
        return {}, True
    lists = {key: value for key, value in stored.items() if isinstance(value, list)}
    seen = {str(key): [str(each) for each in value] for key, value in lists.items()}
    return seen, len(lists) < len(stored)
