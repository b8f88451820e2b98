"""What the model and the screen get of this process's own secrets: nothing."""

import json
from pathlib import Path

from coder_tui.protocol.display import TextBlock
from coder_tui.protocol.events import ToolFinished, ToolProgressed
from coder_tui.protocol.messages import ToolMessage
from coder_tui.text.redact import MASK, Redactor
from tests.fakes.scripted_model import Say
from tests.fakes.world import ALLOW, World, world

KNOWN = "known-value-4711"
SHAPED = "sk-ant-abcdefgh0123456789"
REDACT = Redactor({"SOME_API_KEY": KNOWN})


def results(made: World) -> list[dict[str, object]]:
    messages = made.model.requests[-1].messages
    return [json.loads(message.content) for message in messages if isinstance(message, ToolMessage)]


async def test_a_known_secret_stays_here_and_a_file_is_shown_as_it_is(tmp_path: Path) -> None:
    replies = [Say(calls=(("look", {"text": f"{KNOWN} {SHAPED}"}),)), Say("done")]
    async with world(tmp_path, replies, redact=REDACT) as made:
        await made.session.submit("go")
    (finished,) = [event for event in made.events if isinstance(event, ToolFinished)]
    assert results(made) == [{"ok": True, "text": f"{MASK} {SHAPED}"}]
    assert finished.display == TextBlock(f"{MASK} {SHAPED}")


async def test_live_output_holds_no_known_secret(tmp_path: Path) -> None:
    replies = [Say(calls=(("act", {"text": f"{KNOWN} twice"}),)), Say("done")]
    async with world(tmp_path, replies, answers=[ALLOW], redact=REDACT) as made:
        await made.session.submit("go")
    assert made.of(ToolProgressed) == [ToolProgressed("c1_0", f"doing {MASK} twice")]


async def test_a_resumed_session_has_the_mask_where_a_secret_was(tmp_path: Path) -> None:
    replies = [Say(f"found {SHAPED}", calls=(("look", {"text": SHAPED}),)), Say("done")]
    async with world(tmp_path, replies, redact=REDACT) as made:
        await made.session.submit(f"use {SHAPED}")
        session_id = made.session.id
    async with world(tmp_path, [Say("again")], resume=session_id, redact=REDACT) as made:
        await made.session.submit("go on")
        reported = repr(made.model.requests[-1].messages)
    assert (SHAPED in reported, f"use {MASK}" in reported, f"found {MASK}" in reported) == (False, True, True)


async def test_the_mask_is_not_written_in_the_place_of_a_secret(tmp_path: Path) -> None:
    replies = [
        Say(calls=(("look", {"text": f"KEY={KNOWN}"}),)),
        Say(calls=(("act", {"text": f"KEY={MASK}"}),)),
        Say("done"),
    ]
    async with world(tmp_path, replies, answers=[ALLOW], redact=REDACT) as made:
        await made.session.submit("go")
    assert made.act.done == []
    assert results(made)[-1]["error"] == {
        "type": "invalid_tool_params",
        "message": f"invalid args: {MASK} stands for a secret that you were not shown; it would be lost",
        "hint": "Change only what is around it, for instance by `edit` with the lines before or after it.",
    }


async def test_the_word_itself_can_be_written_where_nothing_was_hidden(tmp_path: Path) -> None:
    replies = [Say(calls=(("act", {"text": f"KEY={MASK}"}),)), Say("done")]
    async with world(tmp_path, replies, answers=[ALLOW], redact=REDACT) as made:
        await made.session.submit("go")
    assert made.act.done == [f"KEY={MASK}"]
