"""Runs slash commands, and `!command` in the user's shell, also while the agent works."""

import asyncio
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, assert_never

from textual.app import App
from textual.screen import Screen
from textual.worker import Worker

from coder_tui.protocol.outcomes import NoticeLevel
from coder_tui.text.safe_text import safe_text
from coder_tui.ui.session.list_actions import LISTS

if TYPE_CHECKING:
    from coder_tui.agent.session import Session
    from coder_tui.commands.base import Called, Command, Commands, Intent, Unknown
    from coder_tui.ui.session.parts import SessionWidgets
    from coder_tui.ui.session.screen import SessionScreen


SIGN = "!"
SHARED = "!!"
SHARED_OUTPUT = "The model will see the output with your next message."
PRIVATE_OUTPUT = f"Only you see the output. Use {SHARED} to share it with the model."
LONGEST_NOTE = 12
"""Lines; longer texts open on their own page."""
NOT_YET = "The session is still being opened. The command is back in the prompt."
ONE_AT_A_TIME = "Another command is still running. This one is back in the prompt."
STOPPED = "Stopped. The command did not finish."


class Running:
    """Commands that the user started, and can stop."""

    def __init__(self) -> None:
        self._workers: list[Worker[None]] = []

    def add(self, worker: Worker[None]) -> None:
        self._workers = [each for each in self._workers if not each.is_finished]
        self._workers.append(worker)

    def stop(self) -> bool:
        """Stop the newest one; return False if none runs."""
        while self._workers:
            worker = self._workers.pop()
            if not worker.is_finished:
                worker.cancel()
                return True
        return False


class ShellLine:
    """Runs `!command` outside of the conversation; `!!` shares its output with the model."""

    def __init__(self, screen: "SessionScreen", widgets: "SessionWidgets") -> None:
        self._screen = screen
        self._widgets = widgets
        self._running = Running()
        self.stop = self._running.stop

    def run_line(self, text: str) -> bool:
        """Run a line that begins with `!`; return False for any other."""
        line = text.lstrip()
        command = line.removeprefix(SHARED).removeprefix(SIGN).strip()
        if not line.startswith(SIGN) or not command:
            return False
        session = self._widgets.sender.session
        if session is None:
            self._widgets.transcript.add_note(NoticeLevel.INFO, NOT_YET)
            self._screen.prompt.put_back((text,))
            return True
        is_shared = line.startswith(SHARED)
        self._widgets.transcript.view.follow()
        self._widgets.hints.show(SHARED_OUTPUT if is_shared else PRIVATE_OUTPUT)
        work = session.shell.run(command, is_shared=is_shared)
        self._running.add(self._screen.run_worker(work, group="shell", exit_on_error=True))
        return True


