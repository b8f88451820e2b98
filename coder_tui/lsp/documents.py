"""The files that a language server has open, and the messages that keep them in sync."""

import asyncio

from coder_tui.lsp.document import Document, uri_of
from coder_tui.lsp.server import Lifecycle
from coder_tui.shell.hosts.link import JsonObject

_MOST_OPEN = 64
_GRACE = 0.5
"""Seconds in which a proposed text may still be written to the file."""
_ECHO = 2.0
"""Seconds in which a server may still report on a closed file."""


class Documents:
    """Open documents by path. What cannot be sent because the server is down is sent once it runs."""

    def __init__(self, life: Lifecycle) -> None:
        self._life = life
        self._open: dict[str, Document] = {}
        self._closed: dict[str, float] = {}
        self._uses = 0
        self._version = 0

    def get(self, path: str) -> Document | None:
        return self._open.get(path)

    def all(self) -> tuple[Document, ...]:
        return tuple(self._open.values())

    def ensure_open(self, path: str, language: str) -> Document:
        """Return the document, opening it if needed; the least recently used one is closed for it."""
        document = self._open.get(path)
        if document is None or document.language != language:
            self.close(path)
            document = self._open[path] = Document(path, uri_of(path), language)
            document.unanswered = int(_now() - self._closed.get(path, -_ECHO) < _ECHO)
        if document.closing is not None:
            document.closing.cancel()
            document.closing = None
        self._uses += 1
        document.used = self._uses
        idle = [known for known in self._open.values() if not known.waiting and known is not document]
        if idle and len(self._open) > _MOST_OPEN:
            self.close(min(idle, key=lambda known: known.used).path)
        return document

    def change(self, document: Document, text: str) -> None:
        """Set a document's text without sending it yet."""
        # Counted over all documents: a document that is reopened must not reuse its old version numbers.
        self._version += 1
        document.sent(text, self._version, _now())

    def doubt(self, spared: Document | None = None, *, spares_awaited: bool = False) -> None:
        """Mark known results of other documents as doubtful, because something changed."""
        for document in self._open.values():
            if document is not spared and not (spares_awaited and document.waiting):
                document.doubt(_now())

    def wake(self) -> None:
        """Wake everyone who waits for a document."""
        for document in self._open.values():
            document.changed.set()

    def reopen(self) -> None:
        """Send all documents again after the server restarted."""
        if self._life.run is not None:
            for document in self._open.values():
                document.forget()
                self.send(document)
        self.wake()

    def send(self, document: Document) -> None:
        named: JsonObject = {"uri": document.uri, "version": document.version}
        if document.generation == self._life.generation:
            params = {"textDocument": named, "contentChanges": [{"text": document.text}]}
            self._notify("didChange", params)
        elif self._life.run is not None:
            document.generation = self._life.generation
            # It may have waited for the server to start; that time must not count as response time.
            document.sent_at = _now()
            whole = {**named, "languageId": document.language, "text": document.text}
            self._notify("didOpen", {"textDocument": whole})

    def save(self, document: Document) -> None:
        run = self._life.run
        if run is not None and run.session.wants_saves:
            params: JsonObject = {"textDocument": {"uri": document.uri}}
            if run.session.wants_saved_text:
                params["text"] = document.text
            self._notify("didSave", params)

    def close_soon(self, path: str) -> None:
        """Close a document after a short delay, unless it is used again in the meantime."""
        document = self._open.get(path)
        if document is not None and document.closing is None:
            document.is_proposed = True
            document.closing = asyncio.get_running_loop().call_later(_GRACE, self.close, path)

    def close(self, path: str) -> None:
        document = self._open.pop(path, None)
        if document is None:
            return
        if document.closing is not None:
            document.closing.cancel()
        if document.generation == self._life.generation:
            now = _now()
            self._closed = {name: at for name, at in self._closed.items() if now - at < _ECHO} | {path: now}
            self._notify("didClose", {"textDocument": {"uri": document.uri}})

    def _notify(self, what: str, params: JsonObject) -> None:
        if self._life.run is not None:
            self._life.run.client.notify(f"textDocument/{what}", params)


def _now() -> float:
    return asyncio.get_running_loop().time()
