"""A message that calls a command from a file: what goes along, what is asked, and what ends with the turn."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from coder_tui.agent.attachments.custom_command import CommandCalls, TurnOverrides
from coder_tui.agent.user_shell import BASH, UserCommandRunner
from coder_tui.protocol.access import Mode
from coder_tui.protocol.errors import MessageRefusedError
from coder_tui.protocol.events import Notice, ToolFinished, TurnFinished
from coder_tui.protocol.messages import Attachment, ToolCall
from coder_tui.protocol.outcomes import Outcome, TurnOutcome
from coder_tui.protocol.requests import ApprovalReply, Decision
from coder_tui.skills.command_files import CommandFile, CommandFiles, FoundCommands, read_command
from coder_tui.text.redact import BY_SHAPE
from tests.fakes.scripted_model import Say
from tests.fakes.world import ALLOW, DENY, World, world


@dataclass
class Called:
    world: World
    calls: CommandCalls

    async def send(self, text: str) -> str:
        return "\n".join(each.text for each in await self.calls.attach(text))

    def notices(self) -> list[str]:
        return [event.text for event in self.world.events if isinstance(event, Notice)]

    def end_turn(self) -> None:
        self.world.session.context.bus.publish(TurnFinished(1, TurnOutcome.DONE, "", 0))


def command(text: str, *, is_own: bool = True, name: str = "fix.md") -> CommandFile:
    return read_command(name, text.encode(), name, is_own=is_own)


async def _no_files(text: str) -> tuple[Attachment, ...]:
    return ()


@asynccontextmanager
async def calling(
    folder: Path, *commands: CommandFile, answers: tuple[ApprovalReply, ...] = ()
) -> AsyncIterator[Called]:
    async with world(folder, [Say("ok")], answers=answers) as made:
        session = made.session
        bus, permissions, registry = session.context.bus, session.permissions, session.report.registry
        known = CommandFiles(None, frozenset)
        known.found = FoundCommands(commands)
        shown = UserCommandRunner(session.id, folder, bus, permissions, lambda: registry.get(BASH), BY_SHAPE)

        overrides = TurnOverrides(permissions, session.report.context.request, bus, lambda: 1000)
        yield Called(
            made,
            CommandCalls(
                *(known, shown, session.changes, session.profiles, overrides, _no_files, BY_SHAPE, bus.notify)
            ),
        )


async def test_the_prompt_goes_along_filled_and_an_insert_is_asked_about(tmp_path: Path) -> None:
    async with calling(tmp_path, command("Fix $1: !`echo now $1; exit 3`."), answers=(ALLOW,)) as called:
        reported = await called.send("/fix 'a b'")
        assert reported == (
            'The user calls the command /fix. Do what it says.\n<command name="fix">\n'
            "Fix a b: now a b\n(exit code 3).\n</command>"
        )
        assert [request.summary for request in called.world.asked_before] == ["echo now 'a b'; exit 3"]
        assert await called.calls.attach("/other x") == ()
        assert await called.calls.attach("fix /fix") == ()


@pytest.mark.parametrize("text", ["Look: !`touch ran`", "Look: !`cat <(echo $1; touch ran)`"])
async def test_a_refused_insert_keeps_the_message(tmp_path: Path, text: str) -> None:
    async with calling(tmp_path, command(text), answers=(DENY,)) as called:
        with pytest.raises(MessageRefusedError, match="/fix was not sent"):
            await called.send("/fix x")
        assert not (tmp_path / "ran").exists()
        ends = [event.outcome for event in called.world.events if isinstance(event, ToolFinished)]
        assert ends == [Outcome.DENIED]


async def test_a_file_that_is_not_there_is_reported(tmp_path: Path) -> None:
    body = "See @docs/x.md, @notes.txt:3-4. Ask @ada, me@example.org or @srv:demo://x for @dataclass; @$1"
    async with calling(tmp_path, command(body)) as called:
        await called.send("/fix lost.py")
        lost = "@docs/x.md, @notes.txt:3-4, @lost.py"
        assert called.notices() == [f"/fix names {lost}: there is no such file."]


async def test_an_insert_can_be_rewritten_before_it_runs(tmp_path: Path) -> None:
    edited = ApprovalReply(Decision.MODIFY, edited="echo mine")
    async with calling(tmp_path, command("It is !`echo theirs`"), answers=(edited,)) as called:
        assert "It is mine\n" in await called.send("/fix")


async def test_allowed_tools_narrow_until_the_turn_ends(tmp_path: Path) -> None:
    narrow = command("---\nallowed-tools: Read, Bash(echo:*), nonsense\n---\nLook")

    async with calling(tmp_path, narrow, answers=(ALLOW, ALLOW)) as called:
        runner = called.world.session.runner.services.runner

        async def outcome(tool: str, arguments: str) -> bool:
            message = await runner.execute(
                ToolCall(f"{tool}{len(called.world.events)}", tool, arguments), "m"
            )
            return '"ok": true' in message.content

        await called.send("/fix")
        assert called.notices() == ["fix.md: there is no tool nonsense"]
        assert not await outcome("look", '{"text": "x"}')
        assert not await outcome("bash", '{"command": "ls"}')
        assert await outcome("bash", '{"command": "echo x"}')
        called.end_turn()
        assert await outcome("look", '{"text": "x"}')


async def test_a_model_answers_for_the_turn_and_a_project_cannot_leave_the_provider(tmp_path: Path) -> None:
    own = command("---\nmodel: openai/small\n---\nx")
    other = command("---\nmodel: evil/one\n---\nx", is_own=False, name="other.md")
    alias = command("---\nmodel: sonnet\n---\nx", name="alias.md")
    async with calling(tmp_path, own, other, alias) as called:
        request = called.world.session.report.context.request
        for name, model in (("alias", "scripted"), ("other", "scripted"), ("fix", "openai/small")):
            await called.send(f"/{name}")
            assert request.model == model
        called.end_turn()
        assert request.model == "scripted"
        assert called.notices() == [
            "/other names evil/one, a model of another provider: a project does not choose that"
        ]


async def test_an_agent_leads_or_serves_and_plan_mode_stays(tmp_path: Path) -> None:
    lead = command("---\nagent: plan\n---\nx", name="lead.md")
    build = command("---\nagent: build\n---\nx", name="build.md")
    child = command("---\nagent: explore\n---\nx", name="child.md")
    task = command("---\nsubtask: true\nagent: nobody\n---\nx", name="task.md")
    async with calling(tmp_path, lead, build, child, task) as called:
        session = called.world.session
        assert "Have the sub-agent explore do what it says" in await called.send("/child")
        assert "Have the sub-agent general do what it says" in await called.send("/task")
        await called.send("/lead")
        assert (session.mode, session.profiles.current.name) == (Mode.PLAN, "plan")
        await called.send("/build")
        assert (session.mode, session.profiles.current.name) == (Mode.PLAN, "plan")
        assert called.notices() == [
            "/task wants the agent nobody, which does not exist",
            "/build wants the agent build; plan mode stays",
        ]
