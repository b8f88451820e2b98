"""Our side of a conversation with one language server: what it can do, and an answer to all it asks.

What the program tells a language server of itself, as it goes over the wire.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from coder_tui import __version__
from coder_tui.lsp.document import PositionEncoding
from coder_tui.lsp.peer import GoneError, UnknownRequestError
from coder_tui.lsp.wire import JsonObject, ServerOrder

_SYMBOL_KINDS = list(range(1, 27))
_CAPABILITIES: JsonObject = {
    # In code points nothing has to be counted anew, so those first.
    "general": {"positionEncodings": [PositionEncoding.UTF32, PositionEncoding.UTF8, PositionEncoding.UTF16]},
    "textDocument": {
        "synchronization": {"dynamicRegistration": True, "didSave": True},
        "publishDiagnostics": {"versionSupport": True, "tagSupport": {"valueSet": [1, 2]}},
        "diagnostic": {"dynamicRegistration": True, "relatedDocumentSupport": False},
        "definition": {"dynamicRegistration": True, "linkSupport": True},
        "references": {"dynamicRegistration": True},
        "hover": {"dynamicRegistration": True, "contentFormat": ["markdown", "plaintext"]},
        "documentSymbol": {
            "dynamicRegistration": True,
            "hierarchicalDocumentSymbolSupport": True,
            "symbolKind": {"valueSet": _SYMBOL_KINDS},
        },
    },
    "workspace": {
        "applyEdit": False,
        "configuration": True,
        "workspaceFolders": True,
        "didChangeConfiguration": {"dynamicRegistration": True},
        "didChangeWatchedFiles": {"dynamicRegistration": True},
        "diagnostics": {"refreshSupport": True},
        "symbol": {"dynamicRegistration": True, "symbolKind": {"valueSet": _SYMBOL_KINDS}},
    },
    "window": {"workDoneProgress": True},
}


def initialize_params(order: ServerOrder) -> JsonObject:
    root = Path(order.root).as_uri()
    return {
        # The server has process ids of its own where it is confined: ours would look dead to it.
        "processId": None,
        "clientInfo": {"name": "coder-tui", "version": __version__},
        "rootPath": order.root,
        "rootUri": root,
        "workspaceFolders": workspace_folders(order.root),
        "capabilities": _CAPABILITIES,
        "initializationOptions": order.initialization,
    }


def workspace_folders(root: str) -> list[JsonObject]:
    return [{"uri": Path(root).as_uri(), "name": Path(root).name or root}]


def setting_for(settings: JsonObject, section: str) -> Any:
    """The part of the settings that a dotted section names; None where there is none."""
    found: Any = settings
    for name in section.split(".") if section else ():
        if not isinstance(found, dict) or name not in found:
            return None
        found = found[name]
    return found or None


PULL = "textDocument/diagnostic"
TSSERVER = "typescript.tsserverRequest"
_PROVIDERS = {
    PULL: "diagnosticProvider",
    "textDocument/definition": "definitionProvider",
    "textDocument/references": "referencesProvider",
    "textDocument/hover": "hoverProvider",
    "textDocument/documentSymbol": "documentSymbolProvider",
    "workspace/symbol": "workspaceSymbolProvider",
}
_LONGEST_WORDS = 200
_SAVED = "textDocument/didSave"
_PUBLISHED = "textDocument/publishDiagnostics"
# They ask the program to draw something anew, or to remember a token: there is nothing to do.
_ACKNOWLEDGED = frozenset(
    {
        "window/workDoneProgress/create",
        "window/showMessageRequest",
        "workspace/codeLens/refresh",
        "workspace/foldingRange/refresh",
        "workspace/inlayHint/refresh",
        "workspace/inlineValue/refresh",
        "workspace/semanticTokens/refresh",
        "workspace/textDocumentContent/refresh",
    }
)


@dataclass(frozen=True, slots=True)
class Listener:
    """Who is told of what the server says by itself."""

    published: Callable[[str, int | None, Any], None]
    """The address of a file, the version it is about where the server says so, and its findings."""
    changed: Callable[[], None]
    """What the server can do is not what it was."""
    refresh: Callable[[], None]
    """What the server said of any file may not hold any more."""


class Conversation:
    """Knows the server's capabilities, those it began with and those that it registered later."""

    def __init__(self, order: ServerOrder, listener: Listener) -> None:
        self._order = order
        self._listener = listener
        self._static: JsonObject = {}
        self._registered: dict[str, tuple[str, JsonObject]] = {}
        self.encoding = PositionEncoding.UTF16
        self.doing = ""
        """What the server says that it is busy with."""
        self.trouble = ""
        """Why something that it sent could not be read."""
        self.has_garbled = asyncio.Event()

    def begin(self, result: Any) -> None:
        """Take the answer to `initialize`; `GoneError` where there is no going on with it."""
        told = {} if result is None else result
        capabilities = (told.get("capabilities") or {}) if isinstance(told, dict) else told
        if not isinstance(capabilities, dict):
            raise GoneError("it does not say what it can do")
        # A server that does not say which counts as the protocol's first version did.
        encoding = capabilities.get("positionEncoding") or PositionEncoding.UTF16
        if encoding not in list(PositionEncoding):
            raise GoneError(f"it counts characters in a way that was not offered: {str(encoding)[:40]}")
        self._static, self.encoding = capabilities, PositionEncoding(encoding)

    def can(self, method: str) -> bool:
        is_static = self._static.get(_PROVIDERS[method], False) not in (False, None)
        return is_static or bool(self._registrations(method))

    @property
    def can_pull(self) -> bool:
        return self.can(PULL)

    @property
    def asks_tsserver(self) -> bool:
        provider = self._static.get("executeCommandProvider") or {}
        return TSSERVER in provider.get("commands", ())

    @property
    def wants_saves(self) -> bool:
        sync = self._static.get("textDocumentSync")
        if self._registrations(_SAVED):
            return True
        # The number alone says nothing of saving; servers that use it expect to be told.
        return sync.get("save") not in (None, False) if isinstance(sync, dict) else sync is not None

    @property
    def wants_saved_text(self) -> bool:
        sync = self._static.get("textDocumentSync")
        save = sync.get("save") if isinstance(sync, dict) else None
        told = (*self._registrations(_SAVED), *((save,) if isinstance(save, dict) else ()))
        return any(options.get("includeText") for options in told)

    @property
    def looks_at_other_files(self) -> bool:
        """Whether what it says of a file may depend on others; one that publishes does not tell."""
        return not self.can_pull or self._pull_options().get("interFileDependencies") is not False

    def pull_identifier(self) -> str | None:
        return self._pull_options().get("identifier")

    def _pull_options(self) -> JsonObject:
        named = self._registrations(PULL)
        static = self._static.get(_PROVIDERS[PULL])
        return named[0] if named else static if isinstance(static, dict) else {}

    def answer(self, method: str, params: Any) -> Any:
        match method:
            case "workspace/configuration":
                return [
                    setting_for(self._order.settings, item.get("section") or "") for item in params["items"]
                ]
            case "workspace/workspaceFolders":
                return workspace_folders(self._order.root)
            case "client/registerCapability":
                for item in params["registrations"]:
                    options = item.get("registerOptions")
                    self._registered[item["id"]] = (
                        item["method"],
                        options if isinstance(options, dict) else {},
                    )
                self._listener.changed()
                return None
            case "client/unregisterCapability":
                # The protocol's own spelling.
                for item in params["unregisterations"]:
                    self._registered.pop(item["id"], None)
                self._listener.changed()
                return None
            case "workspace/applyEdit":
                return {"applied": False, "failureReason": "changes are made by the person's leave only"}
            case "window/showDocument":
                return {"success": False}
            case "workspace/diagnostic/refresh":
                self._listener.refresh()
                return None
        if method in _ACKNOWLEDGED:
            return None
        raise UnknownRequestError(method)

    def hear(self, method: str, params: Any) -> None:
        if not isinstance(params, dict):
            return
        if method == _PUBLISHED:
            self._listener.published(params["uri"], params.get("version"), params["diagnostics"])
        elif method == "$/progress":
            self._note_progress(params.get("value"))

    def _registrations(self, method: str) -> list[JsonObject]:
        """The options of each."""
        return [options for name, options in self._registered.values() if name == method]

    def garbled(self, reason: str) -> None:
        self.trouble = reason[:_LONGEST_WORDS]
        self.has_garbled.set()

    def _note_progress(self, value: Any) -> None:
        if not isinstance(value, dict):
            return
        if value.get("kind") == "end":
            self.doing = ""
        else:
            said = (value.get("title") or self.doing, value.get("message") or "")
            self.doing = " ".join(word for word in said if word)[:_LONGEST_WORDS]
