"""Asks a language server about a place in a file, and tells its answer in characters."""

import asyncio
import stat
from collections.abc import Callable
from dataclasses import replace
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
from coder_tui.lsp.peer import GoneError, NotAnsweredError, RefusedError
from coder_tui.lsp.replies import contents, places, symbols
from coder_tui.lsp.server import Run
from coder_tui.lsp.wire import LARGEST_TEXT, Answered, JsonObject, Place, Question
from coder_tui.policy.paths import is_secret
from coder_tui.protocol.diagnostics import ServerStatus

MOST_PLACES = 500
_SHORTEST_PAUSE, _LONGEST_PAUSE = 0.1, 1.0


class Asker:
    def __init__(self, checker: Checker) -> None:
        self._checker = checker

    async def ask(
        self,
        question: Question,
        seconds: float,
        *,
        path: str = "",
        text: str = "",
        language: str = "",
        line: int = 0,
        character: int = 0,
        query: str = "",
    ) -> Answered:
        """The file, where there is one, is put before the server as `text` first."""
        deadline = asyncio.get_running_loop().time() + seconds
        if path:
            self._checker.put(path, text, language)
        run = await self._checker.life.running(deadline)
        if run is None:
            return Answered(self._checker.life.status, detail=self._checker.life.detail)
        if not run.conversation.can(question):
            return Answered(ServerStatus.UNSUPPORTED, is_able=False)
        units = to_units(line_at(lines_of(text), line), character, run.conversation.encoding)
        params = _params(question, path, line, units, query)
        try:
            result = await _reply(run, question, params, deadline)
        except NotAnsweredError:
            return Answered(ServerStatus.PENDING, detail=run.conversation.doing)
        except RefusedError as error:
            # It works, and does not say: that is no empty answer.
            return Answered(ServerStatus.PENDING, detail=f"it refused: {error}")
        except GoneError as error:
            return Answered(ServerStatus.CRASHED, detail=str(error))
        return await self._answered(run, question, result, uri_of(path) if path else "")

    async def _answered(self, run: Run, question: Question, result: Any, uri: str) -> Answered:
        match question:
            case Question.HOVER:
                return Answered(ServerStatus.FRESH, contents=contents(result))
            case Question.DEFINITION | Question.REFERENCES:
                found = places(result)[:MOST_PLACES]
                return Answered(ServerStatus.FRESH, places=await self._in_characters(run, found))
            case Question.SYMBOLS | Question.WORKSPACE_SYMBOLS:
                named = symbols(result, uri)[:MOST_PLACES]
                told = await self._in_characters(run, tuple(symbol.place for symbol in named))
                pairs = zip(named, told, strict=True)
                return Answered(
                    ServerStatus.FRESH, symbols=tuple(replace(symbol, place=place) for symbol, place in pairs)
                )

    async def _in_characters(self, run: Run, found: tuple[Place, ...]) -> tuple[Place, ...]:
        return await asyncio.to_thread(
            places_in_characters,
            found,
            self._checker.text_of,
            self._checker.order.root,
            run.conversation.encoding,
        )


async def _reply(run: Run, question: Question, params: JsonObject, deadline: float) -> Any:
    loop = asyncio.get_running_loop()
    pause = _SHORTEST_PAUSE
    while True:
        try:
            return await run.client.request(question, params, max(deadline - loop.time(), _SHORTEST_PAUSE))
        except RefusedError as error:
            if not error.asks_for_another_try or loop.time() + pause > deadline:
                raise
        await asyncio.sleep(pause)
        pause = min(2 * pause, _LONGEST_PAUSE)


def _params(question: Question, path: str, line: int, units: int, query: str) -> JsonObject:
    if question is Question.WORKSPACE_SYMBOLS:
        return {"query": query}
    params: JsonObject = {"textDocument": {"uri": uri_of(path)}}
    if question is not Question.SYMBOLS:
        params["position"] = {"line": line, "character": units}
    if question is Question.REFERENCES:
        params["context"] = {"includeDeclaration": True}
    return params


def places_in_characters(
    found: tuple[Place, ...],
    text_of: Callable[[str], str | None],
    root: str,
    encoding: PositionEncoding,
) -> tuple[Place, ...]:
    """From the server's units; each file is read once. Blocks."""
    rulers: dict[str, Ruler | None] = {}
    told: list[Place] = []
    for place in found:
        path = path_of(place.uri)
        if path not in rulers:
            open_text = text_of(path)
            text = open_text if open_text is not None else _read(path)
            rulers[path] = None if text is None else Ruler(text, encoding)
        converted = place_in_characters(place, rulers[path])
        # A server may name any file: what stands in others than the project's own is not for the model.
        is_shown = Path(path).is_relative_to(root) and not is_secret(path)
        told.append(converted if is_shown else replace(converted, text=""))
    return tuple(told)


def _read(path: str) -> str | None:
    """The text of a regular file of a usual size; None for all else."""
    try:
        status = Path(path).stat()
        if not stat.S_ISREG(status.st_mode) or status.st_size > LARGEST_TEXT:
            return None
        return Path(path).read_text(encoding="utf-8", errors="replace")
    except (OSError, ValueError):
        return None
