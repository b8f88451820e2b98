"""Asks a language server about a place in a file, and converts its answer to characters."""

import asyncio
import stat
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from coder_tui.lsp.checker import Checker
from coder_tui.lsp.document import (
    PositionEncoding,
    Ruler,
    line_at,
    lines_of,
    path_of,
    place_in_characters,
    to_units,
    uri_of,
)
from coder_tui.lsp.replies import contents, places, symbols
from coder_tui.lsp.server import Run
from coder_tui.lsp.server_session import GoneError, NotAnsweredError, RefusedError
from coder_tui.lsp.wire import LARGEST_TEXT, Answered, Place, Question
from coder_tui.policy.paths import is_secret
from coder_tui.protocol.diagnostics import ServerStatus
from coder_tui.shell.hosts.link import JsonObject

MOST_PLACES = 500
_SHORTEST_PAUSE, _LONGEST_PAUSE = 0.1, 1.0


@dataclass(frozen=True, slots=True)
class Inquiry:
    """A question as it is sent to the host; if it names a file, the server gets `text` first."""

    question: Question
    seconds: float
    path: str = ""
    text: str = ""
    language: str = ""
    line: int = 0
    character: int = 0
    query: str = ""


class Asker:
    def __init__(self, checker: Checker) -> None:
        self._checker = checker

    async def ask(self, asked: Inquiry) -> Answered:
        deadline = asyncio.get_running_loop().time() + asked.seconds
        if asked.path:
            self._checker.put(asked.path, asked.text, asked.language)
        run = await self._checker.life.running(deadline)
        if run is None:
            return Answered(self._checker.life.status, detail=self._checker.life.detail)
        if not run.session.can(asked.question):
            return Answered(ServerStatus.UNSUPPORTED, is_able=False)
        line = line_at(lines_of(asked.text), asked.line)
        params = _params(asked, to_units(line, asked.character, run.session.encoding))
        try:
            result = await _reply(run, asked.question, params, deadline)
        except NotAnsweredError:
            return Answered(ServerStatus.PENDING, detail=run.session.doing)
        except RefusedError as error:
            # The server works but refuses; that is not an empty answer.
            return Answered(ServerStatus.PENDING, detail=f"it refused: {error}")
        except GoneError as error:
            return Answered(ServerStatus.CRASHED, detail=str(error))
        return await self._answered(run, asked.question, result, uri_of(asked.path) if asked.path else "")

    async def _answered(self, run: Run, question: Question, result: Any, uri: str) -> Answered:
        match question:
            case Question.HOVER:
                return Answered(ServerStatus.FRESH, contents=contents(result))
            case Question.DEFINITION | Question.REFERENCES:
                found = places(result)[:MOST_PLACES]
                return Answered(ServerStatus.FRESH, places=await self._in_characters(run, found))
            case Question.SYMBOLS | Question.WORKSPACE_SYMBOLS:
                named = symbols(result, uri)[:MOST_PLACES]
                found_places = await self._in_characters(run, tuple(symbol.place for symbol in named))
                pairs = zip(named, found_places, strict=True)
                return Answered(
                    ServerStatus.FRESH, symbols=tuple(replace(symbol, place=place) for symbol, place in pairs)
                )

    async def _in_characters(self, run: Run, found: tuple[Place, ...]) -> tuple[Place, ...]:
        return await asyncio.to_thread(
            places_in_characters,
            found,
            self._checker.text_of,
            self._checker.order.root,
            run.session.encoding,
        )


async def _reply(run: Run, question: Question, params: JsonObject, deadline: float) -> Any:
    loop = asyncio.get_running_loop()
    pause = _SHORTEST_PAUSE
    while True:
        try:
            return await run.client.request(question, params, max(deadline - loop.time(), _SHORTEST_PAUSE))
        except RefusedError as error:
            if not error.is_retryable or loop.time() + pause > deadline:
                raise
        await asyncio.sleep(pause)
        pause = min(2 * pause, _LONGEST_PAUSE)


def _params(asked: Inquiry, units: int) -> JsonObject:
    if asked.question is Question.WORKSPACE_SYMBOLS:
        return {"query": asked.query}
    params: JsonObject = {"textDocument": {"uri": uri_of(asked.path)}}
    if asked.question is not Question.SYMBOLS:
        params["position"] = {"line": asked.line, "character": units}
    if asked.question is Question.REFERENCES:
        params["context"] = {"includeDeclaration": True}
    return params


def places_in_characters(
    found: tuple[Place, ...],
    text_of: Callable[[str], str | None],
    root: str,
    encoding: PositionEncoding,
) -> tuple[Place, ...]:
    """Convert places from the server's units; each file is read once. Blocks."""
    rulers: dict[str, Ruler | None] = {}
    converted_places: list[Place] = []
    for place in found:
        path = path_of(place.uri)
        if path not in rulers:
            open_text = text_of(path)
            text = open_text if open_text is not None else _read(path)
            rulers[path] = None if text is None else Ruler(text, encoding)
        converted = place_in_characters(place, rulers[path])
        # A server may name any file; the model must not see text from outside the project.
        is_shown = Path(path).is_relative_to(root) and not is_secret(path)
        converted_places.append(converted if is_shown else replace(converted, text=""))
    return tuple(converted_places)


def _read(path: str) -> str | None:
    """Return the text of a regular file of reasonable size, or None."""
    try:
        status = Path(path).stat()
        if not stat.S_ISREG(status.st_mode) or status.st_size > LARGEST_TEXT:
            return None
        return Path(path).read_text(encoding="utf-8", errors="replace")
    except (OSError, ValueError):
        return None
