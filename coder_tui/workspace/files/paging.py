"""Read a page of a file's lines without loading the file, however large it or its lines are."""

import codecs
import hashlib
import os
from dataclasses import dataclass

import aiofiles
from aiofiles.threadpool.binary import AsyncBufferedReader

from coder_tui.workspace.files.confine import Located, explain, open_regular
from coder_tui.workspace.files.text import (
    HEAD_SIZE,
    WHOLE_LIMIT,
    Encoding,
    binary_file,
    binary_type,
    check_size,
    decode,
    digest_of,
    show,
    sniff,
)

LONGEST_LINE = 2_000
PAGE_BYTES = 48 * 1024
_CUT_MARK = " […]"
_CHUNK = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Page:
    """Lines count from 1; `start` and `end` are 0 for an empty page.

    `total` and `digest` are None if unknown.
    """

    lines: tuple[str, ...]
    start: int
    end: int
    has_more: bool
    total: int | None
    digest: str | None


async def read_page(located: Located, offset: int, limit: int) -> Page:
    """Read `limit` lines from line `offset`; a negative offset counts from the end."""
    descriptor = open_regular(located)
    size = os.fstat(descriptor).st_size
    async with aiofiles.open(descriptor, "rb") as file:
        try:
            head = await file.read(HEAD_SIZE)
            if kind := binary_type(head):
                raise binary_file(located, kind)
            if sniff(head)[0] is not Encoding.UTF_8:
                check_size(size, located)
                return _page_of_text(head + await file.read(), located, offset, limit)
            return await _Pager(file, size, len(codecs.BOM_UTF8) if sniff(head)[1] else 0).page(offset, limit)
        except OSError as error:
            raise explain(error, located) from error


async def check_text(located: Located) -> None:
    """Refuse a file that is not text, judging by its first bytes."""
    async with aiofiles.open(open_regular(located), "rb") as file:
        try:
            head = await file.read(HEAD_SIZE)
        except OSError as error:
            raise explain(error, located) from error
    if kind := binary_type(head):
        raise binary_file(located, kind)


def _page_of_text(data: bytes, located: Located, offset: int, limit: int) -> Page:
    """Return a page of UTF-16 text, which is rare and decoded as a whole."""
    lines = decode(data, located).shown.split("\n")
    if not lines[-1]:
        lines.pop()
    start = _first_line(offset, len(lines))
    taken = [_clean(line) for line in lines[start - 1 : start - 1 + limit]]
    return _page(_within_budget(taken), start, len(lines), digest_of(data))


def _first_line(offset: int, total: int) -> int:
    return max(total + offset + 1, 1) if offset < 0 else max(offset, 1)


def _page(lines: list[str], start: int, total: int, digest: str | None) -> Page:
    if not lines:
        return Page((), 0, 0, False, total, digest)
    end = start + len(lines) - 1
    return Page(tuple(lines), start, end, end < total, total, digest)


def _within_budget(lines: list[str]) -> list[str]:
    room = PAGE_BYTES
    for index, line in enumerate(lines):
        room -= len(line.encode()) + 1
        if room < 0 and index:
            return lines[:index]
    return lines


def _clean(line: str) -> str:
    line = line.removesuffix("\r")
    return line if len(line) <= LONGEST_LINE else line[:LONGEST_LINE] + _CUT_MARK


class _Pager:
    """Walks through a UTF-8 file in chunks; a call can be cancelled at each read."""

    def __init__(self, file: AsyncBufferedReader, size: int, bom: int) -> None:
        self._file = file
        self._size = size
        self._bom = bom

    async def page(self, offset: int, limit: int) -> Page:
        is_small = self._size <= WHOLE_LIMIT
        if not is_small and offset >= 0:
            return await self._page_of_huge(offset, limit)
        total, digest = await self._survey(hashes=is_small)
        start = _first_line(offset, total)
        if start > total:
            return _page([], start, total, digest)
        await self._go_to(start)
        lines, _ = await self._read_lines(limit)
        return _page(lines, start, total, digest)

    async def _page_of_huge(self, offset: int, limit: int) -> Page:
        start = max(offset, 1)
        if not await self._go_to(start):
            return Page((), 0, 0, False, None, None)
        lines, has_more = await self._read_lines(limit)
        return Page(tuple(lines), start, start + len(lines) - 1, has_more, None, None)

    async def _survey(self, *, hashes: bool) -> tuple[int, str | None]:
        """Count the lines, and hash the content if asked to."""
        await self._file.seek(0)
        digest = hashlib.sha256()
        newlines = 0
        last = b"\n"
        while chunk := await self._file.read(_CHUNK):
            newlines += chunk.count(b"\n")
            last = chunk[-1:]
            if hashes:
                digest.update(chunk)
        is_open = last != b"\n" and self._size > self._bom
        return newlines + int(is_open), digest.hexdigest() if hashes else None

    async def _go_to(self, line: int) -> bool:
        """Seek to the beginning of a line; return False if the file has fewer."""
        await self._file.seek(self._bom)
        position, missing = self._bom, line - 1
        while missing:
            chunk = await self._file.read(_CHUNK)
            if not chunk:
                return False
            count = chunk.count(b"\n")
            if count < missing:
                missing -= count
                position += len(chunk)
                continue
            position += _after_newline(chunk, missing)
            missing = 0
        await self._file.seek(position)
        return position < self._size

    async def _read_lines(self, limit: int) -> tuple[list[str], bool]:
        """Read up to `limit` lines from here within the page's budget; return whether more follow."""
        lines: list[str] = []
        room = PAGE_BYTES
        while len(lines) < limit:
            line = await self._line()
            if line is None:
                return lines, False
            room -= len(line.encode()) + 1
            if room < 0 and lines:
                return lines, True
            lines.append(line)
        return lines, bool(await self._file.read(1))

    async def _line(self) -> str | None:
        """Read one line; only the beginning of a very long one."""
        kept = 4 * LONGEST_LINE + 8
        data = await self._file.readline(kept)
        if not data:
            return None
        piece = data
        while len(piece) == kept and not piece.endswith(b"\n"):
            piece = await self._file.readline(_CHUNK)
            kept = _CHUNK
        decoder = codecs.getincrementaldecoder("utf-8")("surrogateescape")
        # A line that we cut may end inside a character; a whole one is decoded strictly.
        text = decoder.decode(data.removesuffix(b"\n"), final=piece is data)
        return _clean(show(text))


def _after_newline(chunk: bytes, count: int) -> int:
    at = -1
    for _ in range(count):
        at = chunk.index(b"\n", at + 1)
    return at + 1
