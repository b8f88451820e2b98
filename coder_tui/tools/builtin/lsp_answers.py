"""What tools that ask language servers share: the file, failures with a way out, places for models."""

from collections.abc import Iterable

from coder_tui.lsp.document import path_of
from coder_tui.lsp.wire import LARGEST_TEXT, Place, Symbol
from coder_tui.protocol.diagnostics import ServerStatus
from coder_tui.protocol.errors import ErrorType, ToolError
from coder_tui.tools.base import JsonObject, ToolContext
from coder_tui.tools.builtin.approved import locate_approved
from coder_tui.workspace.confine import Located, Workspace
from coder_tui.workspace.files import load

NOT_YET = "not yet known; this does not mean that there is nothing"
_FAILURES = {
    ServerStatus.NOT_INSTALLED: ErrorType.NOT_INSTALLED,
    ServerStatus.UNSUPPORTED: ErrorType.NOT_INSTALLED,
    ServerStatus.UNTRUSTED: ErrorType.PERMISSION_DENIED,
    ServerStatus.CRASHED: ErrorType.EXECUTION_FAILED,
    ServerStatus.STARTING: ErrorType.TIMEOUT,
    ServerStatus.PENDING: ErrorType.TIMEOUT,
}
_MESSAGES = {
    ServerStatus.NOT_INSTALLED: "There is no language server for {shown}.",
    ServerStatus.UNSUPPORTED: "No language server can tell that of {shown}.",
    ServerStatus.UNTRUSTED: "Language servers do not run here.",
    ServerStatus.CRASHED: "The language server for {shown} failed.",
    ServerStatus.STARTING: "The language server for {shown} is still starting: " + NOT_YET + ".",
    ServerStatus.PENDING: "The language server has not answered about {shown}: " + NOT_YET + ".",
}


async def read_for_servers(workspace: Workspace, path: str, ctx: ToolContext) -> tuple[Located, str]:
    """The approved file's place and text."""
    located = locate_approved(workspace, path, ctx)
    file = await load(located)
    if len(file.text) > LARGEST_TEXT:
        message = f"{located.shown} is too large for language servers."
        raise ToolError(ErrorType.TOO_LARGE, message, "Use grep and read.", {"path": located.shown})
    return located, file.shown


def unanswered(status: ServerStatus, shown: str, detail: str, fallback: str) -> ToolError:
    """Why there is no answer, what to do about it, and what to do without."""
    hint = f"{detail}. Without a server: {fallback}." if detail else f"Without a server: {fallback}."
    return ToolError(
        _FAILURES.get(status, ErrorType.NO_MATCH),
        _MESSAGES.get(status, "The language server has no answer for this place in {shown}.").format(
            shown=shown
        ),
        # A program's name, with which the first begins, has no capital.
        hint if status is ServerStatus.NOT_INSTALLED else f"{hint[0].upper()}{hint[1:]}",
        {"server_status": str(status), "fallback": fallback},
    )


def place_json(place: Place, workspace: Workspace) -> JsonObject:
    fields: JsonObject = {
        "uri": place.uri,
        "range": {
            "start": {"line": place.line, "character": place.character},
            "end": {"line": place.end_line, "character": place.end_character},
        },
        "path": shown_place(place, workspace),
    }
    if place.text:
        fields["text"] = place.text
    return fields


def symbol_json(symbol: Symbol, workspace: Workspace) -> JsonObject:
    fields: JsonObject = {"name": symbol.name, "kind": symbol.kind}
    if symbol.container:
        fields["container"] = symbol.container
    place = symbol.place
    return {
        **fields,
        "path": shown_place(place, workspace),
        "line": place.line,
        "character": place.character,
    }


def shown_place(place: Place, workspace: Workspace) -> str:
    """As files are named in this session; the address itself for what is no file."""
    path = path_of(place.uri)
    return workspace.locate(path).shown if path else place.uri


def places_text(places: Iterable[Place], workspace: Workspace) -> str:
    """For a person, who counts from 1."""
    return "\n".join(
        f"{shown_place(place, workspace)}:{place.line + 1}:{place.character + 1}  {place.text}".rstrip()
        for place in places
    )
