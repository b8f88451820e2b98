"""Saves what the user typed but did not send, so that a crash does not lose it."""

import json
import logging
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from coder_tui.config.own_files import write_private

KEPT_DAYS = 30
"""Older drafts are deleted: the user no longer knows what they were about."""
_ENDING = ".json"
log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class UnsentInput:
    """Queued messages, oldest first, and the draft after them."""

    waiting: tuple[str, ...] = ()
    draft: str = ""

    @property
    def is_empty(self) -> bool:
        return not self.waiting and not self.draft.strip()


@dataclass(frozen=True, slots=True)
class Place:
    """The session that a draft belongs to; `is_begun` means that it has a message and can be resumed."""

    session_id: str
    directory: Path
    is_begun: bool


@dataclass(frozen=True, slots=True)
class _File:
    path: Path
    place: Place = field(hash=False)
    unsent: UnsentInput = field(hash=False)


class DraftStore:
    """One private file per session, which exists only while there is something to save. All methods block."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def save(self, place: Place, unsent: UnsentInput) -> None:
        """Save the draft; raise OSError and keep what was saved before if that fails."""
        path = self._path(place.session_id)
        if unsent.is_empty:
            self.forget(place.session_id)
            return
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        fields = {
            "directory": str(place.directory),
            "is_begun": place.is_begun,
            "waiting": unsent.waiting,
            "draft": unsent.draft,
        }
        write_private(path, json.dumps(fields).encode())

    def forget(self, session_id: str) -> None:
        self._path(session_id).unlink(missing_ok=True)

    def take(self, place: Place, elsewhere: frozenset[str]) -> UnsentInput:
        """Return this session's draft. A new session gets drafts of the folder's sessions that never began.

        Sessions that are open `elsewhere` keep theirs.
        """
        found = [file for file in self._files() if file.place.session_id not in elsewhere]
        wanted = [file for file in found if _belongs(file.place, place)]
        unsent = UnsentInput(
            tuple(text for file in wanted for text in file.unsent.waiting),
            "\n".join(file.unsent.draft for file in wanted if file.unsent.draft),
        )
        if wanted:
            # Saved under the new name first: a crash in between must not lose both.
            self.save(place, unsent)
        for file in wanted:
            if file.path != self._path(place.session_id):
                file.path.unlink(missing_ok=True)
        return unsent

    def _files(self) -> Iterator[_File]:
        """Yield the saved drafts, oldest first; delete outdated ones."""
        dated = sorted((path.stat().st_mtime, path) for path in self._folder.glob(f"*{_ENDING}"))
        for changed, path in dated:
            if changed < time.time() - KEPT_DAYS * 86_400:
                path.unlink(missing_ok=True)
            elif (file := _read(path)) is not None:
                yield file

    def _path(self, session_id: str) -> Path:
        return self._folder / f"{session_id}{_ENDING}"


def _belongs(left: Place, place: Place) -> bool:
    if left.session_id == place.session_id:
        return True
    return not left.is_begun and not place.is_begun and left.directory == place.directory


def _read(path: Path) -> _File | None:
    try:
        fields = json.loads(path.read_bytes())
        place = Place(path.stem, Path(fields["directory"]), bool(fields["is_begun"]))
        unsent = UnsentInput(tuple(map(str, fields["waiting"])), str(fields["draft"]))
    except (OSError, ValueError, TypeError, KeyError, RecursionError) as error:
        log.warning("cannot read a saved draft: %s", error)
        return None
    return _File(path, place, unsent)
