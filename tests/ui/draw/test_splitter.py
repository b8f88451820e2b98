"""Where a growing Markdown text is split."""

from hypothesis import given
from hypothesis import strategies as st

from coder_tui.ui.draw.splitter import LONGEST_PARAGRAPH, MOST_LINES, Chunk, ChunkKind, Splitter, split

LINES = st.sampled_from(
    [
        "",
        "words and more",
        "# head",
        "- item",
        "  - nested",
        "1. one",
        "   inside",
        "```python",
        "```",
        "  ```",
        "~~~",
        "| a | b |",
        "|---|---|",
        "| 1 | 2 |",
        "---",
        "> quote",
        "[ref]: http://a.b",
        "see [ref]",
        "    code",
        "x" * (LONGEST_PARAGRAPH + 50),
    ]
)
TEXTS = st.lists(LINES, max_size=25).map("\n".join)


def kinds(text: str) -> list[ChunkKind]:
    return [chunk.kind for chunk in split(text)[0]]


@given(TEXTS, st.lists(st.integers(1, 40), max_size=60))
def test_any_chunking_gives_the_same_chunks(text: str, sizes: list[int]) -> None:
    splitter, rest = Splitter(), text
    chunks: list[Chunk] = []
    for size in sizes:
        chunks += splitter.feed(rest[:size])
        rest = rest[size:]
    chunks += [*splitter.feed(rest), *splitter.finish()]
    assert (chunks, splitter.definitions) == split(text)


@given(TEXTS)
def test_no_line_with_text_is_lost(text: str) -> None:
    kept = "".join(chunk.source for chunk in split(text)[0])
    assert "".join(kept.split()) == "".join(text.split())


def test_a_paragraph_ends_at_a_blank_line() -> None:
    assert split("a\nb\n\nc")[0] == [
        Chunk(ChunkKind.PARAGRAPH, "a\nb"),
        Chunk(ChunkKind.PARAGRAPH, "c"),
    ]


def test_a_fence_keeps_its_blank_lines() -> None:
    assert split("```\na\n\nb\n```\nc")[0] == [
        Chunk(ChunkKind.FENCE, "```\na\n\nb\n```"),
        Chunk(ChunkKind.PARAGRAPH, "c"),
    ]


def test_indented_lines_belong_to_their_item() -> None:
    assert kinds("- a\n\n  more\n  ```\n  x\n  ```\n- b") == [ChunkKind.ITEM, ChunkKind.ITEM]


def test_a_table_is_recognized_by_its_second_row() -> None:
    assert kinds("| a |\n|---|\n| 1 |") == [ChunkKind.TABLE]


def test_a_long_fence_is_split_and_continues_in_the_same_language() -> None:
    chunks, _ = split("```python\n" + "x = 1\n" * (MOST_LINES + 10) + "```")
    assert [(chunk.kind, chunk.continues, chunk.opening) for chunk in chunks] == [
        (ChunkKind.FENCE, False, ""),
        (ChunkKind.FENCE, True, "```python"),
    ]


def test_a_very_long_line_is_split_while_it_streams() -> None:
    splitter = Splitter()
    chunks = list(splitter.feed("y" * (3 * LONGEST_PARAGRAPH)))
    assert [chunk.continues for chunk in chunks] == [False, True]
    assert len(splitter.open_chunk.source) <= LONGEST_PARAGRAPH


def test_link_definitions_are_collected() -> None:
    assert split("see [a]\n\n[a]: http://x.y\n[b]: <http://z>\n")[1] == {"a": "http://x.y", "b": "http://z"}


def test_a_definition_inside_a_fence_is_code() -> None:
    assert split("```\n[a]: http://x.y\n```")[1] == {}
