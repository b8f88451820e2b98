"""Calls of the past in a form that every provider takes back: a refused one must not end a session."""

import json
import math
import re

STAND_IN = "invalid"
"""The name for one that no tool can have."""
UNREADABLE = "unreadable_arguments"
_LONGEST = 2_000
_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")


def past_name(name: str) -> str:
    return name if _NAME.fullmatch(name) else STAND_IN


def past_arguments(text: str) -> str:
    """As the model wrote them where that is a JSON object, which many providers insist on."""
    if isinstance(_read(text, strict=True), dict):
        return text
    if not text.strip():
        return "{}"
    # A raw newline inside of a text is no JSON, and was understood all the same.
    mended = _read(text, strict=False)
    return json.dumps(mended if isinstance(mended, dict) else {UNREADABLE: text[:_LONGEST]})


def _read(text: str, *, strict: bool) -> object:
    try:
        value: object = json.loads(text, strict=strict, parse_constant=_finite, parse_float=_finite)
    except (ValueError, RecursionError):
        return None
    return value


def _finite(text: str) -> float:
    """No JSON body can carry NaN and infinity, which Python reads."""
    if math.isfinite(number := float(text)):
        return number
    raise ValueError(text)