class SlashCommands:
    """Runs lines that begin with `/`, also while the agent works."""

    def __init__(self, screen: "SessionScreen", widgets: "SessionWidgets") -> None:
        self._screen = screen
        self._widgets = widgets
        self._all: Commands | None = None
        self._sources: tuple[object, ...] = ()
        self._running = Running()

    def offered(self) -> "Iterable[Command]":
        return self._commands

    def resources(self) -> tuple[str, ...]:
        """Return the resources of MCP servers, as they are named after `@`."""
        session = self._widgets.sender.session
        return tuple(label for label, _ in session.mcp.resources) if session else ()

    def run_line(self, text: str) -> bool:
        """Run a line that begins with `/`; return False if it is a message."""
        if not text.lstrip().startswith("/"):
            return False
        from coder_tui.commands.base import Unknown

        match self._commands.read(text):
            case None:
                return False
            case Unknown() as unknown:
                self._screen.run_worker(self._retry_unknown(text, unknown), group="commands")
            case called if self._widgets.sender.session is None:
                self._return(text, NOT_YET)
            case called if called.command.holds_messages and self._widgets.sender.is_paused:
                self._return(text, ONE_AT_A_TIME)
            case called:
                runner: App[Any] | Screen[Any] = self._screen
                if called.command.holds_messages:
                    self._widgets.sender.pause()
                    # Another screen is shown at its end, so it must not be cancelled with this one.
                    runner = self._screen.app
                worker = runner.run_worker(self._run(called), group="commands")
                if called.command.can_be_stopped:
                    self._running.add(worker)
        return True

    def stop(self) -> bool:
        """Stop the newest command that can be stopped, and return waiting messages to the draft."""
        if not self._running.stop():
            return False
        self._widgets.sender.return_held()
        self._widgets.transcript.add_note(NoticeLevel.INFO, STOPPED)
        return True

    @property
    def _commands(self) -> "Commands":
        session = self._widgets.sender.session
        found = _command_sources(session) if session else ()
        if self._all is None or not _are_identical(self._sources, found):
            from coder_tui.commands.base import Commands
            from coder_tui.commands.builtin import builtin_commands, with_custom, with_prompts, with_skills

            table = builtin_commands()
            if session is not None:
                table = with_custom(with_skills(table, session.report.skills), session.report.commands)
                table = with_prompts(table, session.mcp.prompts)
            self._all = Commands(table)
            self._sources = found
        return self._all

    async def _retry_unknown(self, text: str, unknown: "Unknown") -> None:
        """Look for a skill or a command that was written a moment ago."""
        from coder_tui.commands.base import Called

        session = self._widgets.sender.session
        if session is not None:
            await asyncio.to_thread(session.report.skills.refresh)
            await asyncio.to_thread(session.report.commands.refresh)
            called = self._commands.read(text)
            if isinstance(called, Called):
                await self._run(called)
                return
        self._return(text, unknown.sentence, NoticeLevel.WARNING)

    def _return(self, text: str, why: str, level: NoticeLevel = NoticeLevel.INFO) -> None:
        """Return a line to the prompt that was not run."""
        self._widgets.transcript.add_note(level, why)
        self._screen.prompt.put_back((text,))

    async def _run(self, called: "Called") -> None:
        session = self._widgets.sender.session
        try:
            if session is not None:
                await self.enact(await called.command.run(session, called.argument), called.command.name)
        finally:
            if called.command.holds_messages:
                self._widgets.sender.resume()

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
                self._show_text(name, text, level)
            case Submit(text):
                self._widgets.transcript.view.follow()
                self._widgets.sender.send(text)
            case SetMode(mode):
                self._widgets.sender.set_mode(mode)
            case Copy(text):
                self._widgets.reader.copy(text)
            case OpenScreen(screen, argument):
                await self._open(screen, argument)
            case StartSession(session_id, notice):
                self._screen.switch().start(session_id, notice)
            case ShowAgain(text, level, draft):
                self._screen.switch().show_again(text, level, draft)
            case Leave():
                await self._screen.app.action_quit()
            case _:
                assert_never(intent)

    def _show_text(self, name: str, text: str, level: NoticeLevel) -> None:
        if text.count("\n") < LONGEST_NOTE:
            self._widgets.transcript.add_note(level, text)
            self._widgets.transcript.view.follow()
        else:
            self._widgets.reader.read_text(f"/{name}", safe_text(text))

    async def _open(self, name: str, argument: str) -> None:
        if name in LISTS:
            self._widgets.lists.open(name, argument)
        elif name == "find":
            self._widgets.actions.search(argument)
        elif name == "help":
            await self._screen.app.run_action("app.help")
        else:
            await self._widgets.actions.run(name)


def _command_sources(session: "Session") -> tuple[object, ...]:
    """Return what commands are made of besides the built-in ones; a change makes new objects."""
    return session.report.skills.found, session.report.commands.found, session.mcp.prompts


def _are_identical(first: tuple[object, ...], second: tuple[object, ...]) -> bool:
    """Compare identities: comparing contents would read every file's text at each key."""
    return len(first) == len(second) and all(one is other for one, other in zip(first, second, strict=True))
