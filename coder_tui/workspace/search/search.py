"""Find files and lines with ripgrep, bounded in time and memory, in a stable order.

A thread gathers the program's output, so that small writes do not wake the event loop.
"""

import asyncio
import contextlib
import os
import re
import signal
import sys
import sysconfig
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from coder_tui.policy.paths import is_secret
from coder_tui.protocol.errors import ErrorType, ToolError
from coder_tui.shell.environment import clean_environment, find_program
from coder_tui.workspace.files.confine import open_folder
from coder_tui.workspace.search.ignore import is_in_repository
from coder_tui.workspace.search.records import (
    Collected,
    GrepQuery,
    LineMatch,
    accept_all,
    path_order,
    shown_path,
)

_CHUNK = 256 * 1024
_FULL = 64 * 1024
_GATHERING = 0.05
_LONGEST_RECORD = 64 * 1024
_ERROR_TEXT = 2_000


@contextlib.asynccontextmanager
async def search_blocks(
    command: Sequence[str], folder: Path, end: bytes, seconds: float
) -> AsyncIterator[AsyncIterator[bytes]]:
    """Run the command in `folder` and yield its records in blocks; it always ends with this context."""
    output, theirs = os.pipe()
    # A separate thread, so that many searches at once leave the loop's threads to others.
    with _closing(output), ThreadPoolExecutor(1) as reader:
        process = await _start(command, folder, theirs)
        try:
            async with asyncio.timeout(seconds):
                async with contextlib.aclosing(_blocks(process, output, reader, end)) as blocks:
                    yield blocks
        except TimeoutError as error:
            message = f"The search took longer than {seconds:g} s and was stopped."
            raise ToolError(ErrorType.TIMEOUT, message, "Narrow the path or the pattern.") from error
        finally:
            # When the program ends, its output ends, and then the reader.
            await _end(process)


@contextlib.contextmanager
def _closing(descriptor: int) -> Iterator[None]:
    try:
        yield
    finally:
        os.close(descriptor)


async def _start(command: Sequence[str], folder: Path, output: int) -> asyncio.subprocess.Process:
    opened: int | None = None
    try:
        opened = open_folder(folder)
        return await asyncio.create_subprocess_exec(
            *command,
            # Entered through the open descriptor: a link that replaces the folder is not followed.
            cwd=f"/proc/self/fd/{opened}" if sys.platform == "linux" else folder,
            env=clean_environment(os.environ),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=output,
            stderr=asyncio.subprocess.PIPE,
            # A process group, not a session: Linux would schedule a session separately, and on a busy machine
            # the search would take twice as long.
            process_group=0,
        )
    except OSError as error:
        message = f"The search did not start: {error.strerror}."
        raise ToolError(ErrorType.EXECUTION_FAILED, message) from error
    finally:
        os.close(output)
        if opened is not None:
            os.close(opened)


async def _end(process: asyncio.subprocess.Process) -> None:
    if process.returncode is None:
        # Not `kill()`: that may take the exit status from the event loop, which then complains.
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    if process.stderr is not None:
        # What is left in the pipe would keep its transport open.
        while await process.stderr.read(_FULL):
            pass
    await process.wait()


async def _blocks(
    process: asyncio.subprocess.Process, output: int, reader: ThreadPoolExecutor, end: bytes
) -> AsyncGenerator[bytes, None]:
    """Yield whole records in blocks, `end` between them; an absurdly long one is skipped."""
    loop = asyncio.get_running_loop()
    rest = b""
    is_skipping = False
    while chunk := await loop.run_in_executor(reader, _gather, output):
        whole, separator, rest = (rest + chunk).rpartition(end)
        if separator and is_skipping:
            _, separator, whole = whole.partition(end)
            is_skipping = False
        if separator:
            yield whole
        if len(rest) > _LONGEST_RECORD:
            rest, is_skipping = b"", True
    if process.stderr is None:
        raise RuntimeError("the search was started without a pipe for errors")
    _check(await process.wait(), await process.stderr.read(_ERROR_TEXT))


def _gather(output: int) -> bytes:
    """Wait for output and gather what follows soon; empty at the end."""
    gathered = piece = os.read(output, _CHUNK)
    until = time.monotonic() + _GATHERING
    while piece and len(gathered) < _FULL and time.monotonic() < until:
        piece = os.read(output, _CHUNK)
        gathered += piece
    return gathered


def _check(exit_code: int, error: bytes) -> None:
    text = error.decode("utf-8", "replace").strip()
    if exit_code in {0, 1} or not text:
        return
    if "takes too long" in text:
        raise ToolError(ErrorType.TIMEOUT, f"The search was stopped: {text}.", "Simplify the pattern.")
    message = "invalid args: pattern: " + " ".join(text.removeprefix("rg: ").split())
    hint = "Escape special characters of regular expressions. Lines are searched one by one."
    raise ToolError(ErrorType.INVALID_TOOL_PARAMS, message, hint)


_UNSORTED_MATCHES = 5_000
_UNSORTED_FILES = 10_000
_PLAIN_ENDING = re.compile(r"[A-Za-z0-9._-]+")
# Values are joined to their options, so that the Python program can ignore what it does anyway.
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
    """Where to search: a folder, or one named file in it."""

    folder: Path
    file: str = ""


class _TooManyError(Exception):
    """There are too many results to sort here; a sorted search can stop early instead."""


def search_program() -> tuple[str, ...]:
    """Return the search command: the bundled ripgrep, one on the PATH, else our own in Python."""
    bundled = Path(sysconfig.get_path("scripts")) / "rg"
    installed = Path(sys.executable).parent / "rg"
    for candidate in (bundled, installed):
        if os.access(candidate, os.X_OK):
            return (str(candidate),)
    elsewhere = find_program("rg", os.environ, (Path.cwd(),))
    return (elsewhere,) if elsewhere else python_program()


def python_program() -> tuple[str, ...]:
    # Isolated, so that a module of the workspace is not imported instead of one of ours.
    return (sys.executable, "-I", "-m", "coder_tui.workspace.search.plain_search")


class Search:
    """Searches below one folder or in one file; never in `.git`, and in secret files only if named.

    `may_be_found` judges absolute paths: what must not be read is skipped as well.
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
        """List files below `scope` that `accepts` accepts, by path, at most `most` of them.

        `endings` only makes it faster: what `accepts` accepts ends in one of them.
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
        # Checked last, because of many files only the first ones count.
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
                # The paths of a block are decoded at once, because there may be very many.
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
                # A file's records come together: only a new path proves the previous one complete.
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
        # Inside a repository, ripgrep must know that; otherwise rules from outside would apply.
        rules = [] if is_in_repository(scope.folder) else ["--no-require-git"]
        command = [*self._program, *_ALWAYS, *order, *rules, *arguments, "--", f"./{scope.file}"]
        return search_blocks(command, scope.folder, end, self._timeout)


def _wanted(endings: tuple[str, ...]) -> list[str]:
    """Let the program skip other endings; as a file type, because globs would override ignore rules."""
    if not endings or not all(map(_PLAIN_ENDING.fullmatch, endings)):
        return []
    return [*(f"--type-add=wanted:*{ending}" for ending in endings), "--type=wanted"]


def _grep_arguments(query: GrepQuery) -> list[str]:
    case = ["--ignore-case"] if query.ignore_case else []
    # Four bytes per character, so that ripgrep keeps at least what we show.
    columns = f"--max-columns={4 * query.longest + 48}"
    counts = [f"--max-count={query.most + 1}", f"--context={query.context}", columns]
    return [*_LINES, *case, *counts, *_wanted(query.endings), f"--regexp={query.pattern}"]
