"""Whatever may be a command in a text that is too long or too tangled to be parsed: for rules that refuse."""

import re

from coder_tui.policy.shell.programs.wrappers import ASSIGNMENT, WRAPPERS
from coder_tui.policy.shell.reader import KEYWORDS

MOST_LEADING = 12
_SEPARATORS = re.compile(r"[;&|\n(){}`]+|\$\(")
_UNQUOTED = re.compile(r"\\\n|['\"\\]")
_LEADING = re.compile(r"-\S*|[0-9.]+[smhd]?")


def rough_commands(text: str) -> set[str]:
    """Every piece between separators, and what stands in it behind wrappers, keywords and assignments."""
    found: set[str] = set()
    for piece in {piece.strip() for piece in _SEPARATORS.split(_UNQUOTED.sub("", text))}:
        _add(piece, found)
    return found - {""}


def _add(piece: str, found: set[str]) -> None:
    found.add(piece)
    for _ in range(MOST_LEADING):
        first, _, rest = piece.partition(" ")
        name = first.rpartition("/")[2].lower()
        if name != first:
            found.add(f"{name} {rest}".strip())
        is_leading = (
            name in KEYWORDS or name in WRAPPERS or ASSIGNMENT.match(first) or _LEADING.fullmatch(first)
        )
        if not is_leading or not rest:
            return
        piece = rest.strip()
        found.add(piece)
