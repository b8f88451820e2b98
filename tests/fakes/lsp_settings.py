"""Settings of a session whose only language server does what a test says."""

import json
import sys
from pathlib import Path
from typing import Any

from tests.fakes.lsp_pools import FAKE


def fake_server_settings(behaviour: str = "") -> dict[str, Any]:
    """For Python files: each `bad` is an error, each `odd` a warning; see `lsp_server.py`."""
    command = [sys.executable, str(FAKE), behaviour]
    return {"*": {"enabled": False}, "fake": {"enabled": True, "command": command, "extensions": [".py"]}}


def write_settings(folder: Path, lsp: dict[str, Any]) -> None:
    """`folder` is the folder of the user's settings."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps({"lsp": lsp, "tools": {"edit_wait_sec": 60}}))
