"""The built-in demo model: a scripted play behind the same stream as any other model.

What the demo model says and does next, from what has happened so far in the sample project.
"""

import asyncio
import json
import re
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

from coder_tui.llm.client import (
    ModelRequest,
    StreamFinished,
    StreamItem,
    TextChunk,
    ThinkingChunk,
    ToolCallChunk,
)
from coder_tui.protocol.messages import (
    AssistantMessage,
    FinishReason,
    Message,
    ToolMessage,
    Usage,
    UserMessage,
)

TEST_COMMAND = "python3 -m unittest -q"
FILE = "cart.py"
BUG = "    if pieces > 10:\n"
MENDED = "    if pieces >= 10:\n"
SECOND_MENDED = "    if not pieces < 10:\n"
STEPS = ("Look at the project", "See the bug with the tests", "Mend the discount", "Run the tests again")


@dataclass(frozen=True, slots=True)
class Call:
    tool: str
    arguments: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Scene:
    """One reply of the demo model."""

    text: str
    thinking: str = ""
    calls: tuple[Call, ...] = ()


@dataclass(frozen=True, slots=True)
class Done:
    """A call that was made and what came of it."""

    call: Call
    result: dict[str, Any]

    @property
    def is_ok(self) -> bool:
        return bool(self.result.get("ok"))

    @property
    def was_refused(self) -> bool:
        error = str(self.result.get("error", {}).get("type", ""))
        return error in ("denied_by_user", "permission_denied", "cancelled")

    @property
    def words(self) -> str:
        """What the person said with a refusal."""
        message = str(self.result.get("error", {}).get("message", ""))
        return message.partition("refused this call: ")[2]


def next_scene(messages: tuple[Message, ...]) -> Scene:
    """The play in order; a scene that has been played is seen in the results."""
    done = _done_calls(messages)
    tests = [item for item in done if item.call.tool == "bash"]
    edits = [item for item in done if item.call.tool == "edit"]
    if _is_over(messages):
        return _afterwards()
    looks = [item for item in done if item.call.tool == "read" and item.call.arguments.get("path") == FILE]
    if not any(item.is_ok for item in looks):
        return _opening() if all(item.was_refused for item in looks) else _elsewhere()
    if not tests:
        return _first_tests()
    if not edits or (len(edits) == 1 and edits[0].was_refused):
        return _mend(tests[-1], edits)
    is_checked = tests[-1].was_refused or len(tests) > 1
    if edits[-1].is_ok and not is_checked:
        return _last_tests()
    if not _is_wound_up(done):
        return _winding_up(edits[-1], tests[-1])
    return _report(edits[-1], tests[-1]) if edits[-1].is_ok else _not_mended(edits[-1])


def _done_calls(messages: tuple[Message, ...]) -> list[Done]:
    results = {message.call_id: message.content for message in messages if isinstance(message, ToolMessage)}
    return [
        Done(Call(call.name, _object(call.arguments)), _object(results[call.id]))
        for message in messages
        if isinstance(message, AssistantMessage)
        for call in message.calls
        if call.id in results
    ]


def _object(text: str) -> dict[str, Any]:
    value = json.loads(text)
    return value if isinstance(value, dict) else {}


def _is_over(messages: tuple[Message, ...]) -> bool:
    """Whether a last word was said before the person's newest message."""
    last = max((i for i, message in enumerate(messages) if isinstance(message, UserMessage)), default=0)
    return any(
        isinstance(message, AssistantMessage) and message.text.startswith(_LAST_WORDS)
        for message in messages[:last]
    )


def _todos(at: int) -> Call:
    items = []
    for number, content in enumerate(STEPS):
        status = "completed" if number < at else "in_progress" if number == at else "pending"
        items.append({"id": str(number + 1), "content": content, "status": status, "priority": "medium"})
    return Call("todowrite", {"todos": items})


def _opening() -> Scene:
    return Scene(
        "Hello! I am the **built-in demo model**: no key, no network, nothing leaves this machine. "
        "This is a scratch copy of a small project with a real bug in it. I will find and mend it, "
        "and everything I do passes before your eyes first.\n\nLet me look around.",
        "The person wants to see how I work. I should read the project before I touch anything.",
        (
            _todos(0),
            Call("read", {"path": "README.md"}),
            Call("read", {"path": FILE}),
            Call("grep", {"pattern": "discount"}),
        ),
    )


def _first_tests() -> Scene:
    return Scene(
        "The README promises the discount *from ten pieces on*, but `cart.py` compares with `> 10`. "
        "The tests should show it. A command can do anything, so **you are asked first**, "
        "and see what it was found to do and how it is confined: "
        "`Ctrl+Y` allows it once, `n` refuses, `Esc` stops me.",
        "README and code disagree at exactly ten pieces. Seeing the test fail is better than being sure.",
        (
            _todos(1),
            Call("bash", {"command": TEST_COMMAND, "description": "Run the project's tests"}),
        ),
    )


def _mend(tests: Done, edits: list[Done]) -> Scene:
    new = SECOND_MENDED if edits else MENDED
    calls = (_todos(2), Call("edit", {"path": FILE, "old_string": BUG, "new_string": new}))
    return Scene(_before_mending(tests, edits), "One comparison is wrong; nothing else must change.", calls)


