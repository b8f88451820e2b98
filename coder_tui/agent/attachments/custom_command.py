"""Attach the prompt of a custom command that a message calls by `/name`, and apply its model and tools.

Its text is filled with the arguments, its shell inserts so that arguments stay arguments.
"""

import asyncio
import re
import shlex
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from coder_tui.agent.attachments.files import MOST_TEXT
from coder_tui.agent.calls.permissions import Permissions
from coder_tui.agent.event_bus import EventBus
from coder_tui.agent.pending import Attach
from coder_tui.agent.profiles.profiles import GENERAL, Profile, ProfileMode
from coder_tui.agent.profiles.switch import ProfileSwitch
from coder_tui.agent.profiles.tools import ToolSwitches
from coder_tui.agent.turn.model_request import ModelChoice, RequestBuilder
from coder_tui.agent.undo.file_changes import SessionChanges
from coder_tui.agent.user_shell import UserCommandRunner
from coder_tui.llm.providers import is_same_provider
from coder_tui.protocol.access import Mode
from coder_tui.protocol.errors import MessageRefusedError
from coder_tui.protocol.events import Event, ModelChanged, TurnFailed, TurnFinished
from coder_tui.protocol.messages import Attachment
from coder_tui.protocol.outcomes import NoticeLevel
from coder_tui.skills.command_files import CommandFile, CommandFiles, Dialect
from coder_tui.text.mentions import find_mentions, mention
from coder_tui.text.redact import Redactor
from coder_tui.text.safe_text import safe_line

_INSERT = re.compile(r"(?<![\w!`\\])!`([^`\n]+)`")
_PLACE = {
    Dialect.MARKDOWN: re.compile(r"\$(ARGUMENTS|[1-9])(?![0-9A-Za-z_])"),
    Dialect.TOML: re.compile(r"\{\{\s*(args)\s*\}\}"),
}
_FILE_INSERT = re.compile(r"@\{([^{}\n]+)\}")
_PLAIN = re.compile(r"[\w@%+=:,./-]+")
# Behind one of these a quote is no longer what it seems.
_UNSURE = re.compile(r"\$\(|\$\{|\$'|`|<<|(?<!\S)#")
_IN_DOUBLE = re.compile(r'([\\"$`])')


class TemplateError(Exception):
    """The command cannot be filled so that its arguments stay arguments."""


@dataclass(frozen=True, slots=True)
class Text:
    text: str


@dataclass(frozen=True, slots=True)
class Insert:
    """A command whose output takes its place."""

    command: str


Part = Text | Insert


@dataclass(frozen=True, slots=True)
class Given:
    """What stood behind the command's name."""

    text: str

    @property
    def words(self) -> list[str]:
        try:
            return shlex.split(self.text)
        except ValueError:  # a quote without its other half, as in "don't"
            return self.text.split()

    def value(self, place: str) -> str:
        if not place.isdecimal():
            return self.text
        words, number = self.words, int(place)
        return words[number - 1] if number <= len(words) else ""

    def quoted(self, place: str) -> str:
        """For a shell: words stay words, and nothing else."""
        if place == "ARGUMENTS":
            return shlex.join(self.words)
        return shlex.quote(self.value(place))


def filled(body: str, dialect: Dialect, given: Given) -> tuple[Part, ...]:
    """Inserts are found before anything is filled in: an argument cannot bring one along."""
    pattern = _PLACE[dialect]
    parts: list[Part] = []
    for part in _parts(body, dialect):
        match part:
            case Text(text):
                text = pattern.sub(lambda place: given.value(place[1]), text)
                parts.append(Text(_files(text) if dialect is Dialect.TOML else text))
            case Insert(command):
                parts.append(Insert(_in_shell(command, pattern, given)))
    return tuple(parts)


def _files(text: str) -> str:
    return _FILE_INSERT.sub(lambda found: mention(found[1].strip()), text)


def _parts(body: str, dialect: Dialect) -> Iterator[Part]:
    found = _INSERT.finditer(body) if dialect is Dialect.MARKDOWN else ()
    spans = [(each.start(), each.end(), each[1]) for each in found] or list(_braced(body, dialect))
    end = 0
    for start, after, command in spans:
        yield Text(body[end:start])
        yield Insert(command.strip())
        end = after
    yield Text(body[end:])


