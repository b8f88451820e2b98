"""Reads the user's own keys: checks them against the table, reports wrong ones and leaves them out."""

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
# Contexts that are active together: within each set, a key may mean one thing only.
_ACTIVE_TOGETHER = (
    {_C.GLOBAL, _C.SESSION, _C.COMPOSER},
    {_C.GLOBAL, _C.SESSION, _C.TRANSCRIPT},
    {_C.GLOBAL, _C.SESSION, _C.PANE, _C.LIST, _C.CHANGES, _C.PROBLEMS, _C.DIFF},
    {_C.REVIEW, _C.DIFF},
    {_C.PICKER, _C.LIST, _C.SESSIONS, _C.HELP},
    *({_C.PICKER, _C.LIST, each} for each in (_C.FIRST_RUN, _C.FILES, _C.THEMES)),
    *({_C.PICKER, _C.LIST, each} for each in (_C.JOBS, _C.LSP, _C.SUBAGENTS)),
    *({context} for context in _C),
)


def key_map(settings: object) -> KeyMap:
    """Check what the settings have under `ui.keys`: ids of actions, each with keys separated by commas."""
    if not isinstance(settings, Mapping):
        return KeyMap(problems=("ui.keys must be a table of actions and keys.",))
    known = {row.id: row for row in KEYS}
    rows, problems = dict(known), []
    for action, keys in settings.items():
        if reason := _find_problem(str(action), keys, known):
            problems.append(f"ui.keys.{safe_line(str(action))}: {reason}")
        else:
            rows[action] = replace(known[action], keys=_normalize(keys))
    for row in [row for row in rows.values() if row != known[row.id]]:
        for key, other in _conflicts(row, rows.values()):
            problems.append(f"ui.keys.{row.id}: {shown(key)} is already used by {other.id} ({other.title}).")
            rows[row.id] = known[row.id]
            break
    changed = {row.id: row.keys for row in rows.values() if row != known[row.id]}
    return KeyMap(tuple(rows.values()), changed, tuple(problems))


def _find_problem(id: str, keys: object, known: Mapping[str, KeyAction]) -> str:
    if id not in known:
        near = get_close_matches(id, known, 1)
        return f"there is no such action{f'; did you mean {near[0]}?' if near else '.'}"
    if not known[id].action:
        return "this key cannot be changed."
    if not isinstance(keys, str) or not keys.strip():
        return 'it must name a key, such as "ctrl+t" or "f6,alt+p".'
    for key in _normalize(keys).split(","):
        if key in _WRITING and known[id].context in (_C.GLOBAL, _C.SESSION):
            return f"{shown(key)} moves or edits in the prompt."
        if key in RESERVED:
            return f"{shown(key)} belongs to the terminal, or arrives as another key."
        if not _is_key(key):
            return f"there is no key {safe_line(key)}."
    return ""


def _normalize(keys: str) -> str:
    return ",".join(_normalize_key(key.strip()) for key in keys.split(","))


def _normalize_key(key: str) -> str:
    *modifiers, base = key.split("+") if len(key) > 1 else [key]
    base = _character_to_key(base) if len(base) == 1 and not base.isalnum() else base
    return "+".join([*(modifier.lower() for modifier in modifiers), base])


def _is_key(key: str) -> bool:
    *modifiers, base = key.split("+")
    is_named = base in _NAMED or (len(base) == 1 and base.isprintable())
    return set(modifiers) <= _MODIFIERS and is_named


def _conflicts(row: KeyAction, rows: Iterable[KeyAction]) -> Iterator[tuple[str, KeyAction]]:
    for other in rows:
        if (
            other.id != row.id
            and other.action != row.action
            and _are_active_together(row.context, other.context)
        ):
            yield from ((key, other) for key in row.keys.split(",") if key in other.keys.split(","))


def _are_active_together(one: Context, other: Context) -> bool:
    return any(one in contexts and other in contexts for contexts in _ACTIVE_TOGETHER)
