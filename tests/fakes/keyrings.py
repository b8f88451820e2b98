"""Keyrings for tests: in memory, absent, and one that never answers."""

import threading
from dataclasses import dataclass, field

from coder_tui.llm.keys import NO_KEYRING, Keyring, KeyringError


@dataclass
class FakeKeyring(Keyring):
    """`asked` has every variable that was looked for, in order."""

    keys: dict[str, str] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)

    def get(self, variable: str) -> str:
        self.asked.append(variable)
        return self.keys.get(variable, "")

    def store(self, variable: str, key: str) -> None:
        self.keys[variable] = key

    def delete(self, variable: str) -> bool:
        return self.keys.pop(variable, "") != ""


class NoKeyring(Keyring):
    def get(self, variable: str) -> str:
        raise KeyringError(NO_KEYRING)

    def store(self, variable: str, key: str) -> None:
        raise KeyringError(NO_KEYRING)

    def delete(self, variable: str) -> bool:
        raise KeyringError(NO_KEYRING)


class SilentKeyring(NoKeyring):
    """Waits for ever, as a locked one does whose question nobody sees."""

    def get(self, variable: str) -> str:
        threading.Event().wait()
        return ""
