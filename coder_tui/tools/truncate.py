"""Limit the size of results: nothing floods the model, and nothing that was cut is lost."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from coder_tui.diffs.unified import DIFF_LIMIT
from coder_tui.text.redact import BY_SHAPE, Redactor
from coder_tui.tools.base import JsonObject

MAX_LINES = 2_000
MAX_BYTES = 50_000
_NOTE_ROOM = 400
_MARK = "\n[output truncated]"
_WORTH_CUTTING = 2_000
_ROUNDS = 8
_HALVINGS = 64

Place = tuple[str | int, ...]
"""The path to a value in a result: keys and indexes."""


class OutputGuard:
    """Cuts the longest text of a result that is too large; the whole, without secrets, goes to a file."""

    def __init__(self, folder: Path, redact: Redactor = BY_SHAPE) -> None:
        self._folder = folder
        self._redact = redact

    def guard(self, result: JsonObject, name: str) -> str:
        """Return the JSON for the model; `name` is the file's, unique for this call. Blocks."""
        text = _dumps(result)
        if (_cuts_itself(result) and len(text.encode()) <= 4 * MAX_BYTES) or _fits(result):
            return text
        note = self._note(result, name)
        cut = _cut_texts(result)
        if not _fits(cut):
            note |= _cut_lists(cut)
        if not _fits(cut):
            cut = _first_fields(cut)
        if "items_left_out" in note and "truncated" in cut:
            # A list that claims to be complete would be believed; a cut text has its own mark.
            note["truncated"] = True
        return _dumps({**cut, **note})

    def _note(self, result: JsonObject, name: str) -> JsonObject:
        try:
            saved = self._save(result, name)
        except OSError as error:
            # A full disk must not lose the result of the call.
            return {
                "output_truncated": True,
                "note": f"This was cut, and the rest could not be saved: {error.strerror}.",
            }
        return {
            "output_truncated": True,
            "full_output": str(saved),
            "note": "This was cut; use grep and read on full_output.",
        }

    def _save(self, result: JsonObject, name: str) -> Path:
        self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        safe = "".join(char if char.isalnum() or char in "-_" else "_" for char in name)[:120]
        path = self._folder / f"{safe}.txt"
        whole = "\n".join(value for _, value in _texts(result)) or _dumps(result)
        # Only for the user, whatever the umask is.
        with os.fdopen(os.open(path, os.O_CREAT | os.O_TRUNC | os.O_WRONLY, 0o600), "wb") as file:
            file.write(self._redact(whole).encode("utf-8", "surrogatepass"))
        return path


def _dumps(result: JsonObject) -> str:
    # Lone surrogates (undecodable bytes of a file) stay escaped, so that the text can always be encoded.
    text = json.dumps(result, ensure_ascii=False)
    try:
        text.encode()
    except UnicodeEncodeError:
        return json.dumps(result)
    return text


def _cuts_itself(result: JsonObject) -> bool:
    """Return whether the result says it is cut, or has a diff, which has its own limit and says so."""
    diff = result.get("diff")
    has_diff = isinstance(diff, str) and len(diff.encode("utf-8", "replace")) <= DIFF_LIMIT
    return result.get("truncated") is True or has_diff


def _fits(result: JsonObject) -> bool:
    # In this order, because going through every text takes longer.
    return _excess(result) <= 0 and all(value.count("\n") <= MAX_LINES for _, value in _texts(result))


def _excess(result: JsonObject) -> int:
    return len(_dumps(result).encode()) + _NOTE_ROOM - MAX_BYTES


def _texts(value: object, at: Place = ()) -> Iterator[tuple[Place, str]]:
    """Yield every text of the result with its path."""
    match value:
        case str():
            yield at, value
        case dict():
            for key, item in value.items():
                yield from _texts(item, (*at, key))
        case list() | tuple():
            for index, item in enumerate(value):
                yield from _texts(item, (*at, index))


def _cut_texts(result: JsonObject) -> JsonObject:
    """Shorten the longest text, a few times at most, because escapes make JSON longer than its text."""
    cut: JsonObject = json.loads(json.dumps(result))
    for _ in range(_ROUNDS):
        place, text = max(_texts(cut), key=lambda item: len(item[1]), default=((), ""))
        if _fits(cut) or len(text) <= _WORTH_CUTTING:
            break
        _put(cut, place, _shorten(text, max(_excess(cut), 0)))
    return cut


def _put(value: Any, place: Place, item: object) -> None:
    for step in place[:-1]:
        value = value[step]
    value[place[-1]] = item


def _shorten(text: str, excess: int) -> str:
    lines = text.split("\n")
    kept = "\n".join(lines[: MAX_LINES - 1]) if len(lines) > MAX_LINES else text
    if excess or kept == text:
        kept = kept[: max(_WORTH_CUTTING // 2, min(len(kept) - excess, len(kept) * 9 // 10))]
    return kept.removesuffix(_MARK) + _MARK


def _cut_lists(result: JsonObject) -> JsonObject:
    """Keep the first items of lists, cutting the largest first; return a note about it."""
    left_out = 0
    for _ in range(_HALVINGS):
        place, items = max(_lists(result), key=lambda found: len(json.dumps(found[1])), default=((), []))
        if _fits(result) or not items:
            break
        kept = _most_that_fit(result, place, items)
        _put(result, place, items[:kept])
        left_out += len(items) - kept
    return {"items_left_out": left_out} if left_out else {}


def _lists(value: object, at: Place = ()) -> Iterator[tuple[Place, list[Any]]]:
    """Yield every list with more than one item, with its path."""
    match value:
        case dict():
            for key, item in value.items():
                yield from _lists(item, (*at, key))
        case list():
            if len(value) > 1:
                yield at, value
            for index, item in enumerate(value):
                yield from _lists(item, (*at, index))


def _most_that_fit(result: JsonObject, place: Place, items: list[Any]) -> int:
    """Return how many items fit, at least half: another list may then be larger."""
    low, high = (len(items) + 1) // 2, len(items) - 1
    _put(result, place, items[:low])
    while low < high and _fits(result):
        middle = (low + high + 1) // 2
        _put(result, place, items[:middle])
        low, high = (middle, high) if _fits(result) else (low, middle - 1)
        _put(result, place, items[:low])
    return low


def _first_fields(result: JsonObject) -> JsonObject:
    """Keep as many fields as fit, for a result with very many."""
    kept: JsonObject = {"ok": result.get("ok", True)}
    for key, value in result.items():
        if _fits({**kept, key: value}):
            kept[key] = value
    return kept
