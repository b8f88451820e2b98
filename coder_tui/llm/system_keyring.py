"""Model keys in the system's keyring; the only module that talks to it."""

from typing import TYPE_CHECKING, Protocol

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
