"""Finds files and lines through ripgrep, bounded in time and memory, in a stable order."""

import asyncio
import contextlib
import os
import shutil
import sys
import sysconfig
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from dataclasses import dataclass
from pathlib import Path

from coder_tui.policy.secrets import is_secret
from coder_tui.protocol.errors import ErrorType, ToolError
from coder_tui.shell.environment import clean_environment
from coder_tui.workspace.grep_records import (
    Collected,
    GrepQuery,
    LineMatch,
    path_order,
    relative_path,
    shown_path,
)
from coder_tui.workspace.ignore import is_in_repository

_UNSORTED_MOST = 5_000
_CHUNK = 256 * 1024
_LONGEST_RECORD = 64 * 1024
_ERROR_TEXT = 2_000
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
    elsewhere = shutil.which("rg")
    return (elsewhere,) if elsewhere else python_program()


def python_program() -> tuple[str, ...]:
    # Isolated: a module of the workspace must not be imported in place of one of ours.
    return (sys.executable, "-I", "-m", "coder_tui.workspace.plain_search")


class Search:
    """Searches below one folder or in one file; never in `.git`, and in secret files only when named."""

    def __init__(self, program: tuple[str, ...], timeout: float = 20.0) -> None:
        self._program = program
        self._timeout = timeout

    async def files(self, scope: Scope, accepts: Callable[[str], bool], most: int) -> Found:
        """List files below `scope` that `accepts` takes, by path, at most `most` of them."""
        try:
            paths = await self._files(scope, accepts, sort=False, stop=_UNSORTED_MOST)
        except _TooManyError:
            paths = await self._files(scope, accepts, sort=True, stop=most + 1)
        paths.sort(key=path_order)
        return Found(tuple(shown_path(path) for path in paths[:most]), len(paths) > most)

    async def grep(self, scope: Scope, query: GrepQuery) -> Grepped:
        """Find lines, by path and line, at most `query.most` of them."""
        try:
            matches = await self._grep(scope, query, sort=False, stop=max(_UNSORTED_MOST, query.most))
        except _TooManyError:
            matches = await self._grep(scope, query, sort=True, stop=query.most)
        matches.sort(key=lambda match: (path_order(match.path), match.line))
        kept = tuple(matches[: query.most])
        return Grepped(kept, len(matches) > query.most)

    async def _files(
        self, scope: Scope, accepts: Callable[[str], bool], *, sort: bool, stop: int
    ) -> list[str]:
        paths: list[str] = []
        async with self._records(scope, ["--files"], sort=sort, end=b"\0") as records:
            async for record in records:
                path = relative_path(record)
                if path is None or not accepts(shown_path(path)) or not _may_show(scope, path):
                    continue
                paths.append(path)
                if len(paths) >= stop:
                    if sort:
                        break
                    raise _TooManyError
        return paths

    async def _grep(self, scope: Scope, query: GrepQuery, *, sort: bool, stop: int) -> list[LineMatch]:
        collected = Collected(query)
        async with self._records(scope, _grep_arguments(query), sort=sort, end=b"\n") as records:
            async for record in records:
                path = collected.add(record)
                if path is not None and not (_may_show(scope, path) and query.accepts(shown_path(path))):
                    collected.drop(path)
                # A file's records come together: only a new path proves the one before complete.
                if collected.complete > stop:
                    if sort:
                        break
                    raise _TooManyError
        return collected.matches()

    @contextlib.asynccontextmanager
    async def _records(
        self, scope: Scope, arguments: list[str], *, sort: bool, end: bytes
    ) -> AsyncIterator[AsyncIterator[bytes]]:
        """Run the program beside `scope` and hand out its records; it never outlives this block."""
        order = ["--sort=path"] if sort else []
        # Where a repository is, ripgrep must know of it, else rules from outside would enter it.
        rules = [] if is_in_repository(scope.folder) else ["--no-require-git"]
        try:
            process = await asyncio.create_subprocess_exec(
                *self._program,
                *_ALWAYS,
                *order,
                *rules,
                *arguments,
                "--",
                f"./{scope.file}",
                cwd=scope.folder,
                env=clean_environment(os.environ),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                start_new_session=True,
            )
        except OSError as error:
            raise ToolError(
                ErrorType.EXECUTION_FAILED, f"The search did not start: {error.strerror}."
            ) from error
        try:
            async with asyncio.timeout(self._timeout):
                async with contextlib.aclosing(_split(process, end)) as records:
                    yield records
        except TimeoutError as error:
            message = f"The search took longer than {self._timeout:g} s and was stopped."
            raise ToolError(ErrorType.TIMEOUT, message, "Narrow the path or the pattern.") from error
        finally:
            await _end(process)


def _may_show(scope: Scope, path: str) -> bool:
    if scope.file:
        return True
    return ".git" not in path.lower().split("/") and not is_secret(f"{scope.folder}/{path}")


async def _end(process: asyncio.subprocess.Process) -> None:
    if process.returncode is None:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
    if process.stdout is not None:
        # What is still in the pipe would keep its transport open.
        while await process.stdout.read(_CHUNK):
            pass
    await process.wait()


async def _split(process: asyncio.subprocess.Process, end: bytes) -> AsyncGenerator[bytes, None]:
    """Cut the output into records; one that is longer than any sane record is passed over."""
    if process.stdout is None or process.stderr is None:
        raise RuntimeError("the search was started without pipes")
    rest = b""
    is_skipping = False
    while chunk := await process.stdout.read(_CHUNK):
        *records, rest = (rest + chunk).split(end)
        for index, record in enumerate(records):
            if not (is_skipping and index == 0):
                yield record
        is_skipping = is_skipping and not records
        if len(rest) > _LONGEST_RECORD:
            rest, is_skipping = b"", True
    _check(await process.wait(), await process.stderr.read(_ERROR_TEXT))


def _check(exit_code: int, error: bytes) -> None:
    text = error.decode("utf-8", "replace").strip()
    if exit_code in {0, 1} or not text:
        return
    if "takes too long" in text:
        raise ToolError(ErrorType.TIMEOUT, f"The search was stopped: {text}.", "Simplify the pattern.")
    message = "invalid args: pattern: " + " ".join(text.removeprefix("rg: ").split())
    hint = "Escape characters that are special in regular expressions. Lines are searched one by one."
    raise ToolError(ErrorType.INVALID_TOOL_PARAMS, message, hint)


def _grep_arguments(query: GrepQuery) -> list[str]:
    case = ["--ignore-case"] if query.ignore_case else []
    # Four bytes a character: what ripgrep keeps of a line always holds what we show.
    columns = f"--max-columns={4 * query.longest + 48}"
    counts = [f"--max-count={query.most + 1}", f"--context={query.context}", columns]
    return [*_LINES, *case, *counts, f"--regexp={query.pattern}"]
