"""Brings along what a person's own or a project's command says, when a message calls it by `/name`.

What a command from a file changes for the turn that it was called in, and gives back with it.
"""

import asyncio
import re
from collections.abc import Callable
from dataclasses import dataclass, replace

from coder_tui.agent.attachments.command_template import Given, Insert, TemplateError, Text, filled
from coder_tui.agent.attachments.files import MOST_TEXT, Attach
from coder_tui.agent.calls.permissions import PermissionDesk
from coder_tui.agent.event_bus import EventBus
from coder_tui.agent.profiles.profiles import GENERAL, Profile, ProfileMode
from coder_tui.agent.profiles.switch import ProfileSwitch
from coder_tui.agent.profiles.tools import MeantTools
from coder_tui.agent.turn.model_request import ModelChoice, RequestBuilder
from coder_tui.agent.undo.file_changes import SessionChanges
from coder_tui.agent.user_shell import ShownCommands
from coder_tui.llm.providers import is_same_provider
from coder_tui.protocol.access import Mode
from coder_tui.protocol.errors import MessageRefusedError
from coder_tui.protocol.events import Event, ModelChanged, TurnFailed, TurnFinished
from coder_tui.protocol.messages import Attachment
from coder_tui.protocol.outcomes import NoticeLevel
from coder_tui.skills.command_files import CommandFile, CommandShelf
from coder_tui.text.mentions import find_mentions
from coder_tui.text.redact import Redactor
from coder_tui.text.safe_text import safe_line


class CommandLoan:
    """Serves one session; listens to its bus for the end of the turn."""

    def __init__(
        self,
        desk: PermissionDesk,
        request: RequestBuilder,
        bus: EventBus,
        window: Callable[[], int | None],
    ) -> None:
        """`window` tells how much the session's own model takes in."""
        self._desk = desk
        self._request = request
        self._bus = bus
        self._window = window
        self._before: ModelChoice | None = None
        self._lent: ModelChoice | None = None
        bus.subscribe(self._hear)

    def narrow(self, command: CommandFile) -> tuple[str, ...]:
        """Only the tools that the command names may be called, under the rules that hold anyway."""
        if not command.allowed_tools:
            return ()
        tools = MeantTools(command.label)
        given = command.allowed_tools
        tools.only(given[0] if len(given) == 1 else given)
        limits = Profile(
            f"of /{command.name}",
            command.description,
            ProfileMode.ALL,
            "",
            tuple(tools.switches),
            tuple(tools.rules),
            source=command.label,
        )
        self._desk.narrow(limits)
        return tuple(f"{command.label}: {problem}" for _, problem in tools.problems)

    def lend_model(self, command: CommandFile) -> str:
        """The model that the command names answers; why not, where it does not."""
        name, own = command.model, self._request.choice
        if "/" not in name or name == own.name:
            # `sonnet` and its like mean another program's choice of the day.
            return ""
        is_same = is_same_provider(name, own.name)
        if not is_same and not command.is_own:
            return (
                f"/{command.name} names {name}, a model of another provider: a project does not choose that"
            )
        self._before = self._before or own
        self._lent = replace(own, name=name, api_base=own.api_base if is_same else "")
        self._use(self._lent, None)
        return ""

    def _use(self, choice: ModelChoice, window: int | None) -> None:
        self._request.use(choice)
        self._bus.publish(ModelChanged(choice.name, window))

    def _hear(self, event: Event) -> None:
        if not isinstance(event, TurnFinished | TurnFailed):
            return
        self._desk.narrow(None)
        before, self._before = self._before, None
        # A person who chose another one meanwhile keeps it.
        if before is not None and self._request.choice == self._lent:
            self._use(before, self._window())


INSERT = "insert"
"""Shown in place of a tool's name."""
MOST_CHARACTERS = 50_000
"""Of one insert's output."""
LABEL = "command /"
_FILE = re.compile(r"(?<!:/)/(?!/)|\w\.\w")
"""What a name of a file has: a folder before it, or an ending. An address of a server's resource is none."""
_CALL = re.compile(r"\s*/([A-Za-z][\w-]*(?::[\w-]+)*)(?:\s+(.*))?", re.DOTALL)


