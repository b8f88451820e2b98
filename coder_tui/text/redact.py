"""Keeps secrets out of what leaves the program: by their shape, and by the values this process knows.

The secrets that this process holds, in the forms in which they could turn up in a text.
"""

import base64
import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from enum import Enum
from functools import cache
from typing import Any, TypeVar, cast
from urllib.parse import quote

from coder_tui.text.secret_shapes import MASK, hide_shapes, is_secret_field

_NAME = re.compile(r"KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIAL", re.IGNORECASE)
_API_KEY = re.compile(r"API_?KEY$", re.IGNORECASE)
# A folder, a number or a word stands in many texts that hold no secret: GNOME_KEYRING_CONTROL=/run/user,
# MAX_TOKENS=4096, POSTGRES_PASSWORD=postgres.
_HARMLESS = re.compile(r"[~./].*|\d{1,12}|[A-Za-z]+|[a-z]+(?:[-_][a-z]+)*", re.DOTALL)
_SHORTEST = 6
_SHORTEST_API_KEY = 8
_LONGEST_WORD = 15
_SHORTEST_ENCODED = 12


def secret_values(environment: Mapping[str, str]) -> tuple[str, ...]:
    """The values of the variables that hold secrets by their name, and do not look like something else."""
    return tuple(value for name, value in environment.items() if _is_secret(name, value.strip()))


def _is_secret(name: str, value: str) -> bool:
    if not _NAME.search(name):
        return False
    if _API_KEY.search(name):
        return len(value) >= _SHORTEST_API_KEY
    is_word = len(value) <= _LONGEST_WORD or value.startswith(("/", "~", "."))
    return len(value) >= _SHORTEST and not (is_word and _HARMLESS.fullmatch(value))


def forms_of(values: Iterable[str]) -> tuple[str, ...]:
    """Each value plain, quoted for an address or for JSON, in hexadecimal and in base64; longest first."""
    forms = {form for value in values for form in _forms(value.strip())}
    return tuple(sorted(forms, key=len, reverse=True))


def _forms(value: str) -> Iterator[str]:
    data = value.encode("utf-8", "surrogateescape")
    yield value
    yield quote(data, safe="")
    yield json.dumps(value)[1:-1]
    yield json.dumps(value, ensure_ascii=False)[1:-1]
    if len(data) >= _SHORTEST_ENCODED:
        yield data.hex()
        for shift in range(3):
            yield from _encoded(data, shift)


def _encoded(data: bytes, shift: int) -> Iterator[str]:
    """What base64 makes of it after `shift` other bytes: the part that those cannot change."""
    padded = b"\0" * shift + data
    start, end = -(-shift * 8 // 6), len(padded) * 8 // 6
    yield base64.b64encode(padded).decode()[start:end]
    yield base64.urlsafe_b64encode(padded).decode()[start:end]


__all__ = ["BY_SHAPE", "MASK", "Redactor", "map_texts"]

T = TypeVar("T")


class Redactor:
    """Replaces secrets in text; knows the values of the secret-looking variables it was given.

    Called, it hides both kinds: for what is kept or printed. `known` hides only this process's own secrets:
    for the model and the screen, where a file must look as it is.
    """

    def __init__(self, environment: Mapping[str, str], values: Iterable[str] = ()) -> None:
        """`values` are further secrets, whatever they look like."""
        self._values = (*secret_values(environment), *values)
        self.forms = forms_of(self._values)

    def learn(self, value: str) -> None:
        """A further secret, for everything that is looked at from now on."""
        if not value:
            return  # nothing stands between any two letters
        self._values = (*self._values, value)
        self.forms = forms_of(self._values)

    def __call__(self, text: str) -> str:
        return hide_shapes(self.known(text))

    def known(self, text: str) -> str:
        for form in self.forms:
            if form in text:
                text = text.replace(form, MASK)
        return text

    def json_text(self, text: str) -> str:
        """The same for a JSON document, which stays one; what is no JSON is taken as text."""
        try:
            value = json.loads(text)
            clean = self.value(value)
        except (ValueError, RecursionError):
            return self(text)
        return text if clean == value else json.dumps(clean, ensure_ascii=False)

    def value(self, value: Any, name: str = "") -> Any:
        """The same for every text within plain data; a field called `password` holds a secret by its name."""
        match value:
            case str():
                return MASK if is_secret_field(name) and value else self(value)
            case dict():
                return {key: self.value(item, str(key)) for key, item in value.items()}
            case list() | tuple():
                return [self.value(item, name) for item in value]
            case _:
                return value


BY_SHAPE = Redactor({})
"""For where no environment is at hand: knows no values."""


def map_texts(value: T, change: Callable[[str], str]) -> T:
    """The same value with every text in it changed, however deep in data classes and tuples."""
    if isinstance(value, Enum):
        return value
    if isinstance(value, str):
        return cast(T, change(value))
    if isinstance(value, tuple):
        return cast(T, tuple(map_texts(item, change) for item in value))
    if is_dataclass(value) and not isinstance(value, type):
        return replace(
            value, **{field.name: map_texts(getattr(value, field.name), change) for field in fields(value)}
        )
    return value


@cache
def process_redactor() -> Redactor:
    """Return the one redactor that knows the secrets of this process's environment."""
    return Redactor(os.environ)
