"""The text that the user most likely means comes first."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coder_tui.text import fuzzy
from coder_tui.text.fuzzy import FuzzyIndex

FILES = (
    "coder_tui/ui/widgets/prompt.py",
    "coder_tui/agent/prompt.py",
    "coder_tui/agent/prompts/build.txt",
    "tests/ui/test_prompt.py",
    "docs/prompting/notes.md",
    "README.md",
    "src/Straße.txt",
    "src/İx.txt",
)


def found(query: str, most: int = 10) -> list[str]:
    index = FuzzyIndex(FILES)
    return [index.texts[match.index] for match in index.search(query, most)]


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("prompt.py", "coder_tui/agent/prompt.py"),
        ("readme", "README.md"),
        ("uwpr", "coder_tui/ui/widgets/prompt.py"),
        ("widgets/pro", "coder_tui/ui/widgets/prompt.py"),
        ("test prompt", "tests/ui/test_prompt.py"),
        ("straß", "src/Straße.txt"),
        ("İx", "src/İx.txt"),
    ],
)
def test_the_likeliest_comes_first(query: str, first: str) -> None:
    assert found(query)[0] == first


def test_names_come_before_folders() -> None:
    assert [path.rpartition("/")[2] for path in found("prompt")[:3]] == [
        "prompt.py",
        "prompt.py",
        "test_prompt.py",
    ]


def test_an_empty_query_returns_all_in_order() -> None:
    assert found("", 3) == list(FILES[:3])


def test_a_text_that_lacks_a_letter_is_not_found() -> None:
    assert found("promptz") == []


@given(st.lists(st.text("abc/_", max_size=8), max_size=30), st.text("abc/_", max_size=4))
def test_a_query_that_grew_finds_what_it_would_have_found_at_once(texts: list[str], query: str) -> None:
    typed = FuzzyIndex(texts)
    for end in range(len(query)):
        typed.search(query[:end], 5)

    assert typed.search(query, 5) == FuzzyIndex(texts).search(query, 5)


def test_a_key_costs_little_however_many_texts_match(monkeypatch: pytest.MonkeyPatch) -> None:
    compared: list[str] = []

    def score(text: str, positions: tuple[int, ...]) -> int:
        compared.append(text)
        return 0

    def rank(name: str, wanted: str, text: str) -> tuple[bool, ...]:
        compared.append(text)
        return ()

    monkeypatch.setattr(fuzzy, "_score", score)
    monkeypatch.setattr(fuzzy, "_name_rank", rank)
    index = FuzzyIndex([f"folder{n}/file_{n}.py" for n in range(20_000)])

    for query in ("f", "fp", "file", "zz"):
        index.search(query, 20)

    assert len(compared) <= 4 * 4 * fuzzy.MOST_RANKED


@given(st.lists(st.text(st.characters(codec="ascii", categories=["L", "P"]), max_size=12)), st.text("abc/._"))
def test_positions_spell_the_query(texts: list[str], query: str) -> None:
    index = FuzzyIndex(texts)
    wanted = query.lower()
    matches = index.search(query, 50)

    assert len({match.index for match in matches}) == len(matches)
    for match in matches:
        folded = texts[match.index].lower()
        assert "".join(folded[at] for at in match.positions) == wanted
