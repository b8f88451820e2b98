"""The environment that models are called with: the process's own, and what the keyring adds to it.

Model keys in the system's keyring; the only module that talks to it.
"""

import asyncio
import os
import threading
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future
from typing import TYPE_CHECKING, Protocol, TypeVar

from coder_tui.llm.providers import PROVIDERS, Provider, provider_of
from coder_tui.protocol.errors import UserError

if TYPE_CHECKING:
    from keyring.backend import KeyringBackend


SERVICE = "coder-tui"
_SAFE = 1.0
"""What the package gives to keyrings of the system; those that write plain files have less."""
NO_KEYRING = "there is no system keyring here"


class KeyringError(UserError):
    """The keyring is missing, locked, or refused."""


class Keyring(Protocol):
    """Keys by the name of their environment variable. Every call blocks, perhaps until it is unlocked."""

    def get(self, variable: str) -> str:
        """Empty where there is none."""

    def keep(self, variable: str, key: str) -> None: ...

    def delete(self, variable: str) -> bool:
        """Whether there was one."""


class SystemKeyring:
    """What cannot be done raises `KeyringError` with a sentence."""

    def get(self, variable: str) -> str:
        from keyring import errors

        try:
            return _backend().get_password(SERVICE, variable) or ""
        except (errors.KeyringError, OSError, RuntimeError, ValueError) as error:
            raise KeyringError(f"the system keyring did not answer: {_words(error)}") from error

    def keep(self, variable: str, key: str) -> None:
        from keyring import errors

        try:
            backend = _backend()
            backend.set_password(SERVICE, variable, key)
            # There are keyrings that take everything and keep nothing.
            is_kept = backend.get_password(SERVICE, variable) == key
        except (errors.KeyringError, OSError, RuntimeError, ValueError) as error:
            raise KeyringError(f"the system keyring did not take the key: {_words(error)}") from error
        if not is_kept:
            raise KeyringError("the system keyring did not keep the key")

    def delete(self, variable: str) -> bool:
        from keyring import errors

        try:
            backend = _backend()
            if not backend.get_password(SERVICE, variable):
                return False
            backend.delete_password(SERVICE, variable)
        except (errors.KeyringError, OSError, RuntimeError, ValueError) as error:
            raise KeyringError(f"the system keyring did not delete the key: {_words(error)}") from error
        return True


def _backend() -> "KeyringBackend":
    # Imported here: it looks at every installed package, and most starts have their keys in the environment.
    from keyring import get_keyring
    from keyring.backends.chainer import ChainerBackend

    chosen = get_keyring()
    # A chain goes on to the next one where the first refuses, which may be one that writes a plain file.
    candidates = list(chosen.backends) if isinstance(chosen, ChainerBackend) else [chosen]
    safe = [backend for backend in candidates if _priority(backend) >= _SAFE]
    if not safe:
        raise KeyringError(NO_KEYRING)
    return safe[0]


def _priority(backend: "KeyringBackend") -> float:
    try:
        return float(backend.priority)
    except (RuntimeError, OSError):  # the package's way of saying that it does not work here
        return 0.0


def _words(error: BaseException) -> str:
    return str(error) or type(error).__name__


PATIENCE = 20.0
"""Seconds: a locked keyring asks the person for a password."""
_SHORTEST = 8

T = TypeVar("T")


class ModelKeys:
    """The environment wins. The keyring is asked only for what is missing, and once for each provider.

    `learn` is told every key that does not come from the environment, so that it can be hidden.
    """

    def __init__(
        self,
        environ: Mapping[str, str] = os.environ,
        keyring: Keyring | None = None,
        learn: Callable[[str], None] = lambda key: None,
        patience: float = PATIENCE,
    ) -> None:
        self._environ = environ
        self._keyring = keyring or SystemKeyring()
        self._learn = learn
        self._patience = patience
        self._added: dict[str, str] = {}
        self._asked: set[str] = set()
        self.problem = ""
        """Why the keyring could not be asked, in words; empty where it could."""

    @property
    def environment(self) -> dict[str, str]:
        """A copy: whoever starts a process with it takes nothing that is learnt later."""
        missing = {name: key for name, key in self._added.items() if not self._environ.get(name)}
        return {**self._environ, **missing}

    @property
    def warnings(self) -> tuple[str, ...]:
        """What a person should know: that there is no keyring is nothing of it."""
        is_usual = self.problem in ("", NO_KEYRING)
        return () if is_usual else (f"{self.problem[:1].upper()}{self.problem[1:]}.",)

    def has_key(self, provider: Provider) -> bool:
        return provider.has_key(self.environment)

    def source(self, provider: Provider) -> str:
        """Where the key comes from, in a word; empty where there is none."""
        for name in provider.key_variables:
            if self._environ.get(name):
                return name
        return "system keyring" if self.has_key(provider) else ""

    async def complete(self, providers: Iterable[Provider] = PROVIDERS) -> None:
        """Ask the keyring for the keys that the environment lacks; a keyring that fails is asked no more."""
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

    async def keep(self, provider: Provider, key: str) -> None:
        """Use the key from now on, and put it into the keyring; `KeyringError` says that it will be lost."""
        variable = variable_of(provider)
        self._add(variable, key)
        await in_background(lambda: self._keyring.keep(variable, key), self._patience)

    def _add(self, variable: str, key: str) -> None:
        self._learn(key)
        self._added[variable] = key

    def _read(self, providers: Iterable[Provider]) -> dict[str, str]:
        variables = map(variable_of, providers)
        return {variable: key for variable in variables if (key := self._keyring.get(variable))}


def variable_of(provider: Provider) -> str:
    """The variable by which a provider's key is known."""
    return provider.key_variables[0]


def wrong_key(key: str) -> str:
    """What is wrong with a typed key, empty where nothing is; the key itself is not in the words."""
    if len(key) < _SHORTEST:
        return "that is too short for a key"
    if not (key.isascii() and key.isprintable()) or " " in key:
        return "a key has no blanks and only plain characters"
    return ""


async def in_background(work: Callable[[], T], patience: float) -> T:
    """Run what may block for ever in a thread that does not keep the program from ending."""
    future: Future[T] = Future()
    future.set_running_or_notify_cancel()

    def run() -> None:
        try:
            future.set_result(work())
        except KeyringError as error:
            future.set_exception(error)
        except Exception as error:  # noqa: BLE001  # a keyring of the system's raises what it likes, and must not print
            future.set_exception(KeyringError(f"the system keyring failed: {type(error).__name__}"))

    threading.Thread(target=run, name="keyring", daemon=True).start()
    try:
        async with asyncio.timeout(patience):
            return await asyncio.wrap_future(future)
    except TimeoutError as error:
        raise KeyringError(f"the system keyring did not answer within {patience:.0f} s") from error
