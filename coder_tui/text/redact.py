"""Keep secrets out of text that leaves the program: by their shape, and by values that this process knows.

Known values are also found in other forms: quoted, in hexadecimal, in base64. In text that arrives in
pieces, a possible beginning of a secret waits for the rest.
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
# A folder, a number or a word occurs in many texts without secrets: GNOME_KEYRING_CONTROL=/run/user,
# MAX_TOKENS=4096, POSTGRES_PASSWORD=postgres.
_HARMLESS = re.compile(r"[~./].*|\d{1,12}|[A-Za-z]+|[a-z]+(?:[-_][a-z]+)*", re.DOTALL)
_SHORTEST = 6
_SHORTEST_API_KEY = 8
_LONGEST_WORD = 15
_SHORTEST_ENCODED = 12


def secret_values(environment: Mapping[str, str]) -> tuple[str, ...]:
    """Return the values of variables that have a secret's name and do not look like something else."""
    return tuple(value for name, value in environment.items() if _is_secret(name, value.strip()))


def _is_secret(name: str, value: str) -> bool:
    if not _NAME.search(name):
        return False
    if _API_KEY.search(name):
        return len(value) >= _SHORTEST_API_KEY
    is_word = len(value) <= _LONGEST_WORD or value.startswith(("/", "~", "."))
    return len(value) >= _SHORTEST and not (is_word and _HARMLESS.fullmatch(value))


def forms_of(values: Iterable[str]) -> tuple[str, ...]:
    """Return each value plain, quoted for URLs and JSON, in hexadecimal and in base64. Longest first."""
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
    """Encode in base64 after `shift` other bytes, and keep the part that those cannot change."""
    padded = b"\0" * shift + data
    start, end = -(-shift * 8 // 6), len(padded) * 8 // 6
    yield base64.b64encode(padded).decode()[start:end]
    yield base64.urlsafe_b64encode(padded).decode()[start:end]


__all__ = ["BY_SHAPE", "MASK", "Redactor", "map_texts"]

T = TypeVar("T")


class Redactor:
    """Replaces secrets in text. It knows the values of the secret variables that it was given.

    Calling it hides known values and shapes, for text that is stored or printed. `known` hides only this
    process's own secrets, for the model and the screen, where a file must look as it is.
    """

    def __init__(self, environment: Mapping[str, str], values: Iterable[str] = ()) -> None:
        """`values` are more secrets, whatever they look like."""
        self._values = (*secret_values(environment), *values)
        self.forms = forms_of(self._values)

    def learn(self, value: str) -> None:
        """Add a secret, for all text from now on."""
        if not value:
            return  # an empty text would match everywhere
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
        """Redact a JSON document, which stays valid. Anything else is redacted as text."""
        try:
            value = json.loads(text)
            clean = self.value(value)
        except (ValueError, RecursionError):
            return self(text)
        return text if clean == value else json.dumps(clean, ensure_ascii=False)

    def value(self, value: Any, name: str = "") -> Any:
        """Redact every text in plain data. A field named `password` is a secret by its name."""
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
"""A redactor that knows no values, for code without an environment."""


def map_texts(value: T, change: Callable[[str], str]) -> T:
    """Return the value with every text in it changed, at any depth of data classes and tuples."""
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


_LONGEST_LINE = 8 * 1024
_KEPT = 1024
_LONGEST_BLOCK = 20 * 1024
_BLOCK = "-----BEGIN"
_BLOCK_END = "-----END"


class KnownStream:
    """Hides this process's own secrets.

    Holds back only the beginning of one, so that the screen stays live.
    """

    def __init__(self, redact: Redactor) -> None:
        self._redact = redact
        self._longest = max(map(len, redact.forms), default=1) - 1
        self._starts = frozenset(form[0] for form in redact.forms)
        self._held = ""

    def feed(self, chunk: str) -> str:
        text = self._held + chunk
        end = self._before_secrets(text, self._begun(text))
        self._held = text[end:]
        return self._redact.known(text[:end])

    def finish(self) -> str:
        rest, self._held = self._held, ""
        return self._redact.known(rest)

    def _begun(self, text: str) -> int:
        """Return where an incomplete secret may begin, or the end of the text."""
        for place in range(max(0, len(text) - self._longest), len(text)):
            if text[place] in self._starts:
                tail = text[place:]
                if any(len(form) > len(tail) and form.startswith(tail) for form in self._redact.forms):
                    return place
        return len(text)

    def _before_secrets(self, text: str, end: int) -> int:
        """Move `end` before a complete secret that it would cut, if its last characters begin another."""
        while end < len(text):
            spans = (
                text.find(form, max(0, end - len(form) + 1), end + len(form) - 1)
                for form in self._redact.forms
            )
            start = min((place for place in spans if 0 <= place < end), default=end)
            if start == end:
                break
            end = start
        return end


class LineStream:
    """Hides known secrets and shapes. Works on whole lines and key blocks, in bounded memory."""

    def __init__(self, redact: Callable[[str], str]) -> None:
        self._redact = redact
        self._held = ""

    def feed(self, chunk: str) -> str:
        self._held += chunk
        if "\n" not in chunk and len(self._held) <= _LONGEST_LINE:
            return ""
        return self._release(self._end_of_whole())

    def finish(self) -> str:
        return self._release(len(self._held))

    def _release(self, end: int) -> str:
        ready, self._held = self._held[:end], self._held[end:]
        return self._redact(ready) if ready else ""

    def _end_of_whole(self) -> int:
        """Return the end of the text that can be checked: a line, a key block, or a part of a long line."""
        end = self._held.rfind("\n") + 1
        block = self._held.rfind(_BLOCK)
        if block >= 0 and self._held.find(_BLOCK_END, block, end) < 0 and len(self._held) < _LONGEST_BLOCK:
            return self._held.rfind("\n", 0, block) + 1
        if len(self._held) - end > _LONGEST_LINE:
            blank = self._held.rfind(" ", end, len(self._held) - 1)
            end = blank + 1 if blank > len(self._held) - _KEPT else len(self._held) - _KEPT
        return end
