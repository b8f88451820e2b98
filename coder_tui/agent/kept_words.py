"""Which texts are carried on word for word where there is room for some of them only."""

from collections.abc import Sequence
from dataclasses import dataclass

from coder_tui.llm.tokens import estimate_tokens

CUT = "\n[… cut …]\n"
LEAST_PIECE = 100
"""Tokens: less of a text than this says nothing."""


@dataclass(frozen=True, slots=True)
class Kept:
    """`texts` are in their order; the counts are of all that there were."""

    texts: tuple[str, ...] = ()
    whole: int = 0
    cut: int = 0
    left_out: int = 0

    @property
    def is_whole(self) -> bool:
        return not self.cut and not self.left_out


def kept(texts: Sequence[str], tokens: int) -> Kept:
    """The newest whole first; one that is too long is cut to half of the rest, so that others have some."""
    chosen: list[str] = []
    whole, left = 0, tokens
    for text in reversed(texts):
        size = estimate_tokens(text)
        if size <= left:
            whole += 1
        elif (size := left // 2) >= LEAST_PIECE:
            text = shortened_to(text, size)
        else:
            continue
        chosen.append(text)
        left -= size
    return Kept(tuple(reversed(chosen)), whole, len(chosen) - whole, len(texts) - len(chosen))


def shortened_to(text: str, tokens: int) -> str:
    """Head and tail of about so many tokens, whatever script it is in."""
    size = estimate_tokens(text)
    return text if size <= tokens else shortened(text, len(text) * tokens // size)


def shortened(text: str, most: int) -> str:
    """Head and tail: how it began and where it stands matter more than the way between."""
    if len(text) <= most:
        return text
    half = max(0, (most - len(CUT)) // 2)
    return f"{text[:half]}{CUT}{text[len(text) - half :]}"
