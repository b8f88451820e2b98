"""Sends texts to a language server and waits for its report; "unknown" never counts as "clean".

Learns from earlier answers how long to wait for a server.
"""

import asyncio
import contextlib
from collections import deque
from collections.abc import Callable
from typing import Any

from coder_tui.lsp.document import Document, in_characters, path_of, uri_of
from coder_tui.lsp.documents import Documents
from coder_tui.lsp.replies import findings
from coder_tui.lsp.server import Lifecycle, Run
from coder_tui.lsp.server_session import PULL, TSSERVER, GoneError, Listener, NotAnsweredError, RefusedError
from coder_tui.lsp.wire import Checked, Finding, Published, ServerOrder, StateChanged
from coder_tui.protocol.diagnostics import ServerStatus
from coder_tui.shell.sandbox.sandbox import Sandbox

FIRST_RESULT = 8.0
SHORTEST, LONGEST = 1.0, 5.0
VERSIONED_QUIET, UNVERSIONED_QUIET = 0.15, 0.3
_REMEMBERED = 20
_MULTIPLE = 4.0
_ENOUGH_SINGLE = 2


class ResponseTimes:
    """How fast and in which way one server in one folder answers."""

    def __init__(self) -> None:
        self._durations: deque[float] = deque(maxlen=_REMEMBERED)
        self._single = 0
        self._has_repeated = False
        self.names_versions = False
        """Whether it says which version of a text a report is about."""
        self.pushes_and_pulls = False
        """Whether it publishes some findings and returns others on request."""

    def record(self, seconds: float) -> None:
        """Record how long after its text a result came."""
        self._durations.append(seconds)

    @property
    def budget(self) -> float:
        """How long an edit waits: four times the usual, within limits; a first result may take longer."""
        if not self._durations:
            return FIRST_RESULT
        return min(max(_MULTIPLE * self.usual, SHORTEST), LONGEST)

    @property
    def usual(self) -> float:
        """Seconds within which 95 percent of the results came."""
        if not self._durations:
            return SHORTEST
        ordered = sorted(self._durations)
        return ordered[min(len(ordered) - 1, int(len(ordered) * 0.95))]

    def record_pushes(self, times: int) -> None:
        """Record how often a finished version was published."""
        if times == 1:
            self._single += 1
        elif times > 1:
            self._has_repeated = True

    def quiet(self, *, is_versioned: bool, is_overlapping: bool) -> float:
        """Return how long the server must be silent before a published result counts as complete.

        `is_overlapping` means that an earlier text is still unanswered: without versions it is unknown
        which of the two a result is about.
        """
        publishes_once = self._single >= _ENOUGH_SINGLE and not self._has_repeated
        if publishes_once and (is_versioned or not is_overlapping):
            return 0.0
        return VERSIONED_QUIET if is_versioned else UNVERSIONED_QUIET


_TSSERVER_KINDS = ("syntacticDiagnosticsSync", "semanticDiagnosticsSync", "suggestionDiagnosticsSync")
_AGAIN_PAUSE = 0.05
_REFRESH_PAUSE = 0.5
_BUSY_PAUSE = 0.1


