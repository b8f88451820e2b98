"""Runs a search program; a thread gathers what it prints, so that small writes do not wake the loop."""

import asyncio
import contextlib
import os
import signal
import sys
import time
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from coder_tui.protocol.errors import ErrorType, ToolError
from coder_tui.shell.environment import clean_environment
from coder_tui.workspace.confine import open_folder

_CHUNK = 256 * 1024
_FULL = 64 * 1024
_GATHERING = 0.05
_LONGEST_RECORD = 64 * 1024
_ERROR_TEXT = 2_000


@contextlib.asynccontextmanager
async def search_blocks(
    command: Sequence[str], folder: Path, end: bytes, seconds: float
) -> AsyncIterator[AsyncIterator[bytes]]:
    """Run the command in `folder` and hand out its records, many at a time; it never outlives this."""
    output, theirs = os.pipe()
    # Of its own, so that many searches at once leave the loop's threads to others.
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
            # With the program ends its output, and with that the reader.
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
            # Entered by what was opened: a link put in the folder's place meanwhile is not followed.
            cwd=f"/proc/self/fd/{opened}" if sys.platform == "linux" else folder,
            env=clean_environment(os.environ),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=output,
            stderr=asyncio.subprocess.PIPE,
            # A group and not a session of its own: to that Linux gives a share of the processor apart, and
            # on a busy machine the search would take twice as long.
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
        # Not `kill()`: that may take the exit status away from the loop, which then complains.
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    if process.stderr is not None:
        # What is still in the pipe would keep its transport open.
        while await process.stderr.read(_FULL):
            pass
    await process.wait()


async def _blocks(
    process: asyncio.subprocess.Process, output: int, reader: ThreadPoolExecutor, end: bytes
) -> AsyncGenerator[bytes, None]:
    """Hand out whole records in blocks, `end` between them; one longer than is sane is passed over."""
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
    """Wait for output and take what follows it soon; empty at the end."""
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
    hint = "Escape characters that are special in regular expressions. Lines are searched one by one."
    raise ToolError(ErrorType.INVALID_TOOL_PARAMS, message, hint)
