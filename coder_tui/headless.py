"""Runs one prompt without a screen: prints events, refuses requests, and ends with an exit code.

It has the exit codes, one for each way that a turn can end, and the formats `text`, `json` and `stream-json`.
"""

import asyncio
import dataclasses
import re
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from enum import IntEnum
from typing import Any, Protocol

from coder_tui.agent.session import Session
from coder_tui.protocol import events
from coder_tui.protocol.child_progress import first_line
from coder_tui.protocol.events import ChildEvent, Event
from coder_tui.protocol.messages import Usage
from coder_tui.protocol.outcomes import Outcome, TurnOutcome
from coder_tui.protocol.requests import QuestionRequest, Request, unattended
from coder_tui.protocol.subagents import ChildState
from coder_tui.text.redact import LineStream, Redactor

SCHEMA_VERSION = 1


class ExitCode(IntEnum):
    DONE = 0
    FAILED = 1
    REFUSED = 3
    LIMIT = 4
    INTERRUPTED = 130


@dataclass(slots=True)
class RunResult:
    """The result of a run, collected from its events."""

    session_id: str
    text: str = ""
    outcome: str = ""
    message: str = ""
    hint: str = ""
    refused: list[str] = field(default_factory=list)
    files: list[str] = field(default_factory=list)
    usage: Usage = field(default_factory=Usage)
    duration_ms: int = 0

    @property
    def exit_code(self) -> ExitCode:
        match self.outcome:
            case TurnOutcome.INTERRUPTED:
                return ExitCode.INTERRUPTED
            case TurnOutcome.LIMIT:
                return ExitCode.LIMIT
            case TurnOutcome.DONE:
                return ExitCode.REFUSED if self.refused else ExitCode.DONE
            case _:
                return ExitCode.FAILED

    def as_json(self) -> dict[str, Any]:
        body = dataclasses.asdict(self)
        return {"type": "result", "exit_code": int(self.exit_code), **body}


class Printer(Protocol):
    """One output format."""

    def start(self, session: Session) -> None: ...
    def event(self, event: Event) -> None: ...
    def end(self, result: RunResult) -> None: ...


Delta = events.TextDelta | events.ThinkingDelta | events.ToolProgressed


def _ends(event: ChildEvent, begun: Delta) -> bool:
    """Return whether the text that `begun` started is complete."""
    match event, begun:
        case events.MessageFinished(), events.TextDelta() | events.ThinkingDelta():
            return event.message_id == begun.message_id
        case events.ToolFinished(), events.ToolProgressed():
            return event.call_id == begun.call_id
        case ((events.TurnFinished() | events.TurnFailed() | events.SubagentFinished()), _):
            return True
        case _:
            return False


def event_json(event: ChildEvent) -> dict[str, Any]:
    """Return an event as a JSON object, with its type in snake case."""
    name = re.sub(r"(?<!^)(?=[A-Z])", "_", type(event).__name__).lower()
    body = {"type": name, **dataclasses.asdict(event)}
    return {**body, "event": event_json(event.event)} if isinstance(event, events.SubagentEvent) else body


@dataclass(frozen=True, slots=True)
class TextPrinter:
    """Prints the model's text on standard output, and what happens on standard error."""

    say: Callable[[str], None]
    remark: Callable[[str], None]

    def start(self, session: Session) -> None:
        """Print the notices from opening the session."""
        for notice in session.context.notices:
            self.event(notice)

    def event(self, event: Event) -> None:
        match event:
            case events.MessageFinished() if event.text:
                self.say(event.text)
            case events.ToolFinished():
                self.remark(f"{_MARKS[event.outcome]} {event.tool}  {event.summary}")
            case events.RetryScheduled():
                self.remark(f"… {event.reason} Trying again in {event.delay:.0f} s.")
            case events.Notice():
                self.remark(event.text)
            case events.CompactionFinished() if event.sentence:
                self.remark(event.sentence)
            case events.SubagentEvent():
                self._print_child(event.agent, event.event)
            case _:
                pass

    def _print_child(self, agent: str, event: ChildEvent) -> None:
        match event:
            case events.SubagentStarted():
                self.remark(f"… {agent}: {first_line(event.objective)}")
            case events.ToolFinished():
                self.remark(f"{_MARKS[event.outcome]} {agent}: {event.tool}  {event.summary}")
            case events.SubagentFinished():
                self.remark(f"{_ENDS[event.state]} {agent}: {first_line(event.summary)}")
            case _:
                pass

    def end(self, result: RunResult) -> None:
        if result.message or result.hint:
            self.remark(f"coder-tui: {result.message} {result.hint}".strip())
        for refused in result.refused:
            self.remark(f"coder-tui: not approved: {refused} (use --permission to allow more)")
        if result.usage.total_tokens:
            self.remark(f"coder-tui: {result.usage.describe()}")


