"""Remembers servers and tools as the user approved them; one that changes needs approval again."""

import hashlib
import json
import logging
from pathlib import Path
from typing import Any

from coder_tui.config.own_files import write_private
from coder_tui.mcp.wire import ToolInfo

log = logging.getLogger(__name__)
_KEPT = 20
"""How many versions of one server or tool are remembered: two projects may share a server name."""
CONFIG_CHANGED = "how this server is started or reached has changed since its tools were last allowed"
RECORD_LOST = "the record of what was allowed before cannot be read"
TOOL_CHANGED = "this tool's description has changed since it was last allowed"


def fingerprint(info: ToolInfo) -> str:
    """Hash everything that a server says about a tool: every word of it can steer a model."""
    fields = [info.name, info.description, info.title, info.claims, info.schema]
    return hashlib.sha256(json.dumps(fields, sort_keys=True, default=str).encode()).hexdigest()


class Approved:
    """The record in a file of the user's. What was never seen has not changed: only rules decide then."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._seen, self._is_lost = _read(path)

    def changed(self, server: str, config: str, tool: str, described: str) -> str:
        """Say why a call needs approval although a rule allows it; "" if it does not."""
        if self._is_lost and not (_server(server) in self._seen and _tool(tool) in self._seen):
            return RECORD_LOST
        if config not in self._seen.get(_server(server), [config]):
            return CONFIG_CHANGED
        return TOOL_CHANGED if described not in self._seen.get(_tool(tool), [described]) else ""

    def record(self, server: str, config: str, tool: str, described: str) -> None:
        """Record that they may run as they are now. Blocks; without a file it applies to this session."""
        wanted = {_server(server): config, _tool(tool): described}
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
            log.warning("cannot save which tools were allowed: %s", error)


def _server(name: str) -> str:
    return f"server {name}"


def _tool(name: str) -> str:
    return f"tool {name}"


def _read(path: Path) -> tuple[dict[str, list[str]], bool]:
    """Return what is remembered, and whether some of it was lost."""
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
