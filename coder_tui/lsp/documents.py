"""The files that a language server has open, and the messages that keep them as we have them."""

import asyncio
from typing import Any

from coder_tui.lsp.document import Document, uri_of
from coder_tui.lsp.server import Lifecycle

_MOST_OPEN = 64
JsonObject = dict[str, Any]


class Documents:
    """By path. What cannot be sent, as the server does not run, is sent when it does."""

    def __init__(self, life: Lifecycle) -> None:
        self._life = life
        self._open: dict[str, Document] = {}
        self._uses = 0

    def get(self, path: str) -> Document | None:
        return self._open.get(path)

    def all(self) -> tuple[Document, ...]:
        return tuple(self._open.values())

    def take(self, path: str, language: str) -> Document:
        """The document, made where there is none; the one that was not used for longest gives way."""
        document = self._open.get(path)
        if document is None or document.language != language:
            self.close(path)
            document = self._open[path] = Document(path, uri_of(path), language)
        self._uses += 1
        document.used = self._uses
        if len(self._open) > _MOST_OPEN:
            self.close(min(self._open.values(), key=lambda known: known.used).path)
        return document

    def forget_results(self, spared: Document | None = None) -> None:
        """Something changed: what was said of other texts may not hold any more."""
        for document in self._open.values():
            if document is not spared:
                document.remembered.clear()

    def wake(self) -> None:
        """Let all who wait look again."""
        for document in self._open.values():
            document.changed.set()

    def reopen(self) -> None:
        """The server ended, or runs anew and knows of nothing."""
        if self._life.run is not None:
            for document in self._open.values():
                self.send(document)
        self.wake()

    def send(self, document: Document) -> None:
        named: JsonObject = {"uri": document.uri, "version": document.version}
        if document.generation == self._life.generation:
            params = {"textDocument": named, "contentChanges": [{"text": document.text}]}
            self._notify("didChange", params)
        elif self._life.run is not None:
            document.generation = self._life.generation
            # It may have waited for the server to start, which says nothing of how long answers take.
            document.sent_at = asyncio.get_running_loop().time()
            whole = {**named, "languageId": document.language, "text": document.text}
            self._notify("didOpen", {"textDocument": whole})

    def save(self, document: Document) -> None:
        run = self._life.run
        if run is not None and run.conversation.wants_saves:
            params: JsonObject = {"textDocument": {"uri": document.uri}}
            if run.conversation.wants_saved_text:
                params["text"] = document.text
            self._notify("didSave", params)

    def close(self, path: str) -> None:
        document = self._open.pop(path, None)
        if document is not None and document.generation == self._life.generation:
            self._notify("didClose", {"textDocument": {"uri": document.uri}})

    def _notify(self, what: str, params: JsonObject) -> None:
        if self._life.run is not None:
            self._life.run.client.notify(f"textDocument/{what}", params)
