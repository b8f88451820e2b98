"""A person's own keys: checked against the table, wrong ones told and left out."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from difflib import get_close_matches

from textual.binding import Binding
from textual.keys import Keys, _character_to_key
from textual.widgets import TextArea

from coder_tui.text.safe_text import safe_line
from coder_tui.ui.keymap import KeyMap
from coder_tui.ui.keys import KEYS, RESERVED, Context, KeyAction, shown

_MODIFIERS = frozenset({"ctrl", "alt", "shift"})
_NAMED = frozenset(key.value for key in Keys) | frozenset(_character_to_key(chr(n)) for n in range(32, 127))
_C = Context
_WRITING = frozenset(
    key for binding in TextArea.BINDINGS if isinstance(binding, Binding) for key in binding.key.split(",")
)
# Where the keys of one context stand beside those of another, a key may mean one thing only.
_BESIDE = (
    {_C.GLOBAL, _C.SESSION, _C.COMPOSER},
    {_C.GLOBAL, _C.SESSION, _C.TRANSCRIPT},
    {_C.GLOBAL, _C.SESSION, _C.PANE, _C.LIST, _C.CHANGES, _C.PROBLEMS, _C.DIFF},
    {_C.REVIEW, _C.DIFF},
    {_C.PICKER, _C.LIST, _C.SESSIONS, _C.HELP},
    {_C.PICKER, _C.LIST, _C.FIRST_RUN},
    {_C.PICKER, _C.LIST, _C.FILES},
    {_C.PICKER, _C.LIST, _C.THEMES},
    {_C.PICKER, _C.LIST, _C.JOBS},
    {_C.PICKER, _C.LIST, _C.LSP},
    {_C.PICKER, _C.LIST, _C.SUBAGENTS},
    *({context} for context in _C),
)


def key_map(wishes: object) -> KeyMap:
    """`wishes` is what stands below `ui.keys`, unchecked: an action's id and keys separated by commas."""
    if not isinstance(wishes, Mapping):
        return KeyMap(problems=("ui.keys has to be a table of actions and keys.",))
    known = {row.id: row for row in KEYS}
    rows, problems = dict(known), []
    for action, wish in wishes.items():
        if reason := _wrong(str(action), wish, known):
            problems.append(f"ui.keys.{safe_line(str(action))}: {reason}")
        else:
            rows[action] = replace(known[action], keys=_normal(wish))
    for row in [row for row in rows.values() if row != known[row.id]]:
        for key, other in _doubles(row, rows.values()):
            problems.append(f"ui.keys.{row.id}: {shown(key)} is taken by {other.id} ({other.title}).")
            rows[row.id] = known[row.id]
            break
    changed = {row.id: row.keys for row in rows.values() if row != known[row.id]}
    return KeyMap(tuple(rows.values()), changed, tuple(problems))


def _wrong(id: str, wish: object, known: Mapping[str, KeyAction]) -> str:
    if id not in known:
        near = get_close_matches(id, known, 1)
        return f"there is no such action{f'; did you mean {near[0]}?' if near else '.'}"
    if not known[id].action:
        return "this key cannot be changed."
    if not isinstance(wish, str) or not wish.strip():
        return 'it has to name a key, such as "ctrl+t" or "f6,alt+p".'
    for key in _normal(wish).split(","):
        if key in _WRITING and known[id].context in (_C.GLOBAL, _C.SESSION):
            return f"{shown(key)} moves or edits in the prompt."
        if key in RESERVED:
            return f"{shown(key)} belongs to the terminal, or arrives as another key."
        if not _is_key(key):
            return f"there is no key {safe_line(key)}."
    return ""


def _normal(wish: str) -> str:
    return ",".join(_normal_key(key.strip()) for key in wish.split(","))


def _normal_key(key: str) -> str:
    *modifiers, base = key.split("+") if len(key) > 1 else [key]
    base = _character_to_key(base) if len(base) == 1 and not base.isalnum() else base
    return "+".join([*(modifier.lower() for modifier in modifiers), base])


def _is_key(key: str) -> bool:
    *modifiers, base = key.split("+")
    is_named = base in _NAMED or (len(base) == 1 and base.isprintable())
    return set(modifiers) <= _MODIFIERS and is_named


def _doubles(row: KeyAction, rows: Iterable[KeyAction]) -> Iterator[tuple[str, KeyAction]]:
    for other in rows:
        if other.id != row.id and other.action != row.action and _are_beside(row.context, other.context):
            yield from ((key, other) for key in row.keys.split(",") if key in other.keys.split(","))


def _are_beside(one: Context, other: Context) -> bool:
    return any(one in contexts and other in contexts for contexts in _BESIDE)
