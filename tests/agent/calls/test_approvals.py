"""What the user's answers do to a call: edited before it runs, allowed for longer than a session."""

import json
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

from coder_tui.protocol.events import Notice, RequestOpened, ToolFinished
from coder_tui.protocol.messages import ToolMessage
from coder_tui.protocol.outcomes import NoticeLevel, Outcome
from coder_tui.protocol.requests import ApprovalReply, ApprovalRequest, Decision, Editable, GrantScope
from tests.fakes.scripted_model import Say
from tests.fakes.world import World, world

SETTINGS = "config/config.toml"
ACT = Say(calls=(("act", {"text": "x"}),))


def edited(text: str) -> ApprovalReply:
    return ApprovalReply(Decision.MODIFY, edited=text)


def result(made: World) -> dict[str, Any]:
    messages = [message for message in made.model.requests[-1].messages if isinstance(message, ToolMessage)]
    fields: dict[str, Any] = json.loads(messages[-1].content)
    return fields


async def test_what_the_user_wrote_runs_in_place_of_the_call(tmp_path: Path) -> None:
    async with world(tmp_path, [ACT, Say("ok")], answers=[edited("better")]) as made:
        await made.session.submit("go")
        decisions = await made.store.decisions.list(made.session.id)

    assert made.act.done == ["better"]
    assert result(made)["edited_by_user"]["text"] == "better"
    assert [decision.answer for decision in decisions] == ["modify", "modify"]
    (finished,) = made.of(ToolFinished)
    assert isinstance(finished, ToolFinished)
    assert finished.summary == "acted better"


async def test_an_edited_call_goes_through_policy_again(tmp_path: Path) -> None:
    async with world(tmp_path, [ACT, Say("ok")], answers=[edited("forbidden")]) as made:
        await made.session.submit("go")

    assert made.act.done == []
    assert result(made)["error"]["type"] == "permission_denied"


async def test_a_request_says_what_can_be_edited(tmp_path: Path) -> None:
    async with world(tmp_path, [ACT, Say("ok")], answers=[edited("better")]) as made:
        await made.session.submit("go")

    (request,) = made.asked_before
    assert request.editable == Editable("text", "x", ".txt")


async def test_a_scope_that_was_not_offered_is_not_taken(tmp_path: Path) -> None:
    async with world(tmp_path, [ACT, ACT, Say("ok")]) as made:

        def answer(event: object) -> None:
            if isinstance(event, RequestOpened) and isinstance(event.request, ApprovalRequest):
                wider = replace(event.request.grants[0], patterns=("*",), scope=GrantScope.USER)
                made.session.answer(event.request.id, ApprovalReply(Decision.ALLOW_ALWAYS, grant=wider))

        made.session.subscribe(answer)
        await made.session.submit("go")

    assert len(made.of(RequestOpened)) == 2
    assert not (tmp_path / SETTINGS).exists()


async def kept_for_good(tmp_path: Path, *, can_be_saved: bool = True) -> World:
    """Two equal calls; the question is answered with the first scope that outlives the session."""
    touch = Say(calls=(("bash", {"command": "touch a"}),))
    async with world(tmp_path, [touch, touch, Say("ok")]) as made:
        if not can_be_saved:
            (tmp_path / SETTINGS).mkdir(parents=True)

        def answer(event: object) -> None:
            if isinstance(event, RequestOpened) and isinstance(event.request, ApprovalRequest):
                grant = next(one for one in event.request.grants if one.scope is GrantScope.USER)
                made.session.answer(event.request.id, ApprovalReply(Decision.ALLOW_ALWAYS, grant=grant))

        made.session.subscribe(answer)
        await made.session.submit("go")
    return made


def outcomes(made: World) -> list[Outcome]:
    return [event.outcome for event in made.events if isinstance(event, ToolFinished)]


def notices(made: World) -> list[NoticeLevel]:
    return [event.level for event in made.events if isinstance(event, Notice)]


async def test_a_grant_for_good_is_kept_and_holds_at_once(tmp_path: Path) -> None:
    made = await kept_for_good(tmp_path)

    assert outcomes(made) == [Outcome.OK, Outcome.OK]
    assert len(made.of(RequestOpened)) == 1
    assert tomllib.loads((tmp_path / SETTINGS).read_text()) == {"permission": {"bash": {"touch*": "allow"}}}
    assert notices(made) == [NoticeLevel.INFO]


async def test_a_grant_that_cannot_be_kept_holds_for_the_session_and_says_so(tmp_path: Path) -> None:
    made = await kept_for_good(tmp_path, can_be_saved=False)

    assert outcomes(made) == [Outcome.OK, Outcome.OK]
    assert len(made.of(RequestOpened)) == 1
    assert notices(made) == [NoticeLevel.WARNING]
