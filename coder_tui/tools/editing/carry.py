"""Puts a model's new lines into the file's own dress: its indentation, its characters."""

from dataclasses import dataclass

from coder_tui.protocol.errors import ErrorType, ToolError
from coder_tui.tools.editing import fold
from coder_tui.tools.editing.indent import Indentation
from coder_tui.tools.editing.within_line import carried, tokens_of


@dataclass(frozen=True, slots=True)
class MatchedLine:
    """A line of the old side and the line of the file that it stands for."""

    index: int
    old: str
    own: str
    is_dropped: bool = False

    @property
    def leads(self) -> tuple[str, str]:
        return fold.lead(self.old), fold.lead(self.own)


class Dress:
    """What the matched lines teach about how the file differs from the model's words."""

    def __init__(self, matched: list[MatchedLine]) -> None:
        self._matched = [line for line in matched if line.old.strip()]
        self._indentation = Indentation.learn(line.leads for line in self._matched)
        self._plain = str.maketrans(_plain_characters(matched))
        self._moved = {line.old.strip(): line.own.strip() for line in self._matched if line.is_dropped}
        self._has_stray_blanks = bool(self._matched) and all(_ends_stray(line) for line in self._matched)

    def lead(self, model_lead: str, index: int, pair: MatchedLine | None) -> str:
        """The file's lead for a new line that comes before old line `index`, or in place of `pair`."""
        known = self._indentation.carry(model_lead)
        if known is not None:
            return known
        if pair is not None and pair.leads[0] == model_lead:
            return pair.leads[1]
        same = [line for line in self._matched if line.leads[0] == model_lead]
        before = [line.leads[1] for line in same if line.index < index][-1:]
        after = [line.leads[1] for line in same if line.index >= index][:1]
        if len(near := {*before, *after}) == 1:
            return near.pop()
        raise ToolError(
            ErrorType.NO_MATCH,
            "The place was found by ignoring indentation, but it does not tell how to indent the new lines.",
            "Read the place and copy its indentation exactly.",
        )

    def line(self, text: str, index: int, pair: MatchedLine | None) -> str:
        """One new line, dressed; `pair` is the line that it replaces, where that is known."""
        body = text.lstrip(" \t")
        if not body:
            return "" if self._has_stray_blanks else text
        if self._has_stray_blanks:
            body = body.rstrip()
        if body.strip() in self._moved:
            body = self._moved[body.strip()]
        elif pair is not None:
            body = carried(pair.old.lstrip(" \t"), body, pair.own.lstrip(" \t"))
        body = body.translate(self._plain)
        if tokens_of(body) != tokens_of(text):
            raise ToolError(
                ErrorType.NO_MATCH,
                "The place was found by ignoring blanks, but its words are divided differently.",
                "Read the place and copy its blanks exactly.",
            )
        return self.lead(fold.lead(text), index, pair) + body


def _ends_stray(line: MatchedLine) -> bool:
    """Whether the model wrote blanks at the end that the file does not have."""
    return line.old != line.old.rstrip() and line.own == line.own.rstrip()


def _plain_characters(matched: list[MatchedLine]) -> dict[str, str]:
    """Typographic characters that the model writes for plain ones, told by their kind."""
    model = set("".join(line.old for line in matched if not line.old.isascii()))
    own = set("".join(line.own for line in matched if not line.own.isascii()))
    strange = model - own
    kinds = [kind for kind in fold.KINDS if strange & kind]
    return {character: fold.plain(character) for kind in kinds for character in kind - own}
