"""Puts a model's new lines into the file's own dress: its indentation, its characters."""

from dataclasses import dataclass

from coder_tui.protocol.errors import ErrorType, ToolError
from coder_tui.tools.editing import fold
from coder_tui.tools.editing.indent import Indentation
from coder_tui.tools.editing.within_line import carried


@dataclass(frozen=True, slots=True)
class MatchedLine:
    """A line of the old side and the line of the file that it stands for."""

    index: int
    old: str
    own: str

    @property
    def leads(self) -> tuple[str, str]:
        return fold.lead(self.old), fold.lead(self.own)


class Dress:
    """What the matched lines teach about how the file differs from the model's words."""

    def __init__(self, matched: list[MatchedLine]) -> None:
        self._matched = [line for line in matched if line.old.strip()]
        self._indentation = Indentation.learn(line.leads for line in self._matched)
        self._plain = str.maketrans(_plain_characters(matched))

    def lead(self, model_lead: str, index: int) -> str:
        """The file's lead for a new line that comes before old line `index`."""
        known = self._indentation.carry(model_lead)
        if known is not None:
            return known
        near = sorted(self._matched, key=lambda line: abs(line.index - index))
        leads = [line.leads[1] for line in near if line.leads[0] == model_lead]
        if leads:
            return leads[0]
        raise ToolError(
            ErrorType.NO_MATCH,
            "The place was found by ignoring indentation, but it does not tell how to indent the new lines.",
            "Read the place and copy its indentation exactly.",
        )

    def line(self, text: str, index: int, pair: MatchedLine | None) -> str:
        """One new line, dressed; `pair` is the line that it replaces, where that is known."""
        body = text.lstrip(" \t")
        if not body:
            return text
        lead = self.lead(fold.lead(text), index)
        if pair is None:
            return lead + body.translate(self._plain)
        return lead + carried(pair.old.lstrip(" \t"), body, pair.own.lstrip(" \t"))


def _plain_characters(matched: list[MatchedLine]) -> dict[str, str]:
    """Typographic characters that the model put where the file has plain ones."""
    model = set("".join(line.old for line in matched if not line.old.isascii()))
    own = set("".join(line.own for line in matched if not line.own.isascii()))
    return {character: fold.plain(character) for character in model - own}
