"""What a session did to each file, from its first change to its last: what is shown and reviewed."""

import asyncio
from dataclasses import dataclass
from pathlib import Path

from coder_tui.storage.blobs import BlobStore, GoneError
from coder_tui.storage.manifest import Change, FileKind, FileState

MOST_BYTES = 5_000_000


@dataclass(frozen=True, slots=True)
class ChangedFile:
    """`before` and `after` are None where there was no file; `turn` is the last that changed it.

    With `is_too_large` there is more than is worth showing, or no copy any more, and both are None.
    `mode_before` is that of the file that was there.
    """

    path: Path
    turn: int
    before: bytes | None
    after: bytes | None
    is_too_large: bool = False
    mode_before: int | None = None


async def changed_files(changes: tuple[Change, ...], blobs: BlobStore) -> tuple[ChangedFile, ...]:
    """One for each regular file that is not as it was; by path."""
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
    """The bytes, empty where there is no file; None when they are too many, or not kept any more."""
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
