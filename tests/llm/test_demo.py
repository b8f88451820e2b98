import json
from typing import Any

from coder_tui.llm.client import ModelRequest, StreamFinished, TextChunk, ToolCallChunk
from coder_tui.llm.demo import BUG, FIX, SECOND_FIX, TEST_COMMAND, Call, DemoClient, next_scene
from coder_tui.protocol.messages import AssistantMessage, Message, ToolCall, ToolMessage, UserMessage
from coder_tui.resources import sample_project

OK = {"ok": True}
REFUSED = {
    "ok": False,
    "error": {"type": "denied_by_user", "message": "the user refused this call: not so"},
}
FAILING = {"ok": False, "exit_code": 1, "error": {"type": "execution_failed", "message": "exit code 1"}}


class Play:
    """Plays the demo with an answer for each kind of call."""

    def __init__(self) -> None:
        self.messages: list[Message] = [UserMessage("u", "go")]
        self.calls: list[Call] = []

    def step(self, **answers: dict[str, Any]) -> str:
        scene = next_scene(tuple(self.messages))
        number = len(self.messages)
        calls = [
            ToolCall(f"{number}_{i}", call.tool, json.dumps(call.arguments))
            for i, call in enumerate(scene.calls)
        ]
        self.messages.append(AssistantMessage(str(number), scene.text, calls=tuple(calls)))
        for call in calls:
            content = json.dumps(answers.get(call.name, OK))
            self.messages.append(ToolMessage(f"r{call.id}", call.id, call.name, content))
        self.calls += scene.calls
        return scene.text

    def made(self, tool: str) -> list[dict[str, Any]]:
        return [call.arguments for call in self.calls if call.tool == tool]


def test_it_reads_tests_fixes_and_tests_again() -> None:
    play = Play()
    play.step()
    play.step(bash=FAILING)
    play.step()
    play.step()
    play.step()
    last = play.step()
    assert [todo["status"] for todo in play.made("todowrite")[-1]["todos"]] == ["completed"] * 4
    assert FIX.strip() in last
    assert play.made("bash") == [{"command": TEST_COMMAND, "description": "Run the project's tests"}] * 2
    assert play.made("edit") == [{"path": "cart.py", "old_string": BUG, "new_string": FIX}]
    assert "| tests | pass |" in last


def test_refused_tests_are_not_tried_again() -> None:
    play = Play()
    play.step()
    play.step(bash=REFUSED)
    assert "no command" in play.step()
    play.step()
    assert "not run, because you refused" in play.step()
    assert len(play.made("bash")) == 1


def test_a_refused_edit_is_offered_once_in_another_form_then_left() -> None:
    play = Play()
    play.step()
    play.step(bash=FAILING)
    play.step(edit=REFUSED)
    assert "not so" in play.step(edit=REFUSED)
    play.step()
    assert "is unchanged" in play.step()
    assert [edit["new_string"] for edit in play.made("edit")] == [FIX, SECOND_FIX]


def test_the_report_shows_the_line_that_was_written() -> None:
    play = Play()
    play.step()
    play.step(bash=REFUSED)
    play.step(edit=REFUSED)
    play.step()
    play.step()
    assert SECOND_FIX.strip() in play.step()


def test_a_cancelled_call_is_made_again_after_the_users_next_message() -> None:
    play = Play()
    cancelled = {"ok": False, "error": {"type": "cancelled", "message": "stopped"}}
    play.step(read=cancelled, grep=cancelled)
    play.messages.append(UserMessage("u2", "go on"))
    play.step()
    assert {"path": "cart.py"} in play.made("read")[2:]


def test_in_another_folder_it_says_so_and_stops() -> None:
    play = Play()
    play.step(read={"ok": False, "error": {"type": "file_not_found", "message": "no"}})
    assert "this folder is a different one" in play.step()
    assert play.made("bash") == []


def test_after_the_end_it_says_what_to_do_next() -> None:
    play = Play()
    for _ in range(6):
        play.step(bash=FAILING) if len(play.messages) < 8 else play.step()
    play.messages.append(UserMessage("u2", "and now?"))
    assert "That was the whole demo" in play.step()


def test_the_bug_is_really_in_the_sample() -> None:
    assert (sample_project() / "cart.py").read_text(encoding="utf-8").count(BUG) == 1


async def test_the_client_streams_words_then_calls_then_the_end() -> None:
    request = ModelRequest("demo", "", (UserMessage("u", "hi"),))
    items = [item async for item in DemoClient(pace=0).stream(request)]
    text = "".join(item.text for item in items if isinstance(item, TextChunk))
    assert text == next_scene(request.messages).text
    assert [item.name for item in items if isinstance(item, ToolCallChunk)] == [
        "todowrite",
        "read",
        "read",
        "grep",
    ]
    assert isinstance(items[-1], StreamFinished)
