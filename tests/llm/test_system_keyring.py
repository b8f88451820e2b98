"""The system's keyring, through the package that finds it."""

from collections.abc import Iterator
from functools import cached_property

import keyring
import pytest
from keyring.backend import KeyringBackend
from keyring.backends import chainer, fail, null
from keyring.compat import properties
from keyring.errors import KeyringLocked, PasswordDeleteError

from coder_tui.llm.keys import SERVICE, Keyring, KeyringError


class Memory(KeyringBackend):
    """What the package finds on a desktop."""

    rank = 5.0

    @cached_property
    def kept(self) -> dict[tuple[str, str], str]:
        return {}

    @properties.classproperty
    def priority(self) -> float:
        return self.rank

    def get_password(self, service: str, username: str) -> str | None:
        return self.kept.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        self.kept[service, username] = password

    def delete_password(self, service: str, username: str) -> None:
        if (service, username) not in self.kept:
            raise PasswordDeleteError
        del self.kept[service, username]


class PlainFile(Memory):
    """Ranked like keyrings that write keys to a file."""

    rank = 0.5


class Locked(Memory):
    def get_password(self, service: str, username: str) -> str | None:
        raise KeyringLocked("nobody unlocked it")


def made(kind: type[Memory]) -> Memory:
    return kind()


@pytest.fixture(autouse=True)
def _restored() -> Iterator[None]:
    yield
    # Not the keyring from before: the package would search, and find those of this file.
    none: type[KeyringBackend] = fail.Keyring
    keyring.set_keyring(none())


def test_a_key_is_kept_found_and_deleted() -> None:
    backend = made(Memory)
    keyring.set_keyring(backend)
    store = Keyring()
    store.store("OPENAI_API_KEY", "sk-0123456789")
    assert backend.kept == {(SERVICE, "OPENAI_API_KEY"): "sk-0123456789"}
    assert store.get("OPENAI_API_KEY") == "sk-0123456789"
    assert (store.delete("OPENAI_API_KEY"), store.delete("OPENAI_API_KEY")) == (True, False)
    assert store.get("OPENAI_API_KEY") == ""


@pytest.mark.parametrize(
    "backend", [fail.Keyring, null.Keyring, PlainFile], ids=["fail", "null", "plain file"]
)
def test_an_unsafe_keyring_is_not_used(backend: type[KeyringBackend]) -> None:
    keyring.set_keyring(backend())
    for call in (
        lambda: Keyring().get("X_API_KEY"),
        lambda: Keyring().store("X_API_KEY", "secret"),
    ):
        with pytest.raises(KeyringError, match="this machine has no system keyring"):
            call()


def test_a_chain_never_falls_through_to_a_plain_file(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = made(PlainFile)
    monkeypatch.setattr(chainer.ChainerBackend, "backends", [made(Locked), plain])
    chained: type[KeyringBackend] = chainer.ChainerBackend
    keyring.set_keyring(chained())
    with pytest.raises(KeyringError, match="nobody unlocked it"):
        Keyring().store("OPENAI_API_KEY", "sk-0123456789")
    assert plain.kept == {}


def test_a_keyring_that_stores_nothing_is_reported() -> None:
    class Forgetful(Memory):
        def set_password(self, service: str, username: str, password: str) -> None:
            """Accept the key and store nothing."""

    keyring.set_keyring(made(Forgetful))
    with pytest.raises(KeyringError, match="did not store the key"):
        Keyring().store("OPENAI_API_KEY", "sk-0123456789")
