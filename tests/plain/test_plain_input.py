"""Lines of standard input: the end stays the end, whoever met it first."""

import io

from coder_tui.plain.input import InputLines


async def test_the_end_is_told_to_everybody_who_asks() -> None:
    lines = InputLines(io.StringIO("one\n"))
    assert [await lines.next() for _ in range(3)] == ["one", None, None]
