"""One session as append-only text, for screen readers, dumb terminals and pipes."""

import asyncio
import sys
import threading
from collections.abc import Callable, Coroutine
from typing import TextIO, assert_never

from coder_tui.agent.session import Session
from coder_tui.commands import base as intents
from coder_tui.commands.base import Called, Commands
from coder_tui.commands.builtin import builtin_commands
from coder_tui.plain.dialogs import LineDialog, block_text, call_line, check_lines, finished_text, make_dialog
from coder_tui.protocol import events
from coder_tui.protocol.access import Mode
from coder_tui.protocol.child_progress import first_line
from coder_tui.protocol.errors import UsageError
from coder_tui.protocol.events import ChildEvent, Event
from coder_tui.protocol.outcomes import TurnOutcome
from coder_tui.protocol.requests import Request, unattended
from coder_tui.tasks import BackgroundTasks
from coder_tui.text.safe_text import safe_text


class InputLines:
    """`next` returns a line without its line break, or None at the end of the input."""

    def __init__(self, stream: TextIO = sys.stdin) -> None:
        self._stream = stream
        self._loop = asyncio.get_running_loop()
        self._lines: asyncio.Queue[str | None] = asyncio.Queue()
        # A daemon: a thread that waits for a terminal cannot be interrupted and would keep us alive.
        threading.Thread(target=self._read, daemon=True, name="input-lines").start()

    async def next(self) -> str | None:
        line = await self._lines.get()
        if line is None:
            self._lines.put_nowait(None)  # the next caller must not wait forever
        return line

    def _read(self) -> None:
        for line in self._stream:
            self._hand_over(line.removesuffix("\n"))
        self._hand_over(None)

    def _hand_over(self, line: str | None) -> None:
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._lines.put_nowait, line)


_COMMANDS = Commands(builtin_commands())
ARMING = 0.4
"""Seconds after a menu appears. A line that comes earlier was typed before the menu could be read."""
HELP = (
    "Type a message and press Enter. Commands: /show (full output of the last call), /mode ask|edits|plan, "
    "/agent NAME, /undo, /redo, /compact, /cost, /context, /remember TEXT, /verify, /export, /rename TITLE, "
    "/help, /quit."
)


