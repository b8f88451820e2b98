"""A keyring for a program under test, as a desktop would have one; kept in a file that the test names."""

import json
import os
from pathlib import Path

from keyring.backend import KeyringBackend
from keyring.compat import properties

VARIABLE = "TEST_KEYRING_FILE"


class FileKeyring(KeyringBackend):
    @properties.classproperty
    def priority(self) -> float:
        return 5.0 if VARIABLE in os.environ else 0.0

    def get_password(self, service: str, username: str) -> str | None:
        found: str | None = self._kept().get(f"{service} {username}")
        return found

    def set_password(self, service: str, username: str, password: str) -> None:
        self._write({**self._kept(), f"{service} {username}": password})

    def delete_password(self, service: str, username: str) -> None:
        kept = self._kept()
        del kept[f"{service} {username}"]
        self._write(kept)

    @property
    def _file(self) -> Path:
        return Path(os.environ[VARIABLE])

    def _kept(self) -> dict[str, str]:
        return json.loads(self._file.read_text()) if self._file.exists() else {}

    def _write(self, kept: dict[str, str]) -> None:
        self._file.write_text(json.dumps(kept))
