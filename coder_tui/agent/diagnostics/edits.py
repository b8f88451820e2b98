"""Tells the model with its edits what language servers make of them: one wait for the edits of a reply."""

from collections.abc import AsyncIterator, Iterator
from contextlib import (
    AbstractAsyncContextManager,
    AbstractContextManager,
    asynccontextmanager,
    contextmanager,
    nullcontext,
)
from dataclasses import replace
from pathlib import Path
from typing import Protocol

from coder_tui.agent.diagnostics.format import counts_of, unchecked_words
from coder_tui.agent.diagnostics.session import ProblemDesk
from coder_tui.lsp.file_checks import NO_SERVER
from coder_tui.lsp.report import IS_UNCHECKED, Report, for_model
from coder_tui.protocol.diagnostics import IS_AWAITED, ServerStatus
from coder_tui.tools.base import Access, JsonObject, ToolResult

FIELD, LATE = "diagnostics", "late_diagnostics"
PUT_OFF: JsonObject = {
    "server_status": str(ServerStatus.PENDING),
    "note": "not checked yet; told with the last edit of this reply",
}
_UNKNOWN = "problems not known yet"


class EditProblems(Protocol):
    """What stands between an edit and its result."""

    def declared(self, call_id: str, access: Access | None) -> AbstractContextManager[None]:
        """While a call is decided on, what it would write can be checked."""

    def writing(self, access: Access | None, *, more_follow: bool) -> AbstractAsyncContextManager[None]:
        """While a call does its work, servers can think about what it will have written."""

    def edited(self, access: Access | None, result: ToolResult) -> AbstractContextManager[None]:
        """Take note of an edit; within, that its files changed is no news to the servers."""

    async def told(self, result: ToolResult, *, more_follow: bool) -> ToolResult:
        """With what is known of the edits so far; `more_follow` puts that off to a later edit."""


class NoEditProblems:
    """Where there are no language servers."""

    def declared(self, call_id: str, access: Access | None) -> AbstractContextManager[None]:
        return nullcontext()

    def writing(self, access: Access | None, *, more_follow: bool) -> AbstractAsyncContextManager[None]:
        return nullcontext()

    def edited(self, access: Access | None, result: ToolResult) -> AbstractContextManager[None]:
        return nullcontext()

    async def told(self, result: ToolResult, *, more_follow: bool) -> ToolResult:
        return result


class AgentEdits:
    """Of one agent, whose edits come one after the other."""

    def __init__(self, desk: ProblemDesk) -> None:
        self._desk = desk
        self._put_off: dict[Path, str] = {}
        self._is_promised = False
        self._expected: Path | None = None
        desk.agents.add(self)

    @contextmanager
    def declared(self, call_id: str, access: Access | None) -> Iterator[None]:
        if access is None or not access.proposed:
            yield
            return
        self._desk.proposals[call_id] = access.proposed
        try:
            yield
        finally:
            del self._desk.proposals[call_id]

    @asynccontextmanager
    async def writing(self, access: Access | None, *, more_follow: bool) -> AsyncIterator[None]:
        texts = access.proposed if access else ()
        try:
            # What servers say of one file while others of the same reply change would not hold.
            if len(texts) == 1 and texts[0].after is not None and not more_follow and not self._put_off:
                self._expected = texts[0].path
                await self._desk.expect(texts[0].path, texts[0].after)
            yield
        except BaseException:
            self._forget_expected()
            raise

    @contextmanager
    def edited(self, access: Access | None, result: ToolResult) -> Iterator[None]:
        texts = access.proposed if access and result.changed_paths else ()
        for text in texts:
            self._put_off.setdefault(text.path, text.before or "")
        own = result.changed_paths if texts else ()
        with self._desk.known(own):
            yield

    async def told(self, result: ToolResult, *, more_follow: bool) -> ToolResult:
        fields: JsonObject = {}
        summary = result.summary
        if self._expected not in self._put_off:
            self._forget_expected()
        if self._put_off and more_follow:
            if result.changed_paths:
                fields[FIELD] = PUT_OFF
                self._is_promised = True
        elif self._put_off:
            edits, self._put_off, self._expected = self._put_off, {}, None
            report = await self._desk.after_edits(edits, self)
            fields |= self._field(report, tuple(edits))
            summary = "  ".join(filter(None, (summary, _words(report))))
        if (late := self._desk.take_late(self)) is not None:
            fields[LATE] = for_model(late)
        if not fields:
            return result
        return replace(result, for_model={**result.for_model, **fields}, summary=summary)

    def _forget_expected(self) -> None:
        if self._expected is not None:
            self._desk.unexpect(self._expected)
        self._expected = None

    def turn_ended(self) -> None:
        """The turn was cut off before the last edit: nobody waits, but the servers have to know."""
        edits, self._put_off, self._is_promised = self._put_off, {}, False
        self._forget_expected()
        if edits:
            self._desk.changed_unseen(tuple(edits))

    def _field(self, report: Report, paths: tuple[Path, ...]) -> JsonObject:
        was_promised, self._is_promised = self._is_promised, False
        if report.status is ServerStatus.UNSUPPORTED and not report.detail and not was_promised:
            return {}
        if report.status in IS_UNCHECKED and not report.unchecked:
            fields: JsonObject = {"server_status": str(report.status)}
            # How to install it is worth telling once: whoever wants it has read it then.
            if self._desk.is_news(note := report.detail or NO_SERVER):
                fields["note"] = note
        else:
            fields = for_model(report)
        if len(paths) > 1:
            fields["files"] = [self._desk.name_of(path) for path in paths]
        return {FIELD: fields}


def _words(report: Report) -> str:
    """For the person, in the line of the call."""
    if report.is_compared and (report.is_known or report.is_known_in_part):
        return unchecked_words(str(counts_of(report)), len(report.unchecked))
    return _UNKNOWN if report.status in IS_AWAITED else ""
