"""Names of keys in hints: as the table has them, or as the person changed them."""

from collections.abc import Iterable, Mapping

from textual.dom import DOMNode

from coder_tui.ui.keys import KEYS, Context, KeyAction, shown
from coder_tui.ui.textual_internals import changed_keys

Hints = tuple[tuple[str, str], ...]
"""Keys with a word each."""


def named(node: DOMNode, words: str, *contexts: Context) -> str:
    """Words in which keys stand as the table has them, such as `F8 answers`; of these contexts' keys."""
    return renamed(words, changed_keys(node.app), contexts)


def named_hints(node: DOMNode, hints: Hints, contexts: Iterable[Context]) -> Hints:
    changed, there = changed_keys(node.app), tuple(contexts)
    return tuple((renamed(keys, changed, there), words) for keys, words in hints) if changed else hints


def renamed(words: str, changed: Mapping[str, str], contexts: Iterable[Context]) -> str:
    """`changed` has new keys by the id of their action."""
    rows = [row for row in KEYS if row.id in changed and row.context in contexts]
    return " ".join(_renamed(word, rows, changed) for word in words.split(" ")) if rows else words


def _renamed(word: str, rows: list[KeyAction], changed: Mapping[str, str]) -> str:
    for row in rows:
        if word in _names(row.keys):
            first = changed[row.id].partition(",")[0]
            return _short(first) if word.startswith("^") else shown(first)
    return word


def _names(keys: str) -> set[str]:
    each = keys.split(",")
    return {shown(key) for key in each} | {_short(key) for key in each}


def _short(key: str) -> str:
    """`^P` for Ctrl and a letter, else its usual name."""
    control, _, letter = key.partition("+")
    return f"^{letter.upper()}" if control == "ctrl" and len(letter) == 1 else shown(key)
