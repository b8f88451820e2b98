"""Turns protocol values into text for a column and back, whatever characters they hold."""

import json
import re
from functools import cache
from typing import Annotated, TypeVar

from pydantic import Field, TypeAdapter, ValidationError

from coder_tui.protocol.display import DisplayBlock
from coder_tui.protocol.errors import StorageError
from coder_tui.protocol.messages import Message
from coder_tui.protocol.todos import TodoItem

T = TypeVar("T")

# SQLite takes UTF-8 only, but a file name or a model's text may hold lone surrogates.
_SURROGATE = re.compile("[\ud800-\udfff]")
_TO_ESCAPE = re.compile(r"[\\\ud800-\udfff]")
_ESCAPED = re.compile(r"\\(?:\\|u([0-9a-f]{4}))")
_MARK = "\\~"


def pack_text(text: str) -> str:
    """Make any text storable; almost all text stays as it is."""
    if text.startswith(_MARK) or _SURROGATE.search(text):
        return _MARK + _TO_ESCAPE.sub(_escape, text)
    return text


def unpack_text(text: str) -> str:
    if not isinstance(text, str):
        raise StorageError("the store holds something else where text should be")
    if text.startswith(_MARK):
        return _ESCAPED.sub(_unescape, text[len(_MARK) :])
    return text


def pack_message(message: Message) -> str:
    return _pack(_messages(), message)


def unpack_message(text: str) -> Message:
    return _unpack(_messages(), text)


def pack_display(block: DisplayBlock) -> str:
    return _pack(_displays(), block)


def unpack_display(text: str) -> DisplayBlock:
    return _unpack(_displays(), text)


def pack_todos(items: tuple[TodoItem, ...]) -> str:
    return _pack(_todos(), items)


def unpack_todos(text: str) -> tuple[TodoItem, ...]:
    return _unpack(_todos(), text)


# Built on first use: a front end imports this module before its first paint.


@cache
def _messages() -> TypeAdapter[Message]:
    return TypeAdapter(Annotated[Message, Field(discriminator="role")])


@cache
def _displays() -> TypeAdapter[DisplayBlock]:
    return TypeAdapter(Annotated[DisplayBlock, Field(discriminator="type")])


@cache
def _todos() -> TypeAdapter[tuple[TodoItem, ...]]:
    return TypeAdapter(tuple[TodoItem, ...])


def _pack(adapter: TypeAdapter[T], value: T) -> str:
    # Not dump_json: it refuses lone surrogates, and escaped ones would be joined into pairs.
    return pack_text(json.dumps(adapter.dump_python(value, mode="json"), ensure_ascii=False))


def _unpack(adapter: TypeAdapter[T], text: str) -> T:
    try:
        return adapter.validate_python(json.loads(unpack_text(text)))
    except (ValidationError, json.JSONDecodeError, RecursionError) as error:
        raise StorageError(f"the store holds something this program cannot read: {text[:80]!r}") from error


def _escape(match: re.Match[str]) -> str:
    return "\\\\" if match[0] == "\\" else f"\\u{ord(match[0]):04x}"


def _unescape(match: re.Match[str]) -> str:
    return chr(int(match[1], 16)) if match[1] else "\\"
