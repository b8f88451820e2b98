"""One session as text that only ever grows: for screen readers, dumb terminals and pipes.

What language servers say of a change that waits for an answer, in lines.
"""

import asyncio
from collections.abc import Callable, Coroutine, Iterator

from coder_tui.agent.diagnostics.format import UNKNOWN, WHY_UNKNOWN, unchecked_words
from coder_tui.agent.session import Session
from coder_tui.commands.registry import Called
from coder_tui.plain.dialogs import Dialogue, dialogue
from coder_tui.plain.input import InputLines, called, obey
from coder_tui.plain.words import block_text, call_line, finished_text
from coder_tui.protocol.access import Mode
from coder_tui.protocol.child_progress import first_line
from coder_tui.protocol.diagnostics import IS_AWAITED, ProposalCheck, ServerStatus
from coder_tui.protocol.errors import UsageError
from coder_tui.protocol.events import (
    ChildEvent,
    CompactionFinished,
    Event,
    MessageFinished,
    ModeChanged,
    Notice,
    ProfileChanged,
    ProposalChecked,
    QueueChanged,
    RequestClosed,
    RequestOpened,
    RetryScheduled,
    SubagentEvent,
    SubagentFinished,
    SubagentStarted,
    TextDelta,
    ToolFinished,
    ToolStarted,
    TurnFailed,
    TurnFinished,
    UserMessageAdded,
)
from coder_tui.protocol.outcomes import TurnOutcome
from coder_tui.protocol.requests import Request, unattended
from coder_tui.text.safe_text import safe_text


def check_lines(check: ProposalCheck) -> Iterator[str]:
    """None while it is awaited, and none where no server is for such files: that is no news."""
    is_no_news = check.status is ServerStatus.UNSUPPORTED and not check.detail
    if is_no_news or (check.status in IS_AWAITED and not check.introduced):
        return
    yield f"Problems of this change: {_words(check)}."
    for item in check.introduced:
        first = item.message.partition("\n")[0]
        said = " ".join(filter(None, (item.source, item.code)))
        yield f"    {item.path}:{item.line}:{item.character} {first}{f' ({said})' if said else ''}"


def _words(check: ProposalCheck) -> str:
    counts = str(check.counts)
    if check.unchecked:
        return unchecked_words(counts or "none that is new", check.unchecked)
    if not check.is_known:
        return f"{counts}, and more may come" if counts else WHY_UNKNOWN.get(check.status, UNKNOWN)
    if not counts:
        is_partly = check.status is ServerStatus.LINTER_MISSING
        return "hardly known, a checker is missing" if is_partly else "none that is new"
    return counts if check.is_compared else f"{counts.replace('+', '')} in it, old or new"


ARMING = 0.4
"""Seconds after a menu appeared in which a line is taken as typed before it."""
HELP = (
    "Type a message and Enter. /show prints all of the last call, /mode ask|edits|plan, /agent NAME, "
    "/undo, /redo, /compact, /cost, /context, /remember TEXT, /verify, /export, /rename TITLE, /quit leaves."
)