def _before_mending(tests: Done, edits: list[Done]) -> str:
    if edits:
        said = f' You said: "{edits[0].words}".' if edits[0].words else ""
        return (
            f"You refused that edit, and nothing was written.{said} "
            "Here is one other way to put it; refuse it too, and I leave the file alone."
        )
    asks = "The mend is one character. This edit asks you too, with its diff."
    if tests.was_refused:
        return f"No command, then: I respect that, and the code itself shows the bug. {asks}"
    return f"There it is: with ten pieces the discount is missing. {asks}"


def _last_tests() -> Scene:
    command = {"command": TEST_COMMAND, "description": "Run the project's tests"}
    return Scene("Mended. Now the same tests once more.", calls=(_todos(3), Call("bash", command)))


def _is_wound_up(done: list[Done]) -> bool:
    """Whether the last todo list has nothing in progress any more."""
    lists = [item.call.arguments["todos"] for item in done if item.call.tool == "todowrite"]
    return bool(lists) and all(todo["status"] != "in_progress" for todo in lists[-1])


def _winding_up(edit: Done, tests: Done) -> Scene:
    finished = [True, not tests.was_refused, edit.is_ok, edit.is_ok and not tests.was_refused]
    items = [
        {
            "id": str(number + 1),
            "content": content,
            "status": "completed" if is_done else "pending",
            "priority": "medium",
        }
        for number, (content, is_done) in enumerate(zip(STEPS, finished, strict=True))
    ]
    return Scene("Let me close the list.", calls=(Call("todowrite", {"todos": items}),))


def _report(edit: Done, tests: Done) -> Scene:
    checked = "not run, as you wished" if tests.was_refused else "pass" if tests.is_ok else "**still fail**"
    rows = (
        "| step | result |",
        "|---|---|",
        "| cause | `>` where the README says *from ten on* |",
        f"| change | one comparison in `{FILE}`, line 13 |",
        f"| tests | {checked} |",
    )
    line = str(edit.call.arguments["new_string"]).strip()
    code = f"```python\n{line}\n    return subtotal(items) // 10\n```"
    return Scene("\n\n".join((_LAST_WORDS, "\n".join(rows), code, _NEXT)))


def _not_mended(edit: Done) -> Scene:
    said = f' ("{edit.words}")' if edit.words else ""
    return Scene(
        f"{_LAST_WORDS}\n\nYou refused the change{said}, so `{FILE}` is as it was. "
        f"The bug stays: ten pieces get no discount.\n\n{_NEXT}"
    )


def _elsewhere() -> Scene:
    return Scene(
        f"{_LAST_WORDS}\n\nI only know the small project that I bring along, and this folder is another one. "
        f"`coder-tui demo` opens a scratch copy of mine.\n\n{_NEXT}"
    )


def _afterwards() -> Scene:
    return Scene(f"That was the whole demo; I only know this one play.\n\n{_NEXT}")


_LAST_WORDS = "**That is all.**"
_NEXT = (
    "To work on your own code, give me a real model:\n\n"
    "1. set a key, for instance `export ANTHROPIC_API_KEY=…`, or start a local server such as Ollama;\n"
    "2. run `coder-tui` in your project, or `coder-tui --model PROVIDER/NAME`.\n\n"
    "`coder-tui models` lists what could be used, `coder-tui doctor` what is missing."
)


DEMO_MODEL = "demo"
CONTEXT_WINDOW = 32_000
_CHARACTERS_PER_TOKEN = 4


class DemoClient:
    """Deterministic; `pace` is the pause between words, in seconds."""

    def __init__(self, pace: float = 0.012) -> None:
        self._pace = pace

    async def stream(self, request: ModelRequest) -> AsyncIterator[StreamItem]:
        scene = next_scene(request.messages)
        for word in _words(scene.thinking):
            await asyncio.sleep(self._pace)
            yield ThinkingChunk(word)
        for word in _words(scene.text):
            await asyncio.sleep(self._pace)
            yield TextChunk(word)
        for index, call in enumerate(scene.calls):
            await asyncio.sleep(self._pace)
            yield ToolCallChunk(index, f"demo_{uuid4().hex[:12]}", call.tool, json.dumps(call.arguments))
        reason = FinishReason.TOOL_CALLS if scene.calls else FinishReason.STOP
        yield StreamFinished(reason, usage=_usage(request, scene))

    async def warm(self) -> None:
        return None

    async def close(self) -> None:
        return None


def _words(text: str) -> list[str]:
    return re.findall(r"\S+\s*|\s+", text)


def _usage(request: ModelRequest, scene: Scene) -> Usage:
    """Free of charge, but the gauge on the screen should move."""
    sent = len(request.system) + sum(len(str(message)) for message in request.messages)
    written = len(scene.text) + len(scene.thinking) + sum(len(str(call)) for call in scene.calls)
    return Usage(sent // _CHARACTERS_PER_TOKEN, written // _CHARACTERS_PER_TOKEN, cost=0.0)
