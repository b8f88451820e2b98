"""What the program tells a language server of itself, as it goes over the wire."""

from pathlib import Path
from typing import Any

from coder_tui import __version__
from coder_tui.lsp.positions import PositionEncoding
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
