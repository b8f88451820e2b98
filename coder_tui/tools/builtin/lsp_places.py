"""What tools that ask language servers share: the file, failures with a way out, places for models.

A place in a file as a model names it: line and character from 0, or a symbol that stands there.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self

from pydantic import Field, model_validator

from coder_tui.lsp.document import lines_of, path_of
from coder_tui.lsp.wire import LARGEST_TEXT, Place, Symbol
from coder_tui.protocol.diagnostics import ServerStatus
from coder_tui.protocol.errors import ErrorType, ToolError
from coder_tui.tools.base import JsonObject, Params, ToolContext
from coder_tui.tools.editing.change import locate_approved
from coder_tui.workspace.files.confine import Located, Workspace
from coder_tui.workspace.files.text import load

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


_LONGEST_ECHO = 300


class PositionParams(Params):
    path: str
    line: int | None = Field(default=None, ge=0)
    character: int | None = Field(default=None, ge=0)
    symbol: str | None = Field(default=None, min_length=1)

    @model_validator(mode="after")
    def _names_a_place(self) -> Self:
        if self.symbol is None and (self.line is None or self.character is None):
            raise ValueError("give line and character, or symbol")
        return self

    @property
    def place(self) -> str:
        """For a person, who counts from 1."""
        if self.symbol is not None:
            return f"{self.symbol} in {self.path}"
        return f"{self.path}:{(self.line or 0) + 1}:{(self.character or 0) + 1}"


@dataclass(frozen=True, slots=True)
class Position:
    """`text` is the line, so that a model sees whether it meant this one."""

    line: int
    character: int
    text: str


def resolve(params: PositionParams, text: str) -> Position:
    lines = lines_of(text)
    if params.symbol is not None and params.character is None:
        return _by_symbol(params.symbol, params.line, lines)
    line, character = params.line or 0, params.character or 0
    if line >= len(lines):
        raise _outside("line", f"{params.path} has the lines 0 to {len(lines) - 1}")
    if character > len(lines[line]):
        raise _outside("character", f"line {line} has the characters 0 to {len(lines[line])}")
    return Position(line, character, lines[line].strip()[:_LONGEST_ECHO])


def _by_symbol(symbol: str, line: int | None, lines: list[str]) -> Position:
    # The last part of a dotted name is what it means.
    name = symbol.rpartition(".")[2] or symbol
    pattern = re.compile(rf"(?<!\w){re.escape(name)}(?!\w)")
    wanted = range(len(lines)) if line is None else range(line, min(line + 1, len(lines)))
    for number in wanted:
        if found := pattern.search(lines[number]):
            return Position(number, found.start(), lines[number].strip()[:_LONGEST_ECHO])
    where = "in the file" if line is None else f"in line {line}"
    raise ToolError(ErrorType.NO_MATCH, f"{symbol} does not stand {where}.", "Find it with grep first.")


def _outside(field: str, reason: str) -> ToolError:
    return ToolError(ErrorType.INVALID_TOOL_PARAMS, f"invalid args: {field}: {reason}, counted from 0")
