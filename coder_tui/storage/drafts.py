"""Keeps what a person typed and did not send yet, so that no sudden end takes it away."""

import json
import logging
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from coder_tui.config.own_files import write_private

KEPT_DAYS = 30
"""Nobody who comes back later knows what it was about."""
_ENDING = ".json"
log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Unsent:
    """Messages that wait for their turn, oldest first, and the draft behind them."""

    waiting: tuple[str, ...] = ()
    draft: str = ""

    @property
    def is_empty(self) -> bool:
        return not self.waiting and not self.draft.strip()


@dataclass(frozen=True, slots=True)
class Place:
    """Whose words they are; `is_begun` tells whether the session has a message, so that one can come back."""

    session_id: str
    directory: Path
    is_begun: bool


@dataclass(frozen=True, slots=True)
class _File:
    path: Path
    place: Place = field(hash=False)
    unsent: Unsent = field(hash=False)


class UnsentFiles:
    """One private file for each session, there only while it holds something. All methods block."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def save(self, place: Place, unsent: Unsent) -> None:
        """Raises OSError, with what was kept before still there."""
        path = self._path(place.session_id)
        if unsent.is_empty:
            self.forget(place.session_id)
            return
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        told = {
            "directory": str(place.directory),
            "is_begun": place.is_begun,
            "waiting": unsent.waiting,
            "draft": unsent.draft,
        }
        write_private(path, json.dumps(told).encode())

    def forget(self, session_id: str) -> None:
        self._path(session_id).unlink(missing_ok=True)

    def take(self, place: Place, elsewhere: frozenset[str]) -> Unsent:
        """What was left of this session. A new one gets what was typed in this folder before any began.

        Sessions that run `elsewhere` keep what is theirs.
        """
        found = [file for file in self._files() if file.place.session_id not in elsewhere]
        wanted = [file for file in found if _belongs(file.place, place)]
        unsent = Unsent(
            tuple(text for file in wanted for text in file.unsent.waiting),
            "\n".join(file.unsent.draft for file in wanted if file.unsent.draft),
        )
        if wanted:
            # Under its new name first: an end in between must not find neither.
            self.save(place, unsent)
        for file in wanted:
            if file.path != self._path(place.session_id):
                file.path.unlink(missing_ok=True)
        return unsent

    def _files(self) -> Iterator[_File]:
        """The oldest first."""
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
        told = json.loads(path.read_bytes())
        place = Place(path.stem, Path(told["directory"]), bool(told["is_begun"]))
        unsent = Unsent(tuple(map(str, told["waiting"])), str(told["draft"]))
    except (OSError, ValueError, TypeError, KeyError, RecursionError) as error:
        log.warning("cannot read what was typed before: %s", error)
        return None
    return _File(path, place, unsent)
