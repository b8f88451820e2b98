"""The keys that hold in this run."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from coder_tui.ui.keys import KEYS, KeyAction


@dataclass(frozen=True, slots=True)
class KeyMap:
    """`rows` is the table with the person's keys; `changed` has those alone, by action id."""

    rows: tuple[KeyAction, ...] = KEYS
    changed: Mapping[str, str] = field(default_factory=dict)
    problems: tuple[str, ...] = ()
