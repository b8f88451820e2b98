"""The system prompt: its parts and their order, and that it stays the same byte for byte."""

from dataclasses import replace
from datetime import date
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from coder_tui.agent.profiles.profiles import built_in, prompt_text
from coder_tui.agent.turn.model_request import Environment, ModelChoice, PartName, SystemPrompt
from coder_tui.bootstrap.session_factory import SessionFactory
from coder_tui.llm.chat_messages import call_arguments
from coder_tui.llm.client import ModelRequest
from coder_tui.llm.traits import ModelFamily, traits_of
from coder_tui.protocol.access import Mode
from coder_tui.storage.store import Store
from tests.fakes.real_tools import setup_in
from tests.fakes.repository import GitRepository
from tests.fakes.scripted_model import Say, ScriptedModel

PLACE = Environment(Path("/srv/project"), date(2026, 1, 2), has_git=True)
BRIEFING = SystemPrompt(
    PLACE, "<instructions>…</instructions>", lambda: "<skills>…</skills>", lambda: "# Plan"
)
PROFILES = built_in()


def test_what_changes_least_comes_first() -> None:
    parts = BRIEFING.parts(PROFILES.get("build"), ModelFamily.CLAUDE)
    assert [part.name for part in parts] == [
        *(PartName.SYSTEM, PartName.SYSTEM, PartName.SYSTEM),
        *(PartName.INSTRUCTIONS, PartName.SKILLS, PartName.SYSTEM, PartName.PLAN),
    ]
    text = BRIEFING.text(PROFILES.get("build"), ModelFamily.CLAUDE)
    assert text.startswith(prompt_text("build"))
    assert "Today: 2026-01-02" in text
    assert text.endswith("# Plan\n</plan>")


def test_plan_mode_is_reported_nothing_of_an_earlier_plan() -> None:
    text = BRIEFING.text(PROFILES.get("plan"), ModelFamily.CLAUDE)
    assert text.startswith(prompt_text("plan"))
    assert "<plan>" not in text


@pytest.mark.parametrize("name", ["build", "plan", "general", "explore", "verify"])
@pytest.mark.parametrize("family", list(ModelFamily))
def test_every_profile_and_family_has_its_words(name: str, family: ModelFamily) -> None:
    profile = PROFILES.get(name)
    text = BRIEFING.text(profile, family)
    can_edit = name in ("build", "general")
    assert (prompt_text(f"family_{family}") in text) is can_edit
    assert prompt_text("rules") in text
    assert ("task_finish" in profile.prompt) is (not profile.mode.leads)


@pytest.mark.parametrize(
    ("model", "family"),
    [
        ("anthropic/claude-opus-4", ModelFamily.CLAUDE),
        ("openai/gpt-5", ModelFamily.GPT),
        ("openai/gpt-4o", ModelFamily.OTHER),
        ("groq/gpt-oss-120b", ModelFamily.OTHER),
        ("gemini/gemini-3-pro", ModelFamily.GEMINI),
        ("ollama/qwen3", ModelFamily.OTHER),
    ],
)
def test_a_family_is_reported_of_the_edit_tools_that_it_gets(model: str, family: ModelFamily) -> None:
    assert traits_of(model).family is family
    assert ("apply_patch" in prompt_text(f"family_{family}")) is (family is ModelFamily.GPT)


async def requests_of(tmp_path: Path, *texts: str, mode: Mode = Mode.ASK) -> list[ModelRequest]:
    """What a session with real tools in a repository sends, message by message."""
    repository = GitRepository(tmp_path / "project", tmp_path / "home")
    repository.commit(
        **{"AGENTS.md": "Be kind.\n", "a.txt": "one\n", "sub/AGENTS.md": "Below.\n", "sub/b.txt": "b\n"}
    )
    setup = setup_in(tmp_path, repository.root, mode, HOME=str(tmp_path / "home"))
    setup = replace(setup, reads_project=True)
    script = [
        Say(calls=(("read", {"path": "sub/b.txt"}), ("grep", {"pattern": "one"}))),
        Say("one"),
        Say(calls=(("read", {"path": "sub/b.txt"}),)),
        Say("two"),
    ]
    model = ScriptedModel(script)
    core = SessionFactory(
        setup, await Store.open(setup.directories.database), model, ModelChoice("anthropic/claude-x")
    )
    session = await core.new_session()
    for text in texts:
        await session.submit(text)
    await session.close()
    await core.close()
    return model.requests


async def test_the_prefix_is_the_same_bytes_from_turn_to_turn(tmp_path: Path) -> None:
    sent = [call_arguments(request) for request in await requests_of(tmp_path, "first", "second")]
    assert len(sent) == 4
    for earlier, later in pairwise(sent):
        before, after = unmarked(earlier["messages"]), unmarked(later["messages"])
        assert earlier["tools"] == later["tools"]
        assert after[: len(before)] == before
    messages: Any = sent[0]["messages"]
    assert messages[0]["content"][0]["cache_control"] == {"type": "ephemeral"}


def unmarked(messages: object) -> list[str]:
    """Where the cache's marks stand moves on; they are no part of what is cached."""
    assert isinstance(messages, list)
    return [repr(_without_marks(message)) for message in messages]


def _without_marks(node: object) -> object:
    match node:
        case dict():
            kept = {key: _without_marks(value) for key, value in node.items() if key != "cache_control"}
            is_text = set(kept) == {"type", "text"}
            return kept["text"] if is_text else kept
        case [one]:
            return _without_marks(one)
        case list():
            return [_without_marks(item) for item in node]
        case _:
            return node


async def test_git_is_reported_with_the_first_message_and_folders_with_the_first_touch(
    tmp_path: Path,
) -> None:
    requests = await requests_of(tmp_path, "first", "second")
    users = [message for message in requests[-1].messages if message.role == "user"]
    assert ["git state" in str(message.attachments) for message in users] == [True, False]
    assert "## main" in users[0].attachments[0].text
    results = [message.content for message in requests[-1].messages if message.role == "tool"]
    assert ["Below." in content for content in results] == [True, False, False]
    assert "git state" not in requests[-1].system
