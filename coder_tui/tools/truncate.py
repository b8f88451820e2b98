"""The output guard: no result floods the model, nothing that was cut is lost."""

import json
from collections.abc import Iterator
from pathlib import Path

from coder_tui.tools.base import JsonObject

MAX_LINES = 2_000
MAX_BYTES = 50_000
_NOTE_ROOM = 400
_KEPT = 200


class OutputGuard:
    """Cuts the longest text field of a result that is too large; the whole result goes to a file."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def guard(self, result: JsonObject, call_id: str) -> str:
        """The JSON that the model gets."""
        text = _dumps(result)
        cuts_itself = result.get("truncated") is True and len(text.encode()) <= 4 * MAX_BYTES
        if cuts_itself or _fits(result, text):
            return text
        note, cut = self._note(result, call_id), result
        while not _fits(cut, _dumps(cut)):
            field = max(_texts(cut), key=lambda item: len(item[1]), default=None)
            if field is None or len(field[1]) <= _KEPT:
                # Large without a long text: thousands of small items.
                return _dumps({"ok": result.get("ok", True), **note})
            excess = max(len(_dumps(cut).encode()) - MAX_BYTES, 0)
            cut = _replace(cut, field[0], _shorten(field[1], excess))
        return _dumps({**cut, **note})

    def _note(self, result: JsonObject, call_id: str) -> JsonObject:
        try:
            saved = self._save(result, call_id)
        except OSError as error:
            # A full disk must not cost the call its result.
            return {
                "output_truncated": True,
                "note": f"The longest text was cut; it could not be kept: {error.strerror}.",
            }
        return {
            "output_truncated": True,
            "full_output": str(saved),
            "note": "The longest text was cut; grep and read can look into full_output.",
        }

    def _save(self, result: JsonObject, call_id: str) -> Path:
        self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        safe = "".join(char if char.isalnum() or char in "-_" else "_" for char in call_id)[:80]
        path = self._folder / f"{safe}.txt"
        whole = "\n".join(value for _, value in _texts(result)) or _dumps(result)
        path.write_text(whole, encoding="utf-8", errors="surrogateescape")
        return path


def _dumps(result: JsonObject) -> str:
    # Lone surrogates (undecodable bytes of a file) stay escaped, so that the text can always be encoded.
    text = json.dumps(result, ensure_ascii=False)
    try:
        text.encode()
    except UnicodeEncodeError:
        return json.dumps(result)
    return text


def _fits(result: JsonObject, text: str) -> bool:
    lines = max((value.count("\n") for _, value in _texts(result)), default=0)
    return len(text.encode()) + _NOTE_ROOM <= MAX_BYTES and lines <= MAX_LINES


Place = tuple[str | int, ...]


def _texts(value: object, at: Place = ()) -> Iterator[tuple[Place, str]]:
    """Every text of the result with the way to it."""
    match value:
        case str():
            yield at, value
        case dict():
            for key, item in value.items():
                yield from _texts(item, (*at, key))
        case list() | tuple():
            for index, item in enumerate(value):
                yield from _texts(item, (*at, index))


def _replace(value: object, at: Place, text: str) -> JsonObject:
    changed = json.loads(json.dumps(value))
    place = changed
    for step in at[:-1]:
        place = place[step]
    place[at[-1]] = text
    return dict(changed)


def _shorten(text: str, excess: int) -> str:
    """Keep the head and say so. Escapes make JSON longer than its text, so this may take a few rounds."""
    lines = text.split("\n")
    kept = "\n".join(lines[: MAX_LINES - 1]) if len(lines) > MAX_LINES else text
    if excess or kept == text:
        room = max(_KEPT, min(len(kept) - excess - _NOTE_ROOM, len(kept) * 9 // 10))
        kept = kept[:room]
    return kept.removesuffix("\n[output truncated]") + "\n[output truncated]"
