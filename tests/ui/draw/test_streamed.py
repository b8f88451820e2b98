"""Markdown that streams in."""

from hypothesis import given, settings
from hypothesis import strategies as st
from textual.strip import Strip

from coder_tui.ui.draw.markdown import draw_chunks, draw_markdown
from coder_tui.ui.draw.streamed import LINES_A_FRAME, StreamedMarkdown
from tests.ui.draw.test_splitter import TEXTS
from tests.ui.transcript_app import PALETTE, texts

WIDTH = 40


def final_rows(stream: StreamedMarkdown) -> list[Strip]:
    """All rows as the history gets them."""
    rows: list[Strip] = []
    for part, drawn in stream.finish():
        definitions = stream.definitions
        rows += draw_chunks(part.chunks, part.before, WIDTH, PALETTE, definitions) if drawn is None else drawn
    return rows


@settings(max_examples=60, deadline=None)
@given(TEXTS, st.lists(st.tuples(st.integers(1, 40), st.booleans()), max_size=40))
def test_any_chunking_ends_in_the_rows_of_the_whole_text(text: str, steps: list[tuple[int, bool]]) -> None:
    stream, rest = StreamedMarkdown(), text
    for size, is_drawn in steps:
        stream.feed(rest[:size])
        rest = rest[size:]
        if is_drawn:
            stream.draw(WIDTH, PALETTE)
    stream.feed(rest)
    assert final_rows(stream) == draw_markdown(text, WIDTH, PALETTE)


def test_finished_blocks_keep_their_strips() -> None:
    stream = StreamedMarkdown()
    stream.feed("one\n\ntwo")
    stream.draw(WIDTH, PALETTE)
    first = stream.rows[0]
    stream.feed(" more\n\nthree")
    stream.draw(WIDTH, PALETTE)
    assert stream.rows[0] is first
    assert texts(stream.rows) == ["one", "", "two more", "", "three"]


def test_a_flood_is_spread_over_frames() -> None:
    stream = StreamedMarkdown()
    stream.feed("line\n\n" * (3 * LINES_A_FRAME))
    stream.draw(WIDTH, PALETTE)
    assert stream.has_backlog
    assert len(stream.rows) <= 2 * LINES_A_FRAME
    while stream.has_backlog:
        stream.draw(WIDTH, PALETTE)
    assert texts(stream.rows) == texts(draw_markdown("line\n\n" * (3 * LINES_A_FRAME), WIDTH, PALETTE))


def test_an_open_fence_shows_its_lines() -> None:
    stream = StreamedMarkdown()
    for piece in ("```python\ndef f", "():\n    re", "turn 1\n", "f()"):
        stream.feed(piece)
        stream.draw(WIDTH, PALETTE)
    assert [row.strip() for row in texts(stream.rows)] == ["def f():", "return 1", "f()"]


def test_another_width_draws_everything_again() -> None:
    stream = StreamedMarkdown()
    stream.feed("one two three four five six seven\n\nnext")
    stream.draw(WIDTH, PALETTE)
    stream.draw(20, PALETTE)
    assert texts(stream.rows) == ["one two three four", "five six seven", "", "next"]


def test_an_address_below_its_link_is_found_at_the_end() -> None:
    stream = StreamedMarkdown()
    stream.feed("see [here][a]\n\n")
    stream.draw(WIDTH, PALETTE)
    stream.feed("[a]: http://x.y\n")
    stream.draw(WIDTH, PALETTE)
    assert texts(final_rows(stream)) == ["see here (http://x.y)"]
