"""Brings what the session changed to the screen: asked for anew after each change, compared off the loop."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from coder_tui.diffs.compare import compare
from coder_tui.diffs.model import Comparison, FileState
from coder_tui.protocol.errors import ToolError, UserError
from coder_tui.workspace.changed_files import ChangedFile
from coder_tui.workspace.confine import Located
from coder_tui.workspace.files import decode

_TOO_LARGE = "too large to show, or too old"


class ChangesSource(Protocol):
    """What a session tells of its changes."""

    @property
    def directory(self) -> Path: ...

    @property
    def turn(self) -> int: ...

    async def changed_files(self, since_turn: int = 1) -> tuple[ChangedFile, ...]: ...


@dataclass(frozen=True, slots=True)
class ShownChange:
    """A changed file with its two versions compared; a file that is no text has notes and no hunks."""

    path: Path
    turn: int
    comparison: Comparison


class ChangesFeed:
    """`is_turn_only` asks for what the newest turn did; `show` gets all of it, `fail` a sentence."""

    def __init__(
        self,
        session: ChangesSource,
        show: Callable[[tuple[ShownChange, ...]], None],
        fail: Callable[[str], None],
    ) -> None:
        self._session = session
        self._show = show
        self._fail = fail
        self._known: dict[Path, tuple[ChangedFile, ShownChange]] = {}
        self._is_reading = False
        self._is_stale = False
        self.is_turn_only = False

    async def read(self) -> None:
        """Once more at the end where something changed meanwhile; any number of calls cost one reading."""
        self._is_stale = True
        if self._is_reading:
            return
        self._is_reading = True
        try:
            while self._is_stale:
                self._is_stale = False
                self._show(await self._compared())
        except UserError as error:
            self._fail(f"The changes cannot be shown: {error}")
        finally:
            self._is_reading = False

    async def _compared(self) -> tuple[ShownChange, ...]:
        since = max(1, self._session.turn) if self.is_turn_only else 1
        files = await self._session.changed_files(since)
        fresh = [file for file in files if self._known.get(file.path, (None,))[0] != file]
        shown = await asyncio.to_thread(
            lambda: [shown_change(each, self._session.directory) for each in fresh]
        )
        self._known.update({file.path: (file, each) for file, each in zip(fresh, shown, strict=True)})
        return tuple(self._known[file.path][1] for file in files)


def shown_change(file: ChangedFile, root: Path) -> ShownChange:
    name = str(file.path.relative_to(root)) if file.path.is_relative_to(root) else str(file.path)
    return ShownChange(file.path, file.turn, _comparison(file, name))


def _comparison(file: ChangedFile, name: str) -> Comparison:
    if file.is_too_large:
        return Comparison(name, (), (), notes=(_TOO_LARGE,))
    try:
        return compare(_text(file.before, file.path), _text(file.after, file.path), name)
    except ToolError as error:
        return Comparison(name, (), (), _state(file), notes=(error.message,))


def _text(data: bytes | None, path: Path) -> str | None:
    if data is None:
        return None
    return decode(data, Located(path, path.name, is_inside=True, escapes_by_link=False)).shown


def _state(file: ChangedFile) -> FileState:
    if file.before is None:
        return FileState.CREATED
    return FileState.DELETED if file.after is None else FileState.CHANGED
