"""Brings out what an undo took away and may be the person's: files that changed while a command ran."""

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from coder_tui.protocol.errors import StorageError
from coder_tui.storage.blobs import BlobStore
from coder_tui.storage.manifest import Change, FileKind

_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC


@dataclass(frozen=True, slots=True)
class BroughtOut:
    """`missing` counts contents that are kept no more."""

    folder: Path
    names: tuple[str, ...]
    missing: int = 0


def bring_out(changes: Iterable[Change], root: Path, folder: Path, blobs: BlobStore) -> BroughtOut:
    """Write each as a file of its own, below a folder for its turn, for the person alone. Blocks."""
    written: list[str] = []
    missing = 0
    for name, content in _contents(changes, root):
        try:
            _write(folder / name, blobs.chunks(content))
        except (OSError, StorageError):
            missing += 1
        else:
            written.append(name)
    return BroughtOut(folder, tuple(written), missing)


def _contents(changes: Iterable[Change], root: Path) -> Iterator[tuple[str, str]]:
    """Names and contents. The last content of a path has its name, earlier ones a number more."""
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