class PlainSession:
    """`write` prints text as it is. A person types at any time; a pipe (not `is_typed`) waits its turn."""

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
        self._dialogue: Dialogue | None = None
        self._turns: set[asyncio.Task[None]] = set()
        self._wants_line = asyncio.Event()

    async def run(self) -> None:
        """Until the person leaves or there is no more input."""
        for event in self._session.history():
            self._show(event)
        unsubscribe = self._session.subscribe(self._show)
        self._line(HELP)
        self._prompt()
        try:
            goes_on = True
            while goes_on and (line := await self._next()) is not None:
                goes_on = self._take(line)
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
        """There is nobody left to answer."""
        while self._turns:
            for request in tuple(self._requests):
                self._session.answer(request.id, unattended(request))
            if self._is_typed:
                self._session.interrupt()
            await asyncio.wait(self._turns, timeout=0.1)

    def _take(self, line: str) -> bool:
        """Whether to go on."""
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
                self._line(_led(self._session, " ".join(names)))
                self._prompt()
            case _ if (call := called(line)) is not None:
                self._start(self._obey(call))
            case _:
                self._start(self._session.submit(line))
        return True

    def _start(self, work: Coroutine[None, None, None]) -> None:
        self._wants_line.clear()
        task = asyncio.create_task(work)
        self._turns.add(task)
        task.add_done_callback(self._turn_ended)

    async def _obey(self, call: Called) -> None:
        obeyed = await obey(self._session, call)
        if obeyed.words:
            self._line(obeyed.words)
        if obeyed.message:
            await self._session.submit(obeyed.message)

    def _turn_ended(self, task: asyncio.Task[None]) -> None:
        self._turns.discard(task)
        if not self._turns:
            self._prompt()

    def _answer(self, line: str) -> None:
        asked = self._dialogue
        if asked is None:
            return
        before = tuple(asked.menu())
        is_early = self._is_typed and self._clock() - self._asked_at < ARMING
        if is_early and not asked.wants_words:
            self._line("That came before the question could be read; it was not taken as an answer.")
        elif (reply := asked.take(line)) is not None:
            self._wants_line.clear()
            self._session.answer(asked.request_id, reply)
            return
        if (menu := tuple(asked.menu())) != before:
            self._asked_at = self._clock()
        for words in menu:
            self._line(words)

    def _ask(self) -> None:
        self._asked_at = self._clock()
        self._dialogue = asked = dialogue(self._requests[0])
        for words in (*asked.opening(), *asked.menu()):
            self._line(words)
        self._wants_line.set()

    def _show(self, event: Event) -> None:
        match event:
            case TextDelta(message_id, text):
                self._streamed = message_id
                self._text(safe_text(text))
            case MessageFinished(message_id, text, _, _):
                if text and self._streamed != message_id:
                    self._text(safe_text(text))
                self._streamed = ""
                self._fresh_line()
            case UserMessageAdded(_, text) if not self._turns:
                self._line(f"You: {safe_text(text)}")  # of a resumed session
            case RequestOpened(request):
                self._requests.append(request)
                if len(self._requests) == 1:
                    self._ask()
            case RequestClosed(request_id):
                self._closed(request_id)
            case ProposalChecked(call_id, check):
                if self._requests and self._requests[0].call_id == call_id:
                    for line in check_lines(check):
                        self._line(line)
            case _:
                self._show_work(event)

    def _show_work(self, event: Event) -> None:
        match event:
            case ToolStarted(_, tool, _, summary):
                self._line(f"[{tool}] {summary}".rstrip())
            case ToolFinished():
                self._last_block = block_text(event.display)
                self._line(call_line(event))
                for line in finished_text(event).split("\n"):
                    self._line(f"    {line}")
            case SubagentEvent(_, _, agent, inner):
                self._show_child(agent, inner)
            case QueueChanged(texts) if texts:
                self._line(f"Queued: {texts[-1]}")
            case ModeChanged(mode):
                self._line(f"Mode: {mode}.")
            case ProfileChanged(profile) if profile not in ("build", "plan"):
                self._line(f"Agent: {profile}.")
            case RetryScheduled(attempt, delay, reason):
                self._line(f"{reason} Attempt {attempt} failed, again in {delay:.0f} seconds.")
            case Notice(_, text):
                self._line(text)
            case CompactionFinished() if event.sentence:
                self._line(event.sentence)
            case TurnFailed(_, message, hint):
                self._line(f"{message} {hint}".strip())
                self._return_queue()
            case TurnFinished(_, outcome, message, _):
                self._line(message or ("Stopped." if outcome is TurnOutcome.INTERRUPTED else "Done."))
                if outcome is not TurnOutcome.DONE:
                    self._return_queue()
                elif self._is_typed:
                    self._start(self._session.verifier.offer())
            case _:
                pass  # usage, thinking and pieces of live output would only be noise when read aloud

    def _return_queue(self) -> None:
        """The turn did not come to these; with the next one they would go out behind what is typed then."""
        for text in self._session.take_queue():
            self._line(f"Not sent: {text}")

    def _show_child(self, agent: str, event: ChildEvent) -> None:
        """What each does, by name; its words are for the agent that asked for them."""
        match event:
            case SubagentStarted(objective):
                self._line(f"[{agent}] begins: {first_line(objective)}")
            case ToolFinished():
                self._line(f"[{agent}] {call_line(event)}")
            case SubagentFinished(state, summary):
                self._line(f"[{agent}] {state}: {first_line(summary)}")
            case _:
                pass

    def _closed(self, request_id: str) -> None:
        was_first = bool(self._requests) and self._requests[0].id == request_id
        self._requests = [request for request in self._requests if request.id != request_id]
        if was_first:
            self._dialogue = None
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


def _led(session: Session, name: str) -> str:
    """Let another agent work; without a name, tell which there are."""
    if not name:
        return "\n".join(f"{each.name}: {each.description}" for each in session.profiles.known.leading)
    try:
        profile = session.profiles.use(name)
    except UsageError as error:
        return str(error)
    return f"{profile.name} works from here on."
