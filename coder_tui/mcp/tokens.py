"""Keeps the login to one server in a file for the person alone."""

import json
from pathlib import Path
from typing import Any

from coder_tui.config.private_file import write_private

JsonObject = dict[str, Any]


class TokenFile:
    """`url` is the server's: what was given for one address is never sent to another."""

    def __init__(self, path: Path, url: str) -> None:
        self._path = path
        self._url = url

    def get(self, key: str) -> JsonObject | None:
        stored = self._all().get(key)
        return stored if isinstance(stored, dict) else None

    def put(self, key: str, value: JsonObject) -> None:
        self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        text = json.dumps({**self._all(), "url": self._url, key: value})
        write_private(self._path, text.encode())

    def _all(self) -> JsonObject:
        try:
            stored = json.loads(self._path.read_bytes())
        except (OSError, ValueError):
            return {}
        return stored if isinstance(stored, dict) and stored.get("url") == self._url else {}
