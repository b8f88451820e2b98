"""What a session did to each file, from its first change to its last, for display and review.

Also exports files that an undo removed although they may be the user's, because they changed while a command
ran.
"""

import asyncio
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from coder_tui.protocol.errors import StorageError
from coder_tui.storage.blobs import BlobStore, GoneError
from coder_tui.storage.manifest import Change, FileKind, FileState

MOST_BYTES = 5_000_000


@dataclass(frozen=True, slots=True)
class ChangedFile:
    """`before` and `after` are None if there was no file; `turn` is the last that changed it.

    With `is_too_large` there is too much to show, or no copy any more, and both are None. `mode_before` is
    the mode of the file that was there.
    """

    path: Path
    turn: int
    before: bytes | None
    after: bytes | None
    is_too_large: bool = False
    mode_before: int | None = None


async def changed_files(changes: tuple[Change, ...], blobs: BlobStore) -> tuple[ChangedFile, ...]:
    """Return each regular file that has changed, by path."""
    return await asyncio.to_thread(_read, changes, blobs)


def _read(changes: tuple[Change, ...], blobs: BlobStore) -> tuple[ChangedFile, ...]:
    first: dict[Path, Change] = {}
    last: dict[Path, Change] = {}
    for change in changes:
        if change.after is not None:
            first.setdefault(change.path, change)
            last[change.path] = change
    found = (_file(first[path], last[path], blobs) for path in sorted(first))
    return tuple(file for file in found if file is not None)


def _file(first: Change, last: Change, blobs: BlobStore) -> ChangedFile | None:
    before, after = first.before, last.after
    if after is None or before == after or FileKind.FILE not in (before.kind, after.kind):
        return None
    old, new = _content(before, blobs), _content(after, blobs)
    if old is None or new is None:
        return ChangedFile(last.path, last.turn, None, None, is_too_large=True)
    is_file = FileKind.FILE
    return ChangedFile(
        last.path,
        last.turn,
        old if before.kind is is_file else None,
        new if after.kind is is_file else None,
        mode_before=before.mode if before.kind is is_file else None,
    )


def _content(state: FileState, blobs: BlobStore) -> bytes | None:
    """Return the bytes, empty if there is no file; None if they are too many or no longer stored."""
    if state.kind is not FileKind.FILE:
        return b""
    data = bytearray()
    try:
        for chunk in blobs.chunks(state.content):
            data += chunk
            if len(data) > MOST_BYTES:
                return None
    except GoneError:
        return None
    return bytes(data)


_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC


@dataclass(frozen=True, slots=True)
class ExportedFiles:
    """`missing` counts contents that are no longer stored."""

    folder: Path
    names: tuple[str, ...]
    missing: int = 0


def export_undone(changes: Iterable[Change], root: Path, folder: Path, blobs: BlobStore) -> ExportedFiles:
    """Write each content to its own file, in a folder per turn, readable only by the user. Blocks."""
    written: list[str] = []
    missing = 0
    for name, content in _contents(changes, root):
        try:
            _write(folder / name, blobs.chunks(content))
        except (OSError, StorageError):
            missing += 1
        else:
            written.append(name)
    return ExportedFiles(folder, tuple(written), missing)


def _contents(changes: Iterable[Change], root: Path) -> Iterator[tuple[str, str]]:
    """Yield names and contents. The last content of a path has its name; earlier ones get a number."""
    lines: dict[tuple[int, Path], list[Change]] = {}
    for change in changes:
        lines.setdefault((change.turn, change.path), []).append(change)
    for (turn, path), line in lines.items():
        if not any(change.is_seen for change in line):
            continue
        shown = path.relative_to(root) if path.is_relative_to(root) else path.relative_to(path.anchor)
        states = [change.after for change in reversed(line) if change.is_seen or change is line[-1]]
        files = (state.content for state in states if state and state.kind is FileKind.FILE)
        for number, content in enumerate(dict.fromkeys(files)):
            yield f"{turn}/{shown}{f'~{number}' if number else ''}", content


def _write(path: Path, chunks: Iterable[bytes]) -> None:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with os.fdopen(os.open(path, _FLAGS, 0o600), "wb") as file:
        for chunk in chunks:
            file.write(chunk)
