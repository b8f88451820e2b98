"""A model that never stops, for sweeps: it talks, writes, edits, patches and runs commands.

Each file that it touches is, at any moment, one whole version: its number stands at both ends.
"""

import asyncio
import json
import random
import re
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

from coder_tui.llm.client import (
    ModelRequest,
    StreamFinished,
    StreamItem,
    TextChunk,
    ToolCallChunk,
    estimate_request,
)
from coder_tui.protocol.messages import FinishReason, Usage
from tests.fakes.script import Call, Reply

WRITTEN = {"small.txt": 3, "large.txt": 4_000}
"""Files with the number of lines between the marks."""
EDITED = "edited.txt"
PATCHED = ("first.txt", "second.txt")
COMMANDS = "log.txt"
FILLER = "nothing to see in this line\n"
MARK = re.compile(r"version (\d+)\n")

Arguments = dict[str, object]


def whole(version: int, lines: int) -> str:
    """Return a file of one version."""
    return f"version {version}\n{FILLER * lines}version {version}\n"


def version_of(path: Path) -> int | None:
    """Return the version; 0 if there is no file, None if it is not one whole version."""
    if not path.exists():
        return 0
    text = path.read_text()
    first = MARK.match(text)
    number = int(first[1]) if first else 0
    lines = WRITTEN.get(path.name, 20)
    return number if text == whole(number, lines) else None


def versions(project: Path) -> dict[str, int | None]:
    return {name: version_of(project / name) for name in (*WRITTEN, EDITED, *PATCHED)}


def prepare(project: Path) -> None:
    for name in (EDITED, *PATCHED):
        (project / name).write_text(whole(1, 20))


@dataclass(frozen=True, slots=True)
class Step:
    text: str
    calls: tuple[tuple[str, Arguments], ...] = ()


class BusyModel:
    """Decides what to do next by what is in the folder now."""

    def __init__(
        self, project: Path, seed: int, steps_per_turn: int, written: tuple[str, ...] = tuple(WRITTEN)
    ) -> None:
        self._project = project
        self._written = written
        self._random = random.Random(seed)
        self._steps = steps_per_turn
        self._done = 0

    def next(self) -> Step:
        self._done += 1
        text = " ".join(["word", uuid4().hex, *["more"] * self._random.randrange(60)])
        if self._done % self._steps == 0:
            return Step(text)
        kinds = (self._write, self._write, self._edit, self._patch, self._command, self._todo)
        return Step(text, self._random.choice(kinds)())

    def _write(self) -> tuple[tuple[str, Arguments], ...]:
        name = self._random.choice(self._written)
        content = whole(self._after(name), WRITTEN[name])
        write: Arguments = {"path": name, "content": content}
        known = (self._project / name).exists()
        return (*((("read", {"path": name}),) if known else ()), ("write", write))

    def _edit(self) -> tuple[tuple[str, Arguments], ...]:
        after = self._after(EDITED)
        old, new = f"version {after - 1}\n", f"version {after}\n"
        change: Arguments = {"path": EDITED, "old_string": old, "new_string": new, "replace_all": True}
        return (("edit", change),)

    def _patch(self) -> tuple[tuple[str, Arguments], ...]:
        return (("patch", {"patch": "".join(self._diff(name) for name in PATCHED)}),)

    def _diff(self, name: str) -> str:
        after = self._after(name)
        lines = "".join(f" {FILLER}" for _ in range(20))
        marks = f"-version {after - 1}\n+version {after}\n"
        return f"--- a/{name}\n+++ b/{name}\n@@ -1,22 +1,22 @@\n{marks}{lines}{marks}"

    def _command(self) -> tuple[tuple[str, Arguments], ...]:
        word = uuid4().hex[:8]
        return (("bash", {"command": f"echo {word} >> {COMMANDS}; mkdir -p out; cp {EDITED} out/copy"}),)

    def _todo(self) -> tuple[tuple[str, Arguments], ...]:
        item = {"id": "1", "content": uuid4().hex, "status": "pending", "priority": "low"}
        return (("todowrite", {"todos": [item]}),)

    def _after(self, name: str) -> int:
        return (version_of(self._project / name) or 0) + 1


class BusyClient:
    """The model inside the program's own process."""

    def __init__(self, model: BusyModel, pause: float = 0.0) -> None:
        self._model = model
        self._pause = pause

    async def stream(self, request: ModelRequest) -> AsyncIterator[StreamItem]:
        # Without tools it is asked for a summary, not for work.
        step = self._model.next() if request.tools else Step("The files were changed, version by version.")
        for word in step.text.split(" "):
            await asyncio.sleep(self._pause)
            yield TextChunk(f"{word} ")
        for index, (tool, arguments) in enumerate(step.calls):
            yield ToolCallChunk(index, uuid4().hex, tool, json.dumps(arguments))
        reason = FinishReason.TOOL_CALLS if step.calls else FinishReason.STOP
        yield StreamFinished(reason, usage=Usage(estimate_request(request), 5, cost=0.0))

    async def warm(self) -> None:
        return None

    async def close(self) -> None:
        return None


def reply(step: Step) -> Reply:
    """The same model over HTTP."""
    calls = tuple(Call(tool, arguments, uuid4().hex) for tool, arguments in step.calls)
    return Reply(text=step.text, calls=calls, argument_piece=4_000)
