"""Runs a search program and hands out what it prints in large gulps: each small one would wake the loop."""

import asyncio
import contextlib
import fcntl
import os
import signal
import sys
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from pathlib import Path

from coder_tui.protocol.errors import ErrorType, ToolError
from coder_tui.shell.environment import clean_environment
from coder_tui.workspace.confine import open_folder

_PIPE_SIZE = 1024 * 1024
_GULP = 256 * 1024
_FULL = 64 * 1024
_PAUSE = 0.002
_LONGEST_RECORD = 64 * 1024
_ERROR_TEXT = 2_000


@contextlib.asynccontextmanager
async def search_blocks(
    command: Sequence[str], folder: Path, end: bytes, seconds: float
) -> AsyncIterator[AsyncIterator[bytes]]:
    """Run the command in `folder` and hand out its records, many at a time; it never outlives this."""
    output, theirs = _pipe()
    try:
        process = await _start(command, folder, theirs)
        try:
            async with asyncio.timeout(seconds):
                async with contextlib.aclosing(_blocks(process, output, end)) as blocks:
                    yield blocks
        except TimeoutError as error:
            message = f"The search took longer than {seconds:g} s and was stopped."
            raise ToolError(ErrorType.TIMEOUT, message, "Narrow the path or the pattern.") from error
        finally:
            await _end(process)
    finally:
        os.close(output)


def _pipe() -> tuple[int, int]:
    ours, theirs = os.pipe()
    os.set_blocking(ours, False)
    set_size = getattr(fcntl, "F_SETPIPE_SZ", None)
    if set_size is not None:
        # A user may be near the limit for pipes; the usual size works too.
        with contextlib.suppress(OSError):
            fcntl.fcntl(ours, set_size, _PIPE_SIZE)
    return ours, theirs


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
            start_new_session=True,
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
    process: asyncio.subprocess.Process, output: int, end: bytes
) -> AsyncGenerator[bytes, None]:
    """Hand out whole records in blocks, `end` between them; one longer than is sane is passed over."""
    rest = b""
    is_skipping = False
    while chunk := await _gulp(output):
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


async def _gulp(output: int) -> bytes:
    """Wait for output, and a moment longer for what comes right after it; empty at the end."""
    await _readable(output)
    data = os.read(output, _GULP)
    if not data or len(data) >= _FULL:
        return data
    await asyncio.sleep(_PAUSE)
    # Without a reader registered nothing wakes the loop meanwhile, however often the program writes.
    with contextlib.suppress(BlockingIOError):
        data += os.read(output, _GULP)
    return data


async def _readable(output: int) -> None:
    loop = asyncio.get_running_loop()
    ready = asyncio.Event()
    loop.add_reader(output, ready.set)
    try:
        await ready.wait()
    finally:
        loop.remove_reader(output)


def _check(exit_code: int, error: bytes) -> None:
    text = error.decode("utf-8", "replace").strip()
    if exit_code in {0, 1} or not text:
        return
    if "takes too long" in text:
        raise ToolError(ErrorType.TIMEOUT, f"The search was stopped: {text}.", "Simplify the pattern.")
    message = "invalid args: pattern: " + " ".join(text.removeprefix("rg: ").split())
    hint = "Escape characters that are special in regular expressions. Lines are searched one by one."
    raise ToolError(ErrorType.INVALID_TOOL_PARAMS, message, hint)
