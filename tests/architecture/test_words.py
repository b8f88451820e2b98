"""Code, screens, prompts and tests use the words that people search for."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("coder_tui", "tests", "bench", "skills", "themes")
ENDINGS = {".py", ".txt", ".md", ".tcss", ".toml", ".sh"}

# Write instead: user, report, fix, again, next to, the caller, while, undo, include.
STRANGE = re.compile(
    r"\b(told|anew|beside|mend(?:s|ed|ing)?|whoever|meanwhile|letter by letter|(?:brings?|brought) along"
    r"|(?:takes?|taken|took) back|tell(?:s|ing)? of|sa(?:ys?|id) of)\b"
    r"|\b(?:the|a|this|that|no|one) persons?\b"
    r"|(?:\b|_)(?:desk|shelf|furniture|loan|keepsakes?|person|told|anew|beside|mend(?:s|ed)?)(?:\b|_)",
    re.IGNORECASE,
)
"""Words of a private vocabulary, in sentences and as parts of names."""

ALLOWED = {
    "tests/architecture/test_words.py": "lists the words",
    "tests/docs/test_readability.py": "lists the words",
    "tests/mcp/test_reference_servers.py": "an entity of somebody else's server",
}
"""Files that need such a word, with the reason."""


def strange_words(text: str) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(text.splitlines(), 1):
        # Names in camel case are several words.
        spaced = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", line)
        if found := STRANGE.search(spaced):
            yield number, found[0]


@pytest.mark.parametrize("folder", FOLDERS)
def test_words_are_plain(folder: str) -> None:
    files = (path for path in sorted((ROOT / folder).rglob("*")) if path.suffix in ENDINGS)
    found = [
        f"{path.relative_to(ROOT)}:{number}: {word}"
        for path in files
        if str(path.relative_to(ROOT)) not in ALLOWED
        for number, word in strange_words(path.read_text(encoding="utf-8", errors="replace"))
    ]
    assert found == []


@pytest.mark.parametrize(
    "line", ["def told_of(self):", "class SkillShelf:", "# Ask the person.", "PERSON = 1"]
)
def test_a_strange_word_is_noticed(line: str) -> None:
    assert len(list(strange_words(line))) == 1


@pytest.mark.parametrize("line", ["personal", "besides", "amendment", "loaned", "shelve", "recommended"])
def test_a_longer_word_is_not(line: str) -> None:
    assert list(strange_words(line)) == []