@dataclass(frozen=True, slots=True)
class CommandCalls:
    """`files` attaches what the prompt names by `@`; `notify` reaches the person."""

    shelf: CommandShelf
    commands: ShownCommands
    changes: SessionChanges
    profiles: ProfileSwitch
    loan: CommandLoan
    files: Attach
    redact: Redactor
    notify: Callable[[NoticeLevel, str], None]

    async def of(self, text: str) -> tuple[Attachment, ...]:
        """The prompt of the command that the message calls, filled, and the files that it names."""
        call = _CALL.fullmatch(text.rstrip())
        if call is None:
            return ()
        await asyncio.to_thread(self.shelf.refresh)
        command = self.shelf.find(call[1])
        if command is None:
            return ()
        try:
            parts = filled(command.body, command.dialect, Given((call[2] or "").strip()))
        except TemplateError as error:
            raise MessageRefusedError(f"/{command.name} was not sent: {error}.") from error
        told = "".join([await self._told(command, part) for part in parts])
        spoken = "".join(part.text for part in parts if isinstance(part, Text))
        attached = await self.files(spoken)
        self._arrange(command)
        if missing := _missing(spoken, attached):
            self.notify(
                NoticeLevel.WARNING, f"/{command.name} names {', '.join(missing)}: there is no such file."
            )
        framed = self.redact.known(_framed(command, told, self._child(command)))
        return (Attachment(f"{LABEL}{command.name}", framed), *attached)

    async def _told(self, command: CommandFile, part: Text | Insert) -> str:
        if isinstance(part, Text):
            return part.text
        # Only a command that names git may write git's own folder.
        async with self.changes.watch.over(INSERT, touches_git="git" in part.command):
            shown = await self.commands.run(part.command, label=INSERT, answer="", is_asked=True)
        if shown is None:
            reason = f"its command `{part.command}` did not run"
            raise MessageRefusedError(f"/{command.name} was not sent: {reason}.")
        output = shown.output.strip()
        if len(output) > MOST_CHARACTERS:
            output = f"{output[:MOST_CHARACTERS]}\n(cut here)"
        return f"{output}\n(exit code {shown.exit_code})" if shown.exit_code else output

    def _arrange(self, command: CommandFile) -> None:
        for problem in (*self.loan.narrow(command), self.loan.lend_model(command), self._lead(command)):
            if problem:
                self.notify(NoticeLevel.WARNING, problem)

    def _lead(self, command: CommandFile) -> str:
        """Let the agent work that the command names; plan mode is left by the person alone."""
        profile = self.profiles.known.find(command.agent)
        if profile is None:
            return f"/{command.name} wants the agent {command.agent}, which there is not" * bool(
                command.agent
            )
        if self._child(command):
            return ""
        if self.profiles.current.name != profile.name and self.commands.desk.mode is Mode.PLAN:
            return f"/{command.name} wants the agent {profile.name}; plan mode stays"
        self.profiles.use(profile.name)
        return ""

    def _child(self, command: CommandFile) -> str:
        """The sub-agent that is to do it, where it is one's work."""
        profile = self.profiles.known.find(command.agent)
        if command.is_subtask:
            return profile.name if profile else GENERAL
        return profile.name if profile and not profile.mode.leads else ""


def _missing(text: str, attached: tuple[Attachment, ...]) -> tuple[str, ...]:
    """Names of files that led nowhere. A bare word behind an `@` may be a person or a decorator."""
    found = {each.label for each in attached}
    lost = (
        min((reading.label for reading in readings), key=len)
        for readings in find_mentions(text[:MOST_TEXT])
        if found.isdisjoint(reading.label for reading in readings)
    )
    return tuple(dict.fromkeys(f"@{safe_line(name)}" for name in lost if _FILE.search(name)))


def _framed(command: CommandFile, told: str, child: str) -> str:
    what = "Do what it says."
    if child:
        what = f"Have the sub-agent {child} do what it says, by the tool task, and tell what came of it."
    lines = (
        f"The person calls the command /{command.name}. {what}",
        f'<command name="{command.name}">',
        told,
        "</command>",
    )
    return "\n".join(lines)