class Checker:
    """The documents of one server. `tell` is called with every report on a text that is on disk."""

    def __init__(
        self, order: ServerOrder, sandbox: Sandbox, tell: Callable[[Published | StateChanged], None]
    ) -> None:
        self.order = order
        self._tell = tell
        self._times = ResponseTimes()
        self._refreshing: asyncio.Task[None] | None = None
        self._is_outdated = False
        listener = Listener(self._published, lambda: self._documents.wake(), self._asked_to_refresh)
        self.life = Lifecycle(order, sandbox, listener, tell, lambda: self._documents.reopen())
        self._documents = Documents(self.life)

    async def check(
        self,
        path: str,
        text: str,
        language: str,
        seconds: float | None,
        *,
        is_proposed: bool = False,
        is_saved: bool = False,
    ) -> Checked:
        """Return the server's report on this text; None for `seconds` waits the usual time."""
        deadline = _now() + (self._times.budget if seconds is None else seconds)
        document = self.put(path, text, language, is_proposed=is_proposed, is_saved=is_saved)
        version = document.version
        document.waiting += 1
        try:
            while (run := await self.life.running(deadline)) is not None:
                if await self._settled(run, document, version, deadline):
                    status = ServerStatus.LINTER_MISSING if self.order.lacks else ServerStatus.FRESH
                    return Checked(status, document.bounded(), len(document.items), self.order.lacks)
                if _now() >= deadline:
                    break
        finally:
            document.waiting -= 1
        return self._not_known(document)

    def put(
        self, path: str, text: str, language: str, *, is_proposed: bool = False, is_saved: bool = False
    ) -> Document:
        """Send the server this text, without waiting."""
        document = self._documents.ensure_open(path, language)
        was_proposed, document.is_proposed = document.is_proposed, is_proposed
        is_other = document.version == 0 or document.text != text
        if is_other:
            self._times.record_pushes(document.pushes)
            self._documents.change(document, text)
            self._doubt_others(document)
            is_recalled = document.recall()
            self._documents.send(document)
        else:
            is_recalled = document.is_known
        # Already known from the proposal: the server need not report it again.
        if is_recalled and not is_proposed and (is_other or was_proposed):
            self._announce(document)
        if is_saved:
            document.is_saved = not is_other
            self._documents.save(document)
        return document

    def close_document(self, path: str, *, is_soon_again: bool = False) -> None:
        """Close a document: the file is gone, or its proposed text may be written in a moment."""
        if is_soon_again:
            self._documents.close_soon(path)
        else:
            self._documents.close(path)

    def changed_on_disk(self, changes: list[tuple[str, int]]) -> None:
        """Notify the server of files that were created (1), changed (2) or removed (3)."""
        if any(self._documents.get(path) is None for path, _ in changes):
            # Open documents are already known by their texts.
            self._documents.doubt()
            self._refresh()
        if (run := self.life.run) is not None:
            events = [{"uri": uri_of(path), "type": kind} for path, kind in changes]
            run.client.notify("workspace/didChangeWatchedFiles", {"changes": events})

    def text_of(self, path: str) -> str | None:
        document = self._documents.get(path)
        return document.text if document else None

    async def close(self) -> None:
        if self._refreshing is not None:
            self._refreshing.cancel()
        await self.life.close()

    async def _settled(self, run: Run, document: Document, version: int, deadline: float) -> bool:
        """Wait for a report on this version or a later one; False if the time was up first."""
        counting = self._counting(run, document, deadline)
        try:
            while not document.is_settled(version) and self.life.run is run and _now() < deadline:
                document.changed.clear()
                if run.session.can_pull and not document.pull_fails and not self._lacks_push(document):
                    await self._pull(run, document, deadline)
                    continue
                rest = self._quiet_left(run, document)
                counted = counting.result() if counting.done() else None
                if document.holds(counted) or (rest <= 0 and not document.lacks(counted)):
                    self._know(document)
                    break
                await _either(document.changed, counting, min(rest, deadline - _now()))
        finally:
            counting.cancel()
        return document.is_settled(version)

    def _quiet_left(self, run: Run, document: Document) -> float:
        """Return how much longer the server must be silent; infinite while nothing came."""
        push = document.current_push()
        if push is None:
            return float("inf")
        if not push.items and run.session.doing:
            # The server says that it is still busy.
            return _BUSY_PAUSE
        doubted = document.doubted_at
        if doubted is not None and push.at <= doubted:
            # A server with nothing new to report for this file stays silent.
            return doubted + max(2 * self._times.usual, UNVERSIONED_QUIET) - _now()
        is_overlapping = document.unanswered > 0
        quiet = self._times.quiet(is_versioned=push.version is not None, is_overlapping=is_overlapping)
        end = push.at + quiet
        if is_overlapping:
            # It may answer the earlier texts first, one after the other.
            end = max(end, document.sent_at + document.queued * self._times.usual)
        return end - _now()

    def _lacks_push(self, document: Document) -> bool:
        """Return whether the pulled findings are there, but this server's published ones are missing."""
        is_half = document.has_pulled and document.doubted_at is None
        return is_half and self._times.pushes_and_pulls and document.current_push() is None

    def _doubt_others(self, document: Document) -> None:
        run = self.life.run
        if run is None or run.session.looks_at_other_files:
            self._documents.doubt(spared=document)
            if run is not None and run.session.can_pull:
                self._refresh()

    def _know(self, document: Document) -> None:
        if document.known_version < document.version:
            self._times.record(_now() - document.sent_at)
        document.know()

    async def _pull(self, run: Run, document: Document, deadline: float) -> None:
        version, doubts = document.version, document.doubts
        params: dict[str, Any] = {"textDocument": {"uri": document.uri}}
        if identifier := run.session.pull_identifier():
            params["identifier"] = identifier
        try:
            result = await run.client.request(PULL, params, max(deadline - _now(), 0.01))
            items = self._read(document, _items(result))
        except RefusedError as error:
            document.pull_fails = not error.is_retryable
            await asyncio.sleep(_AGAIN_PAUSE)
            return
        except (GoneError, NotAnsweredError):
            await asyncio.sleep(0)
            return
        if document.version == version and document.doubts == doubts:
            document.take_pull(items)
            document.doubted_at = None
            if not self._lacks_push(document):
                self._know(document)
            self._announce(document)

    def _counting(self, run: Run, document: Document, deadline: float) -> "asyncio.Future[int | None]":
        """Ask tsserver, which answers in order, how many findings are to come for this text.

        typescript-language-server names no versions and does not repeat that a file is clean.
        """
        if not run.session.asks_tsserver or document.is_known:
            return asyncio.get_running_loop().create_future()
        return asyncio.ensure_future(self._count(run, document, deadline))

    async def _count(self, run: Run, document: Document, deadline: float) -> int | None:
        count = 0
        with contextlib.suppress(GoneError, NotAnsweredError, RefusedError):
            for kind in _TSSERVER_KINDS:
                params = {"command": TSSERVER, "arguments": [kind, {"file": document.path}]}
                reply = await run.client.request("workspace/executeCommand", params, deadline - _now())
                body = reply.get("body") if isinstance(reply, dict) else None
                if not isinstance(body, list):
                    return None
                count += len(body)
            return count
        return None

    def _published(self, uri: str, version: int | None, items: Any) -> None:
        document = self._documents.get(path_of(uri))
        if document is None or document.generation != self.life.generation:
            return
        self._times.names_versions |= version is not None
        if version is None and self._times.names_versions:
            # Not about a text: the server clears the findings of a closed file.
            return
        run = self.life.run
        self._times.pushes_and_pulls |= bool(items) and run is not None and run.session.can_pull
        if document.take_push(version, self._read(document, items), _now()):
            document.changed.set()
            self._announce(document)

    def _read(self, document: Document, items: Any) -> tuple[Finding, ...]:
        run = self.life.run
        found = findings(items)
        return in_characters(found, document.text, run.session.encoding) if run else found

    def _announce(self, document: Document) -> None:
        if not document.is_proposed:
            self._tell(Published(self.order.key, document.path, document.bounded()))

    def _asked_to_refresh(self) -> None:
        self._documents.doubt(spares_awaited=True)
        self._refresh()

    def _refresh(self) -> None:
        """Pull the findings of all files again; a request while this runs causes one more round."""
        self._is_outdated = True
        if self._refreshing is None or self._refreshing.done():
            self._refreshing = asyncio.ensure_future(self._pull_again())

    async def _pull_again(self) -> None:
        """Pull one file after the other, after a pause: a server may ask for this with every change."""
        while self._is_outdated:
            await asyncio.sleep(_REFRESH_PAUSE)
            self._is_outdated = False
            for document in self._documents.all():
                run = self.life.run
                if run is not None and run.session.can_pull and document.known_version:
                    await self._pull(run, document, _now() + self._times.budget)

    def _not_known(self, document: Document) -> Checked:
        if self.life.run is None:
            return Checked(self.life.status, detail=self.life.detail)
        doing = self.life.run.session.doing
        if document.known_version:
            return Checked(ServerStatus.STALE, document.bounded(), len(document.items), doing)
        return Checked(ServerStatus.PENDING, detail=doing)


def _items(result: Any) -> Any:
    items = result.get("items") if isinstance(result, dict) else None
    if isinstance(items, list):
        return items
    # Treating this as "no findings" would call an unchecked file clean.
    raise RefusedError(0, "its answer has no list of findings")


def _now() -> float:
    return asyncio.get_running_loop().time()


async def _either(event: asyncio.Event, future: "asyncio.Future[Any]", seconds: float) -> None:
    """Wait for the event or the future, at most this long."""
    waiting: asyncio.Future[Any] = asyncio.ensure_future(event.wait())
    try:
        pending: set[asyncio.Future[Any]] = {waiting, future} if not future.done() else {waiting}
        await asyncio.wait(pending, timeout=max(seconds, 0), return_when=asyncio.FIRST_COMPLETED)
    finally:
        waiting.cancel()
