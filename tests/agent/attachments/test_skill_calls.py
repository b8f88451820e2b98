"""A skill that the user calls comes along without a question, unless it is denied."""

import json
from pathlib import Path

from coder_tui.agent.attachments.mentions import LOADED_BEFORE, SkillCalls, loaded_skills
from coder_tui.protocol.messages import AssistantMessage, Attachment, ToolMessage, UserMessage
from coder_tui.protocol.outcomes import NoticeLevel
from coder_tui.skills.discover import Root
from coder_tui.skills.session_skills import SessionSkills
from coder_tui.skills.skill import SkillSource
from coder_tui.text.redact import Redactor
from tests.fakes.skill_files import put_skill, session_skills_of


class Notes(list[tuple[NoticeLevel, str]]):
    def add(self, level: NoticeLevel, text: str) -> None:
        self.append((level, text))


def calls(known: SessionSkills) -> tuple[SkillCalls, Notes]:
    notes = Notes()
    return SkillCalls(known, Redactor({"MY_TOKEN": "hunter2-secret"}), notes.add), notes


def skills_in(folder: Path, *denied: str) -> SessionSkills:
    put_skill(folder, "debug", body="Find the cause.")
    put_skill(folder, "commit", body="One idea each.")
    return session_skills_of(Root(folder, SkillSource.USER), denied=denied)


async def test_a_slash_brings_the_text_along_once(tmp_path: Path) -> None:
    attached, notes = calls(skills_in(tmp_path))

    first = await attached.attach("/debug the parser")
    again = await attached.attach("/debug the lexer")

    assert [(each.label, each.text.splitlines()[1]) for each in first] == [("skill debug", "Find the cause.")]
    assert again == (Attachment("skill debug", LOADED_BEFORE),)
    assert notes == []


async def test_named_ones_come_along_too_each_once(tmp_path: Path) -> None:
    attached, _ = calls(skills_in(tmp_path))

    first = await attached.attach("/debug this with the debug skill, then use the commit skill")

    assert [each.label for each in first] == ["skill debug", "skill commit"]
    assert await attached.attach("and the commit skill again") == ()
    assert await attached.attach("hello") == ()


async def test_a_denied_skill_stays_out_and_the_user_learns_why(tmp_path: Path) -> None:
    attached, notes = calls(skills_in(tmp_path, "debug"))

    found = await attached.attach("/debug")

    reason = "denied by skill 'x' = deny, from config.toml:2"
    assert found == (Attachment("skill debug", f"(not attached: {reason})"),)
    assert notes == [(NoticeLevel.WARNING, f"The skill debug is not loaded: {reason}")]


async def test_a_skill_that_broke_later_is_reported(tmp_path: Path) -> None:
    attached, notes = calls(skills_in(tmp_path))
    (tmp_path / "debug/SKILL.md").write_text("x\n")

    await attached.attach("/debug")

    assert [text.startswith("The skill debug is not loaded: ") for _, text in notes] == [True]


async def test_a_conversation_remembers_what_was_loaded(tmp_path: Path) -> None:
    attached, _ = calls(skills_in(tmp_path))
    result = {"ok": True, "name": "commit", "content": '<skill name="commit">'}
    messages = (
        UserMessage("1", "/debug", await attached.attach("/debug")),
        AssistantMessage("2", "", model="x"),
        ToolMessage("3", "c1", "skill", json.dumps(result)),
        ToolMessage("4", "c2", "skill", json.dumps({**result, "name": "again", "content": "already loaded"})),
        ToolMessage("5", "c3", "skill", json.dumps({"ok": False, "error": {}})),
        ToolMessage("6", "c4", "skill", "cut {"),
        ToolMessage("7", "c5", "read", json.dumps({**result, "name": "other"})),
        UserMessage("8", "x", (Attachment("skill no", "(not attached: denied)"),)),
    )
    assert loaded_skills(messages) == ("debug", "commit")


async def test_a_secret_of_this_process_does_not_go_along(tmp_path: Path) -> None:
    put_skill(tmp_path, "leaky", body="Log in with hunter2-secret.")
    attached, _ = calls(session_skills_of(Root(tmp_path, SkillSource.USER)))

    (found,) = await attached.attach("/leaky")

    assert "Log in with [redacted]." in found.text