def _braced(body: str, dialect: Dialect) -> Iterator[tuple[int, int, str]]:
    """`!{…}` with braces inside, as long as they come in pairs."""
    start = body.find("!{") if dialect is Dialect.TOML else -1
    while start >= 0:
        depth, end = 1, start + 2
        while end < len(body) and depth:
            depth += {"{": 1, "}": -1}.get(body[end], 0)
            end += 1
        if depth:
            raise TemplateError("a shell insert !{…} has no end")
        yield start, end, body[start + 2 : end - 1]
        start = body.find("!{", end)


def _in_shell(command: str, pattern: re.Pattern[str], given: Given) -> str:
    """As a shell reads it: an argument in quotes of the author's is escaped for those."""
    pieces: list[str] = []
    end = 0
    for place in pattern.finditer(command):
        before = command[: place.start()]
        pieces += (command[end : place.start()], _escaped(before, place[1], given))
        end = place.end()
    return "".join((*pieces, command[end:]))


def _escaped(before: str, place: str, given: Given) -> str:
    value = given.value(place)
    if "\0" in value:
        raise TemplateError("an argument has a NUL character")
    if _PLAIN.fullmatch(value):
        return value
    if _UNSURE.search(before):
        raise TemplateError(
            f"its shell insert puts an argument where it cannot be quoted safely: {before[-40:]}…; "
            "plain words are taken there, blanks and signs are not"
        )
    match _quote_at_end(before):
        case "'":
            return value.replace("'", "'\\''")
        case '"':
            return _IN_DOUBLE.sub(r"\\\1", value)
        case _:
            return given.quoted(place)


def _quote_at_end(text: str) -> str:
    """The quote that is still open where the text ends; nothing where none is."""
    quote, is_escaped = "", False
    for char in text:
        if is_escaped:
            is_escaped = False
        elif char == "\\" and quote != "'":
            is_escaped = True
        elif not quote and char in "'\"":
            quote = char
        elif char == quote:
            quote = ""
    if is_escaped:
        raise TemplateError("its shell insert has a backslash right before an argument")
    return quote


class TurnOverrides:
    """What a command changes for one turn; listens to the bus for the end of the turn."""

    def __init__(
        self,
        permissions: Permissions,
        request: RequestBuilder,
        bus: EventBus,
        window: Callable[[], int | None],
    ) -> None:
        """`window` returns the context window of the session's own model."""
        self._permissions = permissions
        self._request = request
        self._bus = bus
        self._window = window
        self._before: ModelChoice | None = None
        self._model: ModelChoice | None = None
        bus.subscribe(self._on_event)

    def restrict(self, command: CommandFile) -> tuple[str, ...]:
        """Allow only the tools that the command names, by the rules that apply anyway; return problems."""
        if not command.allowed_tools:
            return ()
        tools = ToolSwitches(command.label)
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
        self._permissions.restrict(limits)
        return tuple(f"{command.label}: {problem}" for _, problem in tools.problems)

    def use_model(self, command: CommandFile) -> str:
        """Use the model that the command names; return why not if that is refused."""
        name, own = command.model, self._request.choice
        if "/" not in name or name == own.name:
            # `sonnet` and the like are names of another program.
            return ""
        if not command.is_own and not is_same_provider(name, own.name):
            return (
                f"/{command.name} names {name}, a model of another provider: a project does not choose that"
            )
        self._before = self._before or own
        self._model = own.switched_to(name)
        self._use(self._model, None)
        return ""

    def _use(self, choice: ModelChoice, window: int | None) -> None:
        self._request.use(choice)
        self._bus.publish(ModelChanged(choice.name, window))

    def _on_event(self, event: Event) -> None:
        if not isinstance(event, TurnFinished | TurnFailed):
            return
        self._permissions.restrict(None)
        before, self._before = self._before, None
        # If the user chose another model during the turn, it stays.
        if before is not None and self._request.choice == self._model:
            self._use(before, self._window())


INSERT = "insert"
"""Shown in place of a tool's name."""
MOST_CHARACTERS = 50_000
"""Of one insert's output."""
LABEL = "command /"
_FILE = re.compile(r"(?<!:/)/(?!/)|\w\.\w")
"""A file's name has a folder or an extension. The address of a server's resource does not count."""
_CALL = re.compile(r"\s*/([A-Za-z][\w-]*(?::[\w-]+)*)(?:\s+(.*))?", re.DOTALL)


