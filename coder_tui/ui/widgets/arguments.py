"""The arguments of a call that no tool of ours explains, as a list that a person can read."""

import json
from typing import Any

from coder_tui.text.safe_text import safe_line, safe_text
from coder_tui.ui.widgets.request_words import Detail, Weight

_Pairs = list[tuple[str, Any]]


def arguments(text: str) -> tuple[Detail, ...] | None:
    """A row for each field of a JSON object, twice where a name stands twice; None for any other text."""
    try:
        pairs = json.loads(text, object_pairs_hook=_Object)
        if not isinstance(pairs, _Object) or not pairs:
            return None
        return tuple(Detail(safe_line(name), _value(value), weight=Weight.FIELD) for name, value in pairs)
    except (ValueError, RecursionError):
        return None


class _Object(_Pairs):
    """A JSON object with all its pairs: a plain `dict` would hide one that is named again."""


def _value(value: object) -> str:
    if isinstance(value, str):
        return safe_text(value) or '""'
    return safe_text(_written(value))


def _written(value: object, indent: str = "") -> str:
    """Nested values as JSON, indented where that is clearer."""
    inner = f"{indent}  "
    if isinstance(value, _Object) and value:
        fields = [f"{inner}{_scalar(name)}: {_written(item, inner)}" for name, item in value]
        return "{\n" + ",\n".join(fields) + f"\n{indent}}}"
    if isinstance(value, _Object):
        return "{}"
    if isinstance(value, list) and any(isinstance(item, list) for item in value):
        items = [f"{inner}{_written(item, inner)}" for item in value]
        return "[\n" + ",\n".join(items) + f"\n{indent}]"
    return _scalar(value)


def _scalar(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
