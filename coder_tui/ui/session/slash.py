"""Does what a slash command asks for, also while the agent works."""

import asyncio
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, assert_never

from textual.app import App
from textual.screen import Screen

from coder_tui.protocol.outcomes import NoticeLevel
from coder_tui.text.safe_text import safe_text
from coder_tui.ui.keys import KEYS
from coder_tui.ui.session.reading import BlockReader
from coder_tui.ui.session.sender import Conversation
from coder_tui.ui.session.shell_line import Running
from coder_tui.ui.transcript.transcript import Transcript

if TYPE_CHECKING:
    from coder_tui.agent.session import Session
    from coder_tui.commands.base import Command, Intent
    from coder_tui.commands.registry import Called, Commands, Unknown


LONGEST_NOTE = 12
"""Lines; what is longer is read on a page of its own."""
NOT_YET = "The session is still being opened; the command stays in the prompt."
ONE_AT_A_TIME = "Another command is still at work; this one stays in the prompt."
STOPPED = "Stopped: what the command was about to do is not done."


class SlashCommands:
    """Serves one session screen; `put_back` returns lines that could not be used."""

    def __init__(
        self,
        screen: Screen[None],
        transcript: Transcript,
        conversation: Conversation,
        reader: BlockReader,
        put_back: Callable[[tuple[str, ...]], None],
    ) -> None:
        self._screen = screen
        self._transcript = transcript
        self._conversation = conversation
        self._reader = reader
        self._put_back = put_back
        self._all: Commands | None = None
        self._of: tuple[object, ...] = ()
        self._running = Running()

    def offered(self) -> "Iterable[Command]":
        """Those that would do something: what a command opens comes with its own keys."""
        screens = {f"{name}" for name in _opened()}
        return (command for command in self._commands if command.opens is None or command.opens in screens)

    def resources(self) -> tuple[str, ...]:
        """What servers have to read, as it is named behind the `@`."""
        session = self._conversation.session
        return tuple(label for label, _ in session.mcp.resources) if session else ()

    def take(self, text: str) -> bool:
        """Whether the line was a command, or meant to be one."""
        if not text.lstrip().startswith("/"):
            return False
        from coder_tui.commands.registry import Unknown

        match self._commands.read(text):
            case None:
                return False
            case Unknown() as unknown:
                self._screen.run_worker(self._look_again(text, unknown), group="commands")
            case called if self._conversation.session is None:
                self._transcript.add_note(NoticeLevel.INFO, NOT_YET)
                self._put_back((text,))
            case called if called.command.holds_messages and self._conversation.is_held:
                self._transcript.add_note(NoticeLevel.INFO, ONE_AT_A_TIME)
                self._put_back((text,))
            case called:
                runner: App[Any] | Screen[Any] = self._screen
                if called.command.holds_messages:
                    self._conversation.hold()
                    # It ends with another screen, and must not end with this one.
                    runner = self._screen.app
                worker = runner.run_worker(self._run(called), group="commands")
                if called.command.can_be_stopped:
                    self._running.add(worker)
        return True

    def stop(self) -> bool:
        """End the newest command that can be cut off; what was sent meanwhile returns to the draft."""
        if not self._running.stop():
            return False
        self._conversation.take_back_held()
        self._transcript.add_note(NoticeLevel.INFO, STOPPED)
        return True

    @property
    def _commands(self) -> "Commands":
        session = self._conversation.session
        found = _changing(session) if session else ()
        if self._all is None or not _are_same(self._of, found):
            from coder_tui.commands.builtin import builtin_commands
            from coder_tui.commands.discovered import with_custom, with_prompts, with_skills
            from coder_tui.commands.registry import Commands

            table = builtin_commands()
            if session is not None:
                table = with_custom(with_skills(table, session.facts.skills), session.facts.commands)
                table = with_prompts(table, session.mcp.prompts)
            self._all = Commands(table)
            self._of = found
        return self._all

    async def _look_again(self, text: str, unknown: "Unknown") -> None:
        """It may be a skill or a command that was written a moment ago."""
        from coder_tui.commands.registry import Called

        session = self._conversation.session
        if session is not None:
            await asyncio.to_thread(session.facts.skills.refresh)
            await asyncio.to_thread(session.facts.commands.refresh)
            called = self._commands.read(text)
            if isinstance(called, Called):
                await self._run(called)
                return
        self._transcript.add_note(NoticeLevel.WARNING, unknown.sentence)
        self._put_back((text,))

    async def _run(self, called: "Called") -> None:
        session = self._conversation.session
        try:
            if session is not None:
                await self.enact(await called.command.run(session, called.argument), called.command.name)
        finally:
            if called.command.holds_messages:
                self._conversation.go_on()

    async def enact(self, intent: "Intent", name: str = "") -> None:
        from coder_tui.commands.base import (
            Copy,
            Leave,
            OpenScreen,
            Say,
            SetMode,
            ShowAgain,
            StartSession,
            Submit,
        )

        match intent:
            case Say(text, level):
                self._say(name, text, level)
            case Submit(text):
                self._transcript.follow()
                self._conversation.send(text)
            case SetMode(mode):
                self._conversation.set_mode(mode)
            case Copy(text):
                self._reader.copy(text)
            case OpenScreen(screen, argument):
                await self._open(screen, argument)
            case StartSession(session_id, told):
                await self._screen.app.run_action(f"app.start_session({session_id!r}, {told!r})")
            case ShowAgain(text, level, draft):
                await self._screen.app.run_action(f"app.show_again({text!r}, {level.value!r}, {draft!r})")
            case Leave():
                await self._screen.app.action_quit()
            case _:
                assert_never(intent)

    def _say(self, name: str, text: str, level: NoticeLevel) -> None:
        if text.count("\n") < LONGEST_NOTE:
            self._transcript.add_note(level, text)
            self._transcript.follow()
        else:
            self._reader.read_text(f"/{name}", safe_text(text))

    async def _open(self, name: str, argument: str) -> None:
        action = _opened().get(name)
        if action is None:
            self._transcript.add_note(NoticeLevel.WARNING, f"There is no {name} screen here.")
        else:
            call = f"{action}({argument!r})" if argument else action
            await self._screen.app.run_action(call, self._screen)