@dataclass(frozen=True, slots=True)
class CommandCalls:
    """Runs custom commands; `files` attaches what their prompts mention by `@`."""

    known: CommandFiles
    commands: UserCommandRunner
    changes: SessionChanges
    profiles: ProfileSwitch
    overrides: TurnOverrides
    files: Attach
    redact: Redactor
    notify: Callable[[NoticeLevel, str], None]

    async def attach(self, text: str) -> tuple[Attachment, ...]:
        """Attach the filled prompt of the command that the message calls, and the files that it mentions."""
        call = _CALL.fullmatch(text.rstrip())
        if call is None:
            return ()
        await asyncio.to_thread(self.known.refresh)
        command = self.known.find(call[1])
        if command is None:
            return ()
        try:
            parts = filled(command.body, command.dialect, Given((call[2] or "").strip()))
        except TemplateError as error:
            raise MessageRefusedError(f"/{command.name} was not sent: {error}.") from error
        prompt = "".join([await self._fill(command, part) for part in parts])
        spoken = "".join(part.text for part in parts if isinstance(part, Text))
        attached = await self.files(spoken)
        self._arrange(command)
        if missing := _missing(spoken, attached):
            self.notify(
                NoticeLevel.WARNING, f"/{command.name} names {', '.join(missing)}: there is no such file."
            )
        framed = self.redact.known(_framed(command, prompt, self._child(command)))
        return (Attachment(f"{LABEL}{command.name}", framed), *attached)

    async def _fill(self, command: CommandFile, part: Text | Insert) -> str:
        if isinstance(part, Text):
            return part.text
        # Only a command that names git may write git's own folder.
        async with self.changes.commands.track(INSERT, touches_git="git" in part.command):
            shown = await self.commands.run(part.command, label=INSERT, answer="", is_asked=True)
        if shown is None:
            reason = f"its command `{part.command}` did not run"
            raise MessageRefusedError(f"/{command.name} was not sent: {reason}.")
        output = shown.output.strip()
        if len(output) > MOST_CHARACTERS:
            output = f"{output[:MOST_CHARACTERS]}\n(cut here)"
        return f"{output}\n(exit code {shown.exit_code})" if shown.exit_code else output

    def _arrange(self, command: CommandFile) -> None:
        for problem in (
            *self.overrides.restrict(command),
            self.overrides.use_model(command),
            self._lead(command),
        ):
            if problem:
                self.notify(NoticeLevel.WARNING, problem)

    def _lead(self, command: CommandFile) -> str:
        """Let the agent that the command names lead; only the user leaves plan mode."""
        profile = self.profiles.known.find(command.agent)
        if profile is None:
            return f"/{command.name} wants the agent {command.agent}, which does not exist" * bool(
                command.agent
            )
        if self._child(command):
            return ""
        if self.profiles.current.name != profile.name and self.commands.permissions.mode is Mode.PLAN:
            return f"/{command.name} wants the agent {profile.name}; plan mode stays"
        self.profiles.use(profile.name)
        return ""

    def _child(self, command: CommandFile) -> str:
        """Return the sub-agent that should do it, if it is work for one."""
        profile = self.profiles.known.find(command.agent)
        if command.is_subtask:
            return profile.name if profile else GENERAL
        return profile.name if profile and not profile.mode.leads else ""


def _missing(text: str, attached: tuple[Attachment, ...]) -> tuple[str, ...]:
    """Return mentioned files that do not exist. A bare word after an `@` may be a name or a decorator."""
    found = {each.label for each in attached}
    lost = (
        min((reading.label for reading in readings), key=len)
        for readings in find_mentions(text[:MOST_TEXT])
        if found.isdisjoint(reading.label for reading in readings)
    )
    return tuple(dict.fromkeys(f"@{safe_line(name)}" for name in lost if _FILE.search(name)))


def _framed(command: CommandFile, prompt: str, child: str) -> str:
    what = "Do what it says."
    if child:
        what = f"Have the sub-agent {child} do what it says, with the tool task, and report the result."
    lines = (
        f"The user calls the command /{command.name}. {what}",
        f'<command name="{command.name}">',
        prompt,
        "</command>",
    )
    return "\n".join(lines)
