"""Reads a file's structure from its indentation alone, for languages without a grammar here."""

import re
from collections import Counter
from itertools import pairwise

from coder_tui.workspace.outline.symbols import FileSymbols, Symbol, tidy

MOST_REFERENCES = 2_000
_WORD = re.compile(r"[A-Za-z_$][\w$]{2,}", re.ASCII)
_OPENS = re.compile(r"[A-Za-z_@#$<\[(\"']")
_CONTROL = re.compile(
    r"(?:if|else|elif|elsif|unless|for|foreach|while|until|do|switch|case|when|match|try|catch|rescue|except|"
    r"finally|ensure|with|return|begin|loop|end|then|default)\b"
)
_DEFINES = re.compile(
    r"\b(?:class|module|def|defp|defmodule|fn|fun|func|function|sub|interface|trait|struct|enum|object|type|"
    r"protocol|extension|record|message|service|package|namespace)\s+(?:self\.)?([A-Za-z_$][\w$]*)"
)


def read_indentation(text: str) -> FileSymbols:
    """Take the lines that open a block: those that a deeper line follows."""
    symbols: list[Symbol] = []
    around: list[int] = []
    lines = [(number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
    for (number, line), (_, following) in pairwise(lines):
        indent = _indent(line)
        while around and around[-1] >= indent:
            around.pop()
        if _indent(following) <= indent:
            continue
        words = line.strip()
        if _OPENS.match(words) and not _CONTROL.match(words):
            defined = _DEFINES.search(words)
            symbols.append(Symbol(defined[1] if defined else "", tidy(words), number, len(around)))
            around.append(indent)
    return FileSymbols(tuple(symbols), count_references(text))


def count_references(text: str) -> tuple[tuple[str, int], ...]:
    return tuple(Counter(_WORD.findall(text)).most_common(MOST_REFERENCES))


def _indent(line: str) -> int:
    width = line.expandtabs(4)
    return len(width) - len(width.lstrip())