def _changing(session: "Session") -> tuple[object, ...]:
    """What commands are made of besides the built-in ones; another object when it is another."""
    return session.facts.skills.found, session.facts.commands.found, session.mcp.prompts


def _are_same(first: tuple[object, ...], second: tuple[object, ...]) -> bool:
    """The very objects: comparing what they hold would read every file's text at each key."""
    return len(first) == len(second) and all(one is other for one, other in zip(first, second, strict=True))


_ACTIONS = {
    "help": "app.help",
    "models": "screen.models",
    "themes": "screen.themes",
    "sessions": "screen.sessions",
    "start": "app.start_session",
    "modes": "screen.modes",
    "agents": "screen.agents",
    "review": "screen.review",
    "changes": "screen.changes",
    "subagents": "screen.subagents",
    "todos": "screen.todo",
    "problems": "screen.problems",
    "files": "screen.files",
    "jobs": "screen.jobs",
    "lsp": "screen.lsp",
    "mcp": "screen.mcp",
    "mouse": "screen.mouse",
    "trust": "screen.trust",
    "skills": "screen.skills",
    "doctor": "screen.doctor",
    "log": "screen.log",
    "find": "screen.search",
    "browse": "screen.browse",
    "fold": "screen.fold",
    "thinking": "screen.thinking",
}


def _opened() -> dict[str, str]:
    """Actions by the screen that they open, where the table of keys has them."""
    known = {row.action for row in KEYS}
    return {name: action for name, action in _ACTIONS.items() if action in known}