class PlainSession:
    """Runs one session. `write` prints text unchanged. Input that is not typed is read only when needed."""

    def __init__(
        self,
        session: Session,
        lines: InputLines,
        write: Callable[[str], None],
        clock: Callable[[], float],
        *,
        is_typed: bool,
    ) -> None:
        self._session = session
        self._lines = lines
        self._write = write
        self._clock = clock
        self._is_typed = is_typed
        self._at_line_start = True
        self._streamed = ""
        self._last_block = ""
        self._requests: list[Request] = []
        self._asked_at = 0.0
        self._dialog: LineDialog | None = None
        self._turns = BackgroundTasks()
        self._wants_line = asyncio.Event()

    async def run(self) -> None:
        """Run until the user quits or the input ends."""
        for event in self._session.history():
            self._show(event)
        unsubscribe = self._session.subscribe(self._show)
        self._line(HELP)
        self._prompt()
        try:
            goes_on = True
            while goes_on and (line := await self._next()) is not None:
                goes_on = self._handle_line(line)
            await self._end()
        finally:
            unsubscribe()

    def interrupt(self) -> bool:
        return self._session.interrupt()

    async def _next(self) -> str | None:
        if not self._is_typed:
            await self._wants_line.wait()
        line = await self._lines.next()
        self._at_line_start = self._at_line_start or self._is_typed
        return line

    async def _end(self) -> None:
        """Finish the running turns. Nobody is left to answer requests."""
        while self._turns:
            for request in tuple(self._requests):
                self._session.answer(request.id, unattended(request))
            if self._is_typed:
                self._session.interrupt()
            await self._turns.wait(0.1)

    def _handle_line(self, line: str) -> bool:
        """Handle a line. Returns False to quit."""
        if self._requests:
            self._answer(line.strip())
            return True
        match line.split():
            case []:
                self._prompt()
            case ["/quit"] | ["/exit"]:
                return False
            case ["/help"]:
                self._line(HELP)
                self._prompt()
            case ["/show"]:
                self._line(self._last_block or "There is nothing to show yet.")
                self._prompt()
            case ["/mode", ("ask" | "edits" | "plan") as mode]:
                self._session.set_mode(Mode(mode))
                self._prompt()
            case ["/agent", *names]:
                self._line(_switch_agent(self._session, " ".join(names)))
                self._prompt()
            case _ if isinstance(call := _COMMANDS.read(line), Called):
                self._start(self._run_command(call))
            case _:
                self._start(self._session.submit(line))
        return True

    def _start(self, work: Coroutine[None, None, None]) -> None:
        self._wants_line.clear()
        # After the callback that removes the task from `_turns`.
        self._turns.start(work).add_done_callback(self._turn_ended)

    async def _run_command(self, call: Called) -> None:
        match await call.command.run(self._session, call.argument):
            case intents.Say(text):
                if text:
                    self._line(text)
            case intents.ShowAgain(text, _, draft):
                self._line(f"{text}\nYour message was: {draft}" if draft else text)
            case intents.Submit(text):
                if text:
                    await self._session.submit(text)
            case intents.SetMode(mode):
                self._session.set_mode(mode)
            case intents.OpenScreen() | intents.StartSession() | intents.Copy() | intents.Leave():
                self._line(f"/{call.command.name} needs the full screen. Nothing was sent. Try /help.")
            case never:
                assert_never(never)

    def _turn_ended(self, _: asyncio.Task[None]) -> None:
        if not self._turns:
            self._prompt()

    def _answer(self, line: str) -> None:
        asked = self._dialog
        if asked is None:
            return
        before = tuple(asked.menu())
        is_early = self._is_typed and self._clock() - self._asked_at < ARMING
        if is_early and not asked.wants_sentence:
            self._line("You typed that before the question was shown, so it was not used as an answer.")
        elif (reply := asked.answer(line)) is not None:
            self._wants_line.clear()
            self._session.answer(asked.request_id, reply)
            return
        if (menu := tuple(asked.menu())) != before:
            self._asked_at = self._clock()
        for words in menu:
            self._line(words)

    def _ask(self) -> None:
        self._asked_at = self._clock()
        self._dialog = asked = make_dialog(self._requests[0])
        for words in (*asked.opening(), *asked.menu()):
            self._line(words)
        self._wants_line.set()

    def _show(self, event: Event) -> None:
        match event:
            case events.TextDelta(message_id, text):
                self._streamed = message_id
                self._text(safe_text(text))
            case events.MessageFinished(message_id, text, _, _):
                if text and self._streamed != message_id:
                    self._text(safe_text(text))
                self._streamed = ""
                self._fresh_line()
            case events.UserMessageAdded(_, text) if not self._turns:
                self._line(f"You: {safe_text(text)}")  # from a resumed session
            case events.RequestOpened(request):
                self._requests.append(request)
                if len(self._requests) == 1:
                    self._ask()
            case events.RequestClosed(request_id):
                self._closed(request_id)
            case events.ProposalChecked(call_id, check):
                if self._requests and self._requests[0].call_id == call_id:
                    for line in check_lines(check):
                        self._line(line)
            case _:
                self._show_work(event)

    def _show_work(self, event: Event) -> None:
        match event:
            case events.ToolStarted(_, tool, _, summary):
                self._line(f"[{tool}] {summary}".rstrip())
            case events.ToolFinished():
                self._last_block = block_text(event.display)
                self._line(call_line(event))
                for line in finished_text(event).split("\n"):
                    self._line(f"    {line}")
            case events.SubagentEvent(_, _, agent, inner):
                self._show_child(agent, inner)
            case events.QueueChanged(texts) if texts:
                self._line(f"Queued: {texts[-1]}")
            case events.ModeChanged(mode):
                self._line(f"Mode: {mode}.")
            case events.ProfileChanged(profile) if profile not in ("build", "plan"):
                self._line(f"Agent: {profile}.")
            case events.RetryScheduled(attempt, delay, reason):
                self._line(f"{reason} Attempt {attempt} failed, trying again in {delay:.0f} seconds.")
            case events.Notice(_, text):
                self._line(text)
            case events.CompactionFinished() if event.sentence:
                self._line(event.sentence)
            case events.TurnFailed(_, message, hint):
                self._line(f"{message} {hint}".strip())
                self._return_queue()
            case events.TurnFinished(_, outcome, message, _):
                self._line(message or ("Stopped." if outcome is TurnOutcome.INTERRUPTED else "Done."))
                if outcome is not TurnOutcome.DONE:
                    self._return_queue()
                elif self._is_typed:
                    self._start(self._session.verifier.offer())
            case _:
                pass  # usage, thinking and pieces of live output would only be noise when read aloud

    def _return_queue(self) -> None:
        """Print queued messages that were not sent. Otherwise they would go out after the next message."""
        for text in self._session.withdraw_queued():
            self._line(f"Not sent: {text}")

    def _show_child(self, agent: str, event: ChildEvent) -> None:
        """Print what a sub-agent does. Its text is only for the agent that started it."""
        match event:
            case events.SubagentStarted(objective):
                self._line(f"[{agent}] started: {first_line(objective)}")
            case events.ToolFinished():
                self._line(f"[{agent}] {call_line(event)}")
            case events.SubagentFinished(state, summary):
                self._line(f"[{agent}] {state}: {first_line(summary)}")
            case _:
                pass

    def _closed(self, request_id: str) -> None:
        was_first = bool(self._requests) and self._requests[0].id == request_id
        self._requests = [request for request in self._requests if request.id != request_id]
        if was_first:
            self._dialog = None
            if self._requests:
                self._ask()

    def _prompt(self) -> None:
        if not self._requests:
            self._wants_line.set()
            if self._is_typed:
                self._fresh_line()
                self._write("> ")

    def _line(self, text: str) -> None:
        self._fresh_line()
        self._write(f"{safe_text(text)}\n")

    def _text(self, text: str) -> None:
        self._write(text)
        self._at_line_start = text.endswith("\n")

    def _fresh_line(self) -> None:
        if not self._at_line_start:
            self._write("\n")
        self._at_line_start = True


def _switch_agent(session: Session, name: str) -> str:
    """Switch to another agent, or list the agents if no name is given."""
    if not name:
        return "\n".join(f"{each.name}: {each.description}" for each in session.profiles.known.leading)
    try:
        profile = session.profiles.use(name)
    except UsageError as error:
        return str(error)
    return f"Switched to {profile.name}."
