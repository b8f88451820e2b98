"""The built-in demo model: a script behind the same stream as any other model.

What it says and does next follows from what has happened so far in the sample project.
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
FIX = "    if pieces >= 10:\n"
SECOND_FIX = "    if not pieces < 10:\n"
STEPS = ("Read the project", "Show the bug with the tests", "Fix the discount", "Run the tests again")


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
    """A finished call and its result."""

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
    def user_comment(self) -> str:
        """What the user wrote when refusing."""
        message = str(self.result.get("error", {}).get("message", ""))
        return message.partition("refused this call: ")[2]


def next_scene(messages: tuple[Message, ...]) -> Scene:
    """Return the next scene; the results show which scenes have been played."""
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
        return _fix(tests[-1], edits)
    is_checked = tests[-1].was_refused or len(tests) > 1
    if edits[-1].is_ok and not is_checked:
        return _last_tests()
    if not _is_wound_up(done):
        return _winding_up(edits[-1], tests[-1])
    return _report(edits[-1], tests[-1]) if edits[-1].is_ok else _not_fixed(edits[-1])


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
    """Return whether the script had ended before the user's newest message."""
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
        "Hello! I am the **built-in demo model**: no API key, no network, nothing leaves this machine. "
        "This is a scratch copy of a small project with a real bug in it. I will find and fix it, "
        "and you will see every step before it happens.\n\nFirst I read the project.",
        "The user wants to see how I work. I should read the project before I change anything.",
        (
            _todos(0),
            Call("read", {"path": "README.md"}),
            Call("read", {"path": FILE}),
            Call("grep", {"pattern": "discount"}),
        ),
    )


def _first_tests() -> Scene:
    return Scene(
        "The README promises the discount for *ten or more items*, but `cart.py` compares with `> 10`. "
        "The tests should show it. A command can do anything, so **you are asked first**. "
        "The dialog says what the command does and how it is confined: "
        "`Ctrl+Y` allows it once, `n` refuses, `Esc` stops me.",
        "README and code disagree at exactly ten items. I should see the test fail instead of assuming it.",
        (
            _todos(1),
            Call("bash", {"command": TEST_COMMAND, "description": "Run the project's tests"}),
        ),
    )


def _fix(tests: Done, edits: list[Done]) -> Scene:
    new = SECOND_FIX if edits else FIX
    calls = (_todos(2), Call("edit", {"path": FILE, "old_string": BUG, "new_string": new}))
    return Scene(_before_fix(tests, edits), "One comparison is wrong; nothing else must change.", calls)


def _before_fix(tests: Done, edits: list[Done]) -> str:
    if edits:
        said = f' You said: "{edits[0].user_comment}".' if edits[0].user_comment else ""
        return (
            f"You refused that edit, so nothing was written.{said} "
            "Here is another way to write it. If you refuse this one too, I will leave the file alone."
        )
    asks = "The fix is one character. You are asked about the edit as well, with its diff."
    if tests.was_refused:
        return f"All right, no command. The code itself shows the bug. {asks}"
    return f"There it is: with ten items the discount is missing. {asks}"


def _last_tests() -> Scene:
    command = {"command": TEST_COMMAND, "description": "Run the project's tests"}
    return Scene("Fixed. Now I run the same tests again.", calls=(_todos(3), Call("bash", command)))


def _is_wound_up(done: list[Done]) -> bool:
    """Return whether nothing is in progress in the last todo list."""
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
    return Scene("I close the todo list.", calls=(Call("todowrite", {"todos": items}),))


def _report(edit: Done, tests: Done) -> Scene:
    checked = (
        "not run, because you refused" if tests.was_refused else "pass" if tests.is_ok else "**still fail**"
    )
    rows = (
        "| step | result |",
        "|---|---|",
        "| cause | `>`, but the README says *ten or more* |",
        f"| change | one comparison in `{FILE}`, line 13 |",
        f"| tests | {checked} |",
    )
    line = str(edit.call.arguments["new_string"]).strip()
    code = f"```python\n{line}\n    return subtotal(items) // 10\n```"
    return Scene("\n\n".join((_LAST_WORDS, "\n".join(rows), code, _NEXT)))


def _not_fixed(edit: Done) -> Scene:
    said = f' ("{edit.user_comment}")' if edit.user_comment else ""
    return Scene(
        f"{_LAST_WORDS}\n\nYou refused the change{said}, so `{FILE}` is unchanged. "
        f"The bug is still there: ten items get no discount.\n\n{_NEXT}"
    )


def _elsewhere() -> Scene:
    return Scene(
        f"{_LAST_WORDS}\n\nI only know the sample project, and this folder is a different one. "
        f"Run `coder-tui demo` to open a scratch copy of it.\n\n{_NEXT}"
    )


def _afterwards() -> Scene:
    return Scene(f"That was the whole demo; I only know this one script.\n\n{_NEXT}")


_LAST_WORDS = "**That is all.**"
_NEXT = (
    "To work on your own code, use a real model:\n\n"
    "1. Set an API key, for example `export ANTHROPIC_API_KEY=…`, or start a local server such as Ollama.\n"
    "2. Run `coder-tui` in your project, or `coder-tui --model PROVIDER/NAME`.\n\n"
    "`coder-tui models` lists the models you can use, `coder-tui doctor` shows what is missing."
)


DEMO_MODEL = "demo"
CONTEXT_WINDOW = 32_000
_CHARACTERS_PER_TOKEN = 4


class DemoClient:
    """A deterministic model; `pace` is the pause between words, in seconds."""

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
    """Return usage without cost; the gauge on the screen should still move."""
    sent = len(request.system) + sum(len(str(message)) for message in request.messages)
    written = len(scene.text) + len(scene.thinking) + sum(len(str(call)) for call in scene.calls)
    return Usage(sent // _CHARACTERS_PER_TOKEN, written // _CHARACTERS_PER_TOKEN, cost=0.0)
