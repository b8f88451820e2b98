"""Lines of standard input: every caller sees the end of the input."""

import io

from coder_tui.plain.session import InputLines


async def test_every_caller_sees_the_end() -> None:
    lines = InputLines(io.StringIO("one\n"))
    assert [await lines.next() for _ in range(3)] == ["one", None, None]
