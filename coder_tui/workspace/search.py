"""Finds files and lines through ripgrep, bounded in time and memory, in a stable order."""

import contextlib
import os
import re
import sys
import sysconfig
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from coder_tui.policy.secrets import is_secret
from coder_tui.workspace.grep_records import (
    Collected,
    GrepQuery,
    LineMatch,
    accept_all,
    path_order,
    shown_path,
)
from coder_tui.workspace.ignore import is_in_repository
from coder_tui.workspace.programs import find_program
from coder_tui.workspace.search_process import search_blocks

_UNSORTED_MATCHES = 5_000
_UNSORTED_FILES = 10_000
_PLAIN_ENDING = re.compile(r"[A-Za-z0-9._-]+")
# Values stand with their options, so that the program in Python can pass over what it does anyhow.
_ALWAYS = (
    *("--no-config", "--no-messages", "--color=never", "--hidden", "--null"),
    *("--no-ignore-dot", "--no-ignore-global", "--no-ignore-exclude", "--glob=!.git"),
)
_LINES = (
    *("--no-heading", "--with-filename", "--line-number", "--column", "--crlf", "--no-context-separator"),
    "--max-columns-preview",
)


@dataclass(frozen=True, slots=True)
class Found:
    paths: tuple[str, ...]
    truncated: bool


@dataclass(frozen=True, slots=True)
class Grepped:
    matches: tuple[LineMatch, ...]
    truncated: bool


@dataclass(frozen=True, slots=True)
class Scope:
    """Where to search: a folder, or one file in it that was named."""

    folder: Path
    file: str = ""


class _TooManyError(Exception):
    """There is more than is worth sorting here; a sorted search can stop early instead."""


def search_program() -> tuple[str, ...]:
    """The command that searches: the bundled ripgrep, one on the PATH, else our own in Python."""
    bundled = Path(sysconfig.get_path("scripts")) / "rg"
    beside = Path(sys.executable).parent / "rg"
    for candidate in (bundled, beside):
        if os.access(candidate, os.X_OK):
            return (str(candidate),)
    elsewhere = find_program("rg", os.environ, (Path.cwd(),))
    return (elsewhere,) if elsewhere else python_program()


def python_program() -> tuple[str, ...]:
    # Isolated: a module of the workspace must not be imported in place of one of ours.
    return (sys.executable, "-I", "-m", "coder_tui.workspace.plain_search")


class Search:
    """Searches below one folder or in one file; never in `.git`, and in secret files only when named.

    `may_be_found` judges absolute paths: what must not be read is passed over as well.
    """

    def __init__(
        self,
        program: tuple[str, ...],
        timeout: float = 20.0,
        may_be_found: Callable[[str], bool] = accept_all,
    ) -> None:
        self._program = program
        self._timeout = timeout
        self._may_be_found = may_be_found

    async def files(
        self, scope: Scope, accepts: Callable[[str], bool], most: int, endings: tuple[str, ...] = ()
    ) -> Found:
        """List files below `scope` that `accepts` takes, by path, at most `most` of them.

        `endings` only make it quicker: what `accepts` takes ends in one of them.
        """
        arguments = ["--files", *_wanted(endings)]
        try:
            stop = max(_UNSORTED_FILES, most + 1)
            paths = await self._files(scope, accepts, arguments, sort=False, stop=stop)
        except _TooManyError:
            paths = await self._files(
                scope,
                lambda path: accepts(path) and self._may_show(scope, path),
                arguments,
                sort=True,
                stop=most + 1,
            )
        paths.sort(key=path_order)
        # Looked at last: of many files only the first ones count.
        kept = list(islice((path for path in paths if self._may_show(scope, path)), most + 1))
        return Found(tuple(shown_path(path) for path in kept[:most]), len(kept) > most)

    async def grep(self, scope: Scope, query: GrepQuery) -> Grepped:
        """Find lines, by path and line, at most `query.most` of them."""
        try:
            matches = await self._grep(scope, query, sort=False, stop=max(_UNSORTED_MATCHES, query.most))
        except _TooManyError:
            matches = await self._grep(scope, query, sort=True, stop=query.most)
        matches.sort(key=lambda match: (path_order(match.path), match.line))
        kept = tuple(matches[: query.most])
        return Grepped(kept, len(matches) > query.most)

    async def _files(
        self, scope: Scope, accepts: Callable[[str], bool], arguments: list[str], *, sort: bool, stop: int
    ) -> list[str]:
        paths: list[str] = []
        async with self._blocks(scope, arguments, sort=sort, end=b"\0") as blocks:
            async for block in blocks:
                is_plain = block.isascii()
                # The paths of a block are decoded in one go, as there may be very many.
                for record in os.fsdecode(block).split("\0"):
                    path = record[2:]
                    if accepts(path if is_plain else shown_path(path)):
                        paths.append(path)
                        if len(paths) >= stop:
                            break
                if len(paths) >= stop:
                    if sort:
                        break
                    raise _TooManyError
        return paths

    async def _grep(self, scope: Scope, query: GrepQuery, *, sort: bool, stop: int) -> list[LineMatch]:
        collected = Collected(query)
        async with self._blocks(scope, _grep_arguments(query), sort=sort, end=b"\n") as blocks:
            async for block in blocks:
                for record in block.split(b"\n"):
                    path = collected.add(record)
                    if path is not None and not (
                        self._may_show(scope, path) and query.accepts(shown_path(path))
                    ):
                        collected.drop(path)
                # A file's records come together: only a new path proves the one before complete.
                if collected.complete > stop:
                    if sort:
                        break
                    raise _TooManyError
        return collected.matches()

    def _may_show(self, scope: Scope, path: str) -> bool:
        if scope.file:
            return True
        whole = f"{scope.folder}/{path}"
        return ".git" not in path.lower().split("/") and not is_secret(whole) and self._may_be_found(whole)

    def _blocks(
        self, scope: Scope, arguments: list[str], *, sort: bool, end: bytes
    ) -> contextlib.AbstractAsyncContextManager[AsyncIterator[bytes]]:
        order = ["--sort=path"] if sort else []
        # Where a repository is, ripgrep must know of it, else rules from outside would enter it.
        rules = [] if is_in_repository(scope.folder) else ["--no-require-git"]
        command = [*self._program, *_ALWAYS, *order, *rules, *arguments, "--", f"./{scope.file}"]
        return search_blocks(command, scope.folder, end, self._timeout)


def _wanted(endings: tuple[str, ...]) -> list[str]:
    """Let the program pass over what ends otherwise: as a file type, since globs would lift ignore rules."""
    if not endings or not all(map(_PLAIN_ENDING.fullmatch, endings)):
        return []
    return [*(f"--type-add=wanted:*{ending}" for ending in endings), "--type=wanted"]


def _grep_arguments(query: GrepQuery) -> list[str]:
    case = ["--ignore-case"] if query.ignore_case else []
    # Four bytes a character: what ripgrep keeps of a line always holds what we show.
    columns = f"--max-columns={4 * query.longest + 48}"
    counts = [f"--max-count={query.most + 1}", f"--context={query.context}", columns]
    return [*_LINES, *case, *counts, *_wanted(query.endings), f"--regexp={query.pattern}"]
