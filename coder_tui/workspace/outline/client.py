"""Ask the outline program: one process per call, which always ends with the call."""

import asyncio
import contextlib
import json
import os
import signal
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from coder_tui.llm.client import estimate_tokens
from coder_tui.protocol.errors import ErrorType, ToolError
from coder_tui.shell.environment import clean_environment

MAP_TOKENS = 4_000
_SAMPLE = "abcdefghij" * 100
BUDGET = MAP_TOKENS * len(_SAMPLE) // estimate_tokens(_SAMPLE)
"""In bytes, which can be counted without a tokenizer."""


@dataclass(frozen=True, slots=True)
class Outliner:
    """`cache` is a file that need not exist; `survey_seconds` limits how long a project is read."""

    cache: Path
    seconds: float = 30.0
    survey_seconds: float = 15.0

    async def outline_file(self, path: str, text: str, depth: int | None) -> str:
        return await self._ask({"path": path, "text": text, "depth": depth})

    async def outline_folder(self, root: Path, paths: tuple[str, ...], prefix: str) -> str:
        """Map the files at `paths` below `root`; they are shown with `prefix` in front."""
        question = {"root": str(root), "paths": paths, "prefix": prefix}
        return await self._ask({**question, "seconds": self.survey_seconds})

    async def _ask(self, question: dict[str, Any]) -> str:
        request = json.dumps({**question, "cache": str(self.cache), "budget": BUDGET}).encode()
        # Isolated, so that a module of the workspace is not imported instead of one of ours.
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-I", "-m", "coder_tui.workspace.outline.program"),
            cwd="/",
            env=clean_environment(os.environ),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            process_group=0,
        )
        try:
            async with asyncio.timeout(self.seconds):
                reply, errors = await process.communicate(request)
        except TimeoutError as error:
            message = f"The outline took longer than {self.seconds:g} s and was stopped."
            raise ToolError(ErrorType.TIMEOUT, message, "Use a smaller folder or one file.") from error
        finally:
            await _end(process)
        if process.returncode != 0:
            last = errors.decode("utf-8", "replace").strip().rpartition("\n")[2]
            raise ToolError(ErrorType.EXECUTION_FAILED, f"The outline failed: {last}.", "Use grep and read.")
        return str(json.loads(reply)["outline"])


async def _end(process: asyncio.subprocess.Process) -> None:
    """End the program and the processes that it started."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    await process.wait()
