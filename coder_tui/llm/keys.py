"""Model keys: from the environment, and from the system's keyring for what is missing.

The only module that talks to the keyring.
"""

import asyncio
import os
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, TypeVar

from coder_tui.llm.providers import PROVIDERS, Provider, provider_of
from coder_tui.protocol.errors import UserError
from coder_tui.tasks import in_daemon_thread

if TYPE_CHECKING:
    from keyring.backend import KeyringBackend


SERVICE = "coder-tui"
_SAFE = 1.0
"""The priority that the package gives to system keyrings; those that write plain files have less."""
NO_KEYRING = "this machine has no system keyring"


class KeyringError(UserError):
    """The keyring is missing or locked, or it refused."""


class Keyring:
    """Model keys in the system's keyring, by the name of their environment variable.

    Every call blocks, perhaps until the user unlocks the keyring. A failure raises `KeyringError`.
    """

    def get(self, variable: str) -> str:
        """Return the key, or an empty string."""
        from keyring import errors

        try:
            return _backend().get_password(SERVICE, variable) or ""
        except (errors.KeyringError, OSError, RuntimeError, ValueError) as error:
            raise KeyringError(f"the system keyring did not answer: {_reason(error)}") from error

    def store(self, variable: str, key: str) -> None:
        from keyring import errors

        try:
            backend = _backend()
            backend.set_password(SERVICE, variable, key)
            # Some keyrings accept everything and store nothing.
            is_kept = backend.get_password(SERVICE, variable) == key
        except (errors.KeyringError, OSError, RuntimeError, ValueError) as error:
            raise KeyringError(f"the system keyring did not accept the key: {_reason(error)}") from error
        if not is_kept:
            raise KeyringError("the system keyring did not store the key")

    def delete(self, variable: str) -> bool:
        """Return whether there was a key."""
        from keyring import errors

        try:
            backend = _backend()
            if not backend.get_password(SERVICE, variable):
                return False
            backend.delete_password(SERVICE, variable)
        except (errors.KeyringError, OSError, RuntimeError, ValueError) as error:
            raise KeyringError(f"the system keyring did not delete the key: {_reason(error)}") from error
        return True


def _backend() -> "KeyringBackend":
    # Imported here: it scans every installed package, and most starts have their keys in the environment.
    from keyring import get_keyring
    from keyring.backends.chainer import ChainerBackend

    chosen = get_keyring()
    # A chain falls back to the next keyring if the first refuses, which may be one that writes a plain file.
    candidates = list(chosen.backends) if isinstance(chosen, ChainerBackend) else [chosen]
    safe = [backend for backend in candidates if _priority(backend) >= _SAFE]
    if not safe:
        raise KeyringError(NO_KEYRING)
    return safe[0]


def _priority(backend: "KeyringBackend") -> float:
    try:
        return float(backend.priority)
    except (RuntimeError, OSError):  # raised by a backend that does not work here
        return 0.0


def _reason(error: BaseException) -> str:
    return str(error) or type(error).__name__


PATIENCE = 20.0
"""Seconds to wait: a locked keyring asks the user for a password."""
_SHORTEST = 8

T = TypeVar("T")


class ModelKeys:
    """The environment wins. The keyring is asked only for missing keys, and once for each provider.

    `learn` gets every key that does not come from the environment, so that it can be redacted.
    """

    def __init__(
        self,
        environ: Mapping[str, str] = os.environ,
        keyring: Keyring | None = None,
        learn: Callable[[str], None] = lambda key: None,
        patience: float = PATIENCE,
    ) -> None:
        self._environ = environ
        self._keyring = keyring or Keyring()
        self._learn = learn
        self._patience = patience
        self._added: dict[str, str] = {}
        self._asked: set[str] = set()
        self.problem = ""
        """Why the keyring could not be asked, or ""."""

    @property
    def environment(self) -> dict[str, str]:
        """A copy of the environment with the keys known so far."""
        missing = {name: key for name, key in self._added.items() if not self._environ.get(name)}
        return {**self._environ, **missing}

    @property
    def warnings(self) -> tuple[str, ...]:
        """Warnings for the user; a missing keyring is not worth one."""
        is_usual = self.problem in ("", NO_KEYRING)
        return () if is_usual else (f"{self.problem[:1].upper()}{self.problem[1:]}.",)

    def has_key(self, provider: Provider) -> bool:
        return provider.has_key(self.environment)

    def source(self, provider: Provider) -> str:
        """Return where the key comes from, or "" if there is none."""
        for name in provider.key_variables:
            if self._environ.get(name):
                return name
        return "system keyring" if self.has_key(provider) else ""

    async def complete(self, providers: Iterable[Provider] = PROVIDERS) -> None:
        """Ask the keyring for keys that the environment lacks; a keyring that fails is not asked again."""
        missing = [
            provider
            for provider in providers
            if provider.prefix not in self._asked and not self.has_key(provider)
        ]
        for provider in missing:
            self._asked.add(provider.prefix)
        if not missing or self.problem:
            return
        try:
            found = await in_background(lambda: self._read(missing), self._patience)
        except KeyringError as error:
            self.problem = str(error)
            return
        for variable, key in found.items():
            self._add(variable, key)

    async def complete_for(self, model: str) -> None:
        provider = provider_of(model)
        if provider is not None:
            await self.complete((provider,))

    async def store(self, provider: Provider, key: str) -> None:
        """Use the key from now on, and store it in the keyring; `KeyringError` means that it will be lost."""
        variable = variable_of(provider)
        self._add(variable, key)
        await in_background(lambda: self._keyring.store(variable, key), self._patience)

    def _add(self, variable: str, key: str) -> None:
        self._learn(key)
        self._added[variable] = key

    def _read(self, providers: Iterable[Provider]) -> dict[str, str]:
        variables = map(variable_of, providers)
        return {variable: key for variable in variables if (key := self._keyring.get(variable))}


def variable_of(provider: Provider) -> str:
    """Return the variable that names a provider's key."""
    return provider.key_variables[0]


def key_problem(key: str) -> str:
    """Say what is wrong with a typed key, without showing it; "" if nothing is."""
    if len(key) < _SHORTEST:
        return "the key is too short"
    if not (key.isascii() and key.isprintable()) or " " in key:
        return "the key contains spaces or characters that keys do not have"
    return ""


async def in_background(work: Callable[[], T], patience: float) -> T:
    """Ask a system keyring, which may block for ever and raise anything."""

    def ask() -> T:
        try:
            return work()
        except KeyringError:
            raise
        except Exception as error:
            raise KeyringError(f"the system keyring failed: {type(error).__name__}") from error

    try:
        async with asyncio.timeout(patience):
            return await in_daemon_thread(ask, "keyring")
    except KeyringError as error:
        # Without its cause: what a keyring raises may hold the key.
        raise error from None
    except TimeoutError as error:
        raise KeyringError(f"the system keyring did not answer within {patience:.0f} s") from error
