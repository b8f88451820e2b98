"""Chunks from a pipe become whole lines in order."""

import asyncio
import os
from collections.abc import Callable

from coder_tui.shell.hosts.link import Lines

LONGEST = 20


async def read(pieces: list[bytes], take: Callable[[bytes], None]) -> None:
    """Write the pieces into a pipe and return when the reading has ended."""
    out, into = os.pipe()
    lines = Lines(take, LONGEST)
    await asyncio.get_running_loop().connect_read_pipe(lambda: lines, os.fdopen(out, "rb"))
    for piece in pieces:
        os.write(into, piece)
        await asyncio.sleep(0)
    os.close(into)
    await lines.ended


async def test_lines_are_whole_however_they_arrive() -> None:
    taken: list[bytes] = []
    await read([b"on", b"e\n\ntw", b"o\nthree\nlost"], taken.append)
    assert taken == [b"one", b"", b"two", b"three"]


async def test_a_line_that_cannot_be_read_ends_the_reading() -> None:
    taken: list[bytes] = []

    def take(line: bytes) -> None:
        taken.append(line)
        int(line)

    await read([b"1\nx\n2\n"], take)
    assert taken == [b"1", b"x"]


async def test_a_line_without_an_end_ends_the_reading() -> None:
    taken: list[bytes] = []
    lines = Lines(taken.append, LONGEST)
    out, into = os.pipe()
    await asyncio.get_running_loop().connect_read_pipe(lambda: lines, os.fdopen(out, "rb"))
    os.write(into, b"x" * (LONGEST + 1))
    await lines.ended
    os.close(into)
    assert taken == []
