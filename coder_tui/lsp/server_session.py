"""Our side of the protocol with one language server: what the server can do, and answers to its requests.

Also the errors with which a request to a server fails.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from coder_tui import __version__
from coder_tui.lsp.document import PositionEncoding
from coder_tui.lsp.wire import ServerOrder
from coder_tui.shell.hosts.link import JsonObject

_LONGEST_ERROR = 1_000
# ContentModified and ServerCancelled: the server was busy with a change.
_RETRYABLE = frozenset({-32801, -32802})


class GoneError(Exception):
    """The server ended before it answered."""


class NotAnsweredError(Exception):
    """The server did not answer in time; a late answer is dropped."""


class RefusedError(Exception):
    """The server answered with an error, or with something that cannot be read."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message[:_LONGEST_ERROR])
        self.code = code

    @property
    def is_retryable(self) -> bool:
        return self.code in _RETRYABLE


class UnknownRequestError(Exception):
    """The server asks for something that this program does not support."""


_SYMBOL_KINDS = list(range(1, 27))
_CAPABILITIES: JsonObject = {
    # Code points need no conversion, so they come first.
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
        # A confined server has its own process ids: ours would look dead to it.
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
    """Return the part of the settings that a dotted section names, or None."""
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
# Requests to redraw something or to remember a token: nothing to do.
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
    """Callbacks for what the server sends unasked."""

    published: Callable[[str, int | None, Any], None]
    """Called with a file's URI, the version if the server names one, and the findings."""
    changed: Callable[[], None]
    """Called when the server's capabilities change."""
    refresh: Callable[[], None]
    """Called when earlier findings of any file may be outdated."""


class ServerSession:
    """Knows the server's capabilities, initial ones and those registered later, and answers its requests.

    All methods are called in the event loop and must not block.
    """

    def __init__(self, order: ServerOrder, listener: Listener) -> None:
        self._order = order
        self._listener = listener
        self._static: JsonObject = {}
        self._registered: dict[str, tuple[str, JsonObject]] = {}
        self.encoding = PositionEncoding.UTF16
        self.doing = ""
        """What the server says it is busy with."""
        self.protocol_error = ""
        """Why something that the server sent could not be read."""
        self.has_protocol_error = asyncio.Event()

    def begin(self, result: Any) -> None:
        """Read the answer to `initialize`; raise `GoneError` if it is unusable."""
        answer = {} if result is None else result
        capabilities = (answer.get("capabilities") or {}) if isinstance(answer, dict) else answer
        if not isinstance(capabilities, dict):
            raise GoneError("its answer to `initialize` has no capabilities")
        # Without a choice the protocol's default applies.
        encoding = capabilities.get("positionEncoding") or PositionEncoding.UTF16
        if encoding not in list(PositionEncoding):
            raise GoneError(f"it chose a position encoding that was not offered: {str(encoding)[:40]}")
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
        # A bare number does not mention saves; servers that send one expect save notifications.
        return sync.get("save") not in (None, False) if isinstance(sync, dict) else sync is not None

    @property
    def wants_saved_text(self) -> bool:
        sync = self._static.get("textDocumentSync")
        save = sync.get("save") if isinstance(sync, dict) else None
        registered = (*self._registrations(_SAVED), *((save,) if isinstance(save, dict) else ()))
        return any(options.get("includeText") for options in registered)

    @property
    def looks_at_other_files(self) -> bool:
        """Whether a file's findings may depend on other files; assumed for servers that only publish."""
        return not self.can_pull or self._pull_options().get("interFileDependencies") is not False

    def pull_identifier(self) -> str | None:
        return self._pull_options().get("identifier")

    def _pull_options(self) -> JsonObject:
        named = self._registrations(PULL)
        static = self._static.get(_PROVIDERS[PULL])
        return named[0] if named else static if isinstance(static, dict) else {}

    def answer_request(self, method: str, params: Any) -> Any:
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
                return {"applied": False, "failureReason": "the user approves all changes"}
            case "window/showDocument":
                return {"success": False}
            case "workspace/diagnostic/refresh":
                self._listener.refresh()
                return None
        if method in _ACKNOWLEDGED:
            return None
        raise UnknownRequestError(method)

    def handle_notification(self, method: str, params: Any) -> None:
        if not isinstance(params, dict):
            return
        if method == _PUBLISHED:
            self._listener.published(params["uri"], params.get("version"), params["diagnostics"])
        elif method == "$/progress":
            self._note_progress(params.get("value"))

    def _registrations(self, method: str) -> list[JsonObject]:
        """Return the options of each registration."""
        return [options for name, options in self._registered.values() if name == method]

    def report_protocol_error(self, reason: str) -> None:
        self.protocol_error = reason[:_LONGEST_WORDS]
        self.has_protocol_error.set()

    def _note_progress(self, value: Any) -> None:
        if not isinstance(value, dict):
            return
        if value.get("kind") == "end":
            self.doing = ""
        else:
            said = (value.get("title") or self.doing, value.get("message") or "")
            self.doing = " ".join(word for word in said if word)[:_LONGEST_WORDS]
