"""Which words of a changed line changed."""

import re
from collections.abc import Sequence
from typing import TypeAlias

from coder_tui.diffs.line_match import matching_runs

LONGEST_EMPHASISED = 1000
"""Characters: in a longer line no words are told apart."""
_TOKEN = re.compile(r"\w+|\s+|[^\w\s]")
_BLANK_BETWEEN = 3

Span: TypeAlias = tuple[int, int]


def changed_words(old: str, new: str) -> tuple[tuple[Span, ...], tuple[Span, ...]]:
    """Spans of either line that the other does not have; neighbours are joined."""
    if max(len(old), len(new)) > LONGEST_EMPHASISED or old == new:
        return (), ()
    old_tokens, new_tokens = _TOKEN.findall(old), _TOKEN.findall(new)
    runs = matching_runs(old_tokens, new_tokens)
    old_same = [(run.old, run.old + run.length) for run in runs]
    new_same = [(run.new, run.new + run.length) for run in runs]
    return _spans(old, old_tokens, old_same), _spans(new, new_tokens, new_same)


def _spans(line: str, tokens: Sequence[str], same: Sequence[Span]) -> tuple[Span, ...]:
    """The stretches between the shared tokens, as characters."""
    ends = [0]
    for token in tokens:
        ends.append(ends[-1] + len(token))
    spans: list[Span] = []
    at = 0
    for start, stop in [*same, (len(tokens), len(tokens))]:
        if start > at:
            _append(spans, (ends[at], ends[start]), line)
        at = stop
    return tuple(spans)


def _append(spans: list[Span], span: Span, line: str) -> None:
    """Words in a row that all changed read as one, with the blanks or the sign between them."""
    between = line[spans[-1][1] : span[0]] if spans else "no span"
    is_sign = len(between) == 1 and not between.isalnum()
    if is_sign or (len(between) <= _BLANK_BETWEEN and between.isspace()):
        spans[-1] = (spans[-1][0], span[1])
    else:
        spans.append(span)
