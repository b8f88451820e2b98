"""A place in a file as a model names it: line and character from 0, or a symbol that stands there."""

import re
from dataclasses import dataclass
from typing import Self

from pydantic import Field, model_validator

from coder_tui.lsp.positions import lines_of
from coder_tui.protocol.errors import ErrorType, ToolError
from coder_tui.tools.base import Params

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
