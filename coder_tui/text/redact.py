"""Keeps secrets out of what leaves the program: by their shape, and by the values this process knows."""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields, is_dataclass, replace
from enum import Enum
from typing import Any, TypeVar, cast

from coder_tui.text.known_secrets import forms_of, secret_values
from coder_tui.text.secret_shapes import MASK, hide_shapes, is_secret_field

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
