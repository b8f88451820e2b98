"""Pages can be read: short sentences, short paragraphs, plain words."""

import re
import textwrap
from pathlib import Path

import pytest

from tests.docs.pages import name_of, paragraphs, paths, prose

MOST_WORDS, MOST_LINES, COLUMNS = 40, 6, 120
STYLE_WORDS = re.compile(
    r"\b(told|anew|beside|mend(s|ed|ing)?|whoever|meanwhile|letter by letter|br(ings?|ought) along"
    r"|t(akes?|aken|ook) back|tells? of|telling of|says? of|said of|thereby|thereof|wherein|by and by"
    r"|shall|persons?|by itself|of (its|their|one's) own|h(olds?|eld) for|(comes?|came) to an end"
    r"|what stands there|desk|shelf|shelves|furniture|loan|keepsakes?)\b",
    re.IGNORECASE,
)


@pytest.mark.parametrize("path", paths(), ids=name_of)
def test_no_sentence_is_long(path: Path) -> None:
    found = {}
    for number, text in paragraphs(path):
        for sentence in re.split(r"(?<=[.!?])[)”\"*]*\s+(?=[^a-z])", _plain(text)):
            if len(sentence.split()) > MOST_WORDS:
                found[number] = f"{len(sentence.split())} words: {sentence}"
    assert found == {}


@pytest.mark.parametrize("path", paths(), ids=name_of)
def test_no_paragraph_is_long(path: Path) -> None:
    wrapped = {number: len(textwrap.wrap(_linked(text), COLUMNS)) for number, text in paragraphs(path)}
    assert {number: lines for number, lines in wrapped.items() if lines > MOST_LINES} == {}


@pytest.mark.parametrize("path", paths(), ids=name_of)
def test_words_are_plain(path: Path) -> None:
    found = {
        (number, word[0])
        for number, line in enumerate(prose(path).splitlines(), 1)
        for word in STYLE_WORDS.finditer(re.sub(r"`[^`]*`", "`", line))
    }
    assert found == set()


def _linked(text: str) -> str:
    """Return the text with the words of links and pictures only."""
    return re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", text)


def _plain(text: str) -> str:
    """Return the text with each piece of code as one word."""
    return re.sub(r"`[^`]+`", "Code", _linked(text))