_MARKS = {Outcome.OK: "✓", Outcome.FAILED: "✗", Outcome.DENIED: "⊘", Outcome.CANCELLED: "■"}
_ENDS = {ChildState.OK: "✓", ChildState.FAILED: "✗", ChildState.STOPPED: "■"}


@dataclass(frozen=True, slots=True)
class StreamPrinter:
    """Prints one line of JSON per event. The first has the schema version, the last the result.

    Pieces of a text are joined into lines, because a secret could be split between two pieces.
    """

    write: Callable[[dict[str, Any]], None]
    redact: Redactor
    _open: dict[tuple[events.SubagentEvent | None, Delta], LineStream] = field(default_factory=dict)

    def start(self, session: Session) -> None:
        self.write({"type": "schema", "schema_version": SCHEMA_VERSION})
        for event in session.history():
            self.write(event_json(event))

    def event(self, event: Event) -> None:
        inner = event.event if isinstance(event, events.SubagentEvent) else event
        if isinstance(inner, events.TextDelta | events.ThinkingDelta | events.ToolProgressed):
            begun = replace(inner, text="")
            around = replace(event, event=begun) if isinstance(event, events.SubagentEvent) else None
            stream = self._open.setdefault((around, begun), LineStream(self.redact))
            self._piece(around, begun, stream.feed(inner.text))
        else:
            self._end_texts(event, inner)
            self.write(event_json(event))

    def end(self, result: RunResult) -> None:
        self.write(result.as_json())

    def _piece(self, around: events.SubagentEvent | None, begun: Delta, text: str) -> None:
        if text:
            piece = replace(begun, text=text)
            self.write(event_json(piece if around is None else replace(around, event=piece)))

    def _end_texts(self, event: Event, inner: ChildEvent) -> None:
        child = event.child_id if isinstance(event, events.SubagentEvent) else ""
        for around, begun in tuple(self._open):
            if child == ("" if around is None else around.child_id) and _ends(inner, begun):
                self._piece(around, begun, self._open.pop((around, begun)).finish())


@dataclass(frozen=True, slots=True)
class JsonPrinter:
    """Prints one JSON object at the end."""

    write: Callable[[dict[str, Any]], None]

    def start(self, session: Session) -> None:
        return None

    def event(self, event: Event) -> None:
        return None

    def end(self, result: RunResult) -> None:
        self.write({"schema_version": SCHEMA_VERSION, **result.as_json()})


class HeadlessRun:
    """Runs one prompt in a session. Nobody can answer, so calls that need approval are refused."""

    def __init__(self, session: Session, printer: Printer) -> None:
        self._session = session
        self._printer = printer
        self._result = RunResult(session.id)
        self._is_unread = False

    async def run(self, prompt: str) -> RunResult:
        began = time.monotonic()
        self._print(lambda: self._printer.start(self._session))
        unsubscribe = self._session.subscribe(self._on_event)
        try:
            await self._session.submit(prompt)
        except asyncio.CancelledError:
            # Interrupted from outside: the turn has ended, and the result is still printed.
            self._result.outcome = TurnOutcome.INTERRUPTED
        finally:
            unsubscribe()
        self._result.duration_ms = round((time.monotonic() - began) * 1000)
        self._print(lambda: self._printer.end(self._result))
        if self._is_unread:
            raise BrokenPipeError
        return self._result

    def _print(self, write: Callable[[], None]) -> None:
        """Print, and end the run if the reader went away."""
        if not self._is_unread:
            try:
                write()
            except BrokenPipeError:
                self._is_unread = True
                self._session.interrupt()

    def _on_event(self, event: Event) -> None:
        self._print(lambda: self._printer.event(event))
        match event:
            case events.RequestOpened():
                self._refuse(event.request)
            case events.MessageFinished():
                self._result.text = event.text or self._result.text
            case events.FilesChanged():
                self._result.files += [path for path in event.paths if path not in self._result.files]
            case events.UsageUpdated():
                self._result.usage = event.turn
            case events.TurnFinished():
                self._result.outcome, self._result.message = event.outcome, event.message
            case events.TurnFailed():
                self._result.outcome = "failed"
                self._result.message, self._result.hint = event.message, event.hint
            case _:
                pass

    def _refuse(self, request: Request) -> None:
        # An unanswered question is no refusal: the agent decides for itself and goes on.
        if not isinstance(request, QuestionRequest):
            self._result.refused.append(f"{request.tool} {request.summary}")
        self._session.answer(request.id, unattended(request))
