"""Copy a workspace's files before a command runs, so that everything it does can be undone.

Thousands are written before a command runs and hardly any is read, so many small copies share a file.
"""

import contextlib
import json
import logging
import os
import secrets
import threading
import time
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from hashlib import sha1, sha256
from itertools import count
from pathlib import Path

from coder_tui.protocol.errors import StorageError
from coder_tui.storage.half_written import Claims, temporary_name
from coder_tui.storage.manifest import FileKind, FileState
from coder_tui.workspace.undo.tree_survey import UNREADABLE, Mark, Survey, SurveyLimits, mark_of, survey

_SUFFIX = ".pack"
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC


@dataclass(frozen=True, slots=True)
class Place:
    """Where a copy is."""

    pack: str
    offset: int
    size: int


class PackWriter:
    """Appends copies to one new file, which is created with the first one.

    It does not wait for the disk: only a power failure loses a copy, and then the command is lost, too.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._name = f"{secrets.token_hex(8)}{_SUFFIX}"
        self._descriptor = -1
        self._size = 0

    def add(self, data: bytes) -> Place:
        if self._descriptor < 0:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._descriptor = os.open(self._folder / self._name, _CREATE, 0o600)
        place = Place(self._name, self._size, len(data))
        done = 0
        while done < len(data):
            # Written at its own offset: if the disk was full, half of another copy may be there.
            done += os.pwrite(self._descriptor, data[done:], self._size + done)
        self._size += len(data)
        return place

    def close(self) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1


class Packs:
    """Its calls block. `folder` is private and contains nothing that cannot be recreated."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def writer(self) -> PackWriter:
        return PackWriter(self._folder)

    def sizes(self) -> dict[str, int]:
        """Return the size of each pack by name."""
        found: dict[str, int] = {}
        for path in self._folder.glob(f"*{_SUFFIX}"):
            with contextlib.suppress(FileNotFoundError):
                found[path.name] = path.stat().st_size
        return found

    def read(self, place: Place, digest: str) -> bytes:
        """Return a copy; raise `StorageError` if it is gone or damaged."""
        try:
            with (self._folder / place.pack).open("rb") as file:
                file.seek(place.offset)
                data = file.read(place.size)
        except OSError as error:
            raise StorageError(f"the earlier copy is gone: {error.strerror}") from error
        if sha256(data).hexdigest() != digest:
            raise StorageError("the earlier copy is damaged")
        return data

    def keep_only(self, names: Iterable[str]) -> None:
        """Remove the packs that are not named."""
        for name in self.sizes().keys() - frozenset(names):
            (self._folder / name).unlink(missing_ok=True)


_claims: dict[Path, Claims] = {}
_guard = threading.Lock()


def own_folder(wanted: Path) -> tuple[Path, bool]:
    """Return a folder that no other process uses, and whether this one has just claimed it.

    `wanted` itself if it is free. Two programs in one project must not delete each other's copies.
    """
    with _guard:
        claims = _claims.setdefault(wanted.parent, Claims(wanted.parent))
        wanted.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        for number in count(1):
            name = wanted.name if number == 1 else f"{wanted.name}-{number}"
            if claims.holds(name):
                return wanted.parent / name, False
            if claims.acquire(name):
                return wanted.parent / name, True
    raise RuntimeError("counting never ends")


log = logging.getLogger(__name__)
NO_COPY = "no copy could be stored"
_INDEX = "index.json"
_INDEX_VERSION = 2
_OPEN = os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NOCTTY
# File system clocks tick in steps: a second write within one step leaves the same mark.
_SETTLED_NS = 50_000_000


@dataclass(frozen=True, slots=True)
class Content:
    """A file's content at this mark; `git_name` is its id in git. Without a place, git stores it."""

    mark: Mark
    digest: str
    git_name: str
    place: Place | None = None
    is_settled: bool = True


@dataclass(frozen=True, slots=True)
class Baseline:
    """The state of all files. Every file in `contents` can be restored, from a copy or from git.

    It was taken between the times `since` and `until`.
    """

    survey: Survey
    contents: dict[str, Content]
    since: float
    until: float

    def state(self, path: str) -> FileState | None:
        """Return the state of a path; None if it is not covered."""
        mark = self.survey.marks.get(path)
        if mark is None:
            return FileState(FileKind.ABSENT) if self.survey.covers(path) else None
        if mark.kind is FileKind.OTHER:
            return FileState(mark.kind)
        if mark.kind is FileKind.FOLDER:
            return FileState(mark.kind, mode=mark.mode)
        content = self.contents.get(path)
        if content is None:
            return None
        return FileState(mark.kind, content.digest, mark.mode if mark.kind is FileKind.FILE else 0)


@dataclass(frozen=True, slots=True)
class Touched:
    """The covered paths that changed, folders first, and why others were not checked."""

    paths: tuple[str, ...]
    uncovered: dict[str, str]
    looked: float


class TreeCopies:
    """Its calls block. `folder` is private and contains nothing that cannot be recreated."""

    def __init__(self, folder: Path, roots: tuple[Path, ...], limits: SurveyLimits) -> None:
        self._folder = folder
        self._packs = Packs(folder)
        self._roots = roots
        self._limits = limits
        self._known: dict[str, Content] | None = None

    def take_baseline(self, tracked: Iterable[str], in_git: frozenset[str]) -> Baseline:
        """Survey everything and copy what has no copy yet.

        `tracked` files count although git ignores them.
        """
        since = time.time()
        found = survey(self._roots, self._limits)
        _add_tracked(found, tracked, self._limits)
        known, packs, contents = self._remembered(), self._packs.sizes(), dict[str, Content]()
        pack = self._packs.writer()
        try:
            for path, mark in tuple(found.marks.items()):
                if mark.kind not in (FileKind.FILE, FileKind.LINK):
                    continue
                content = known.get(path)
                if content is None or content.mark != mark or not _is_available(content, in_git, packs):
                    content = self._copied(path, found, in_git, pack)
                if content is not None:
                    contents[path] = content
        finally:
            pack.close()
        self._remember(contents)
        return Baseline(found, contents, since, time.time())

    def touched(self, before: Baseline) -> Touched:
        """Return what has changed in the folders since."""
        looked = time.time()
        now = survey(self._roots, self._limits)
        marks = before.survey.marks
        gone_or_hidden = (
            path for path in marks if path not in now.marks and not _is_still(path, marks[path])
        )
        changed = (path for path, mark in now.marks.items() if path in marks and marks[path] != mark)
        made = (path for path in now.marks if path not in marks and before.survey.covers(path))
        paths = tuple(sorted({*gone_or_hidden, *changed, *made}))
        unseen = {path: reason for path, reason in now.uncovered.items() if path not in marks}
        return Touched(paths, {**before.survey.uncovered, **unseen}, looked)

    def read(self, content: Content) -> bytes:
        """Return a copy; raise `StorageError` if it is gone or was never made."""
        if content.place is None:
            raise StorageError("there is no copy of it")
        return self._packs.read(content.place, content.digest)

    def _copied(self, path: str, found: Survey, in_git: frozenset[str], pack: PackWriter) -> Content | None:
        try:
            return _read(path, in_git, pack)
        except FileNotFoundError:
            found.marks.pop(path, None)
        except OSError as error:
            log.info("no copy of a file was stored: %s", error.strerror)
            found.uncovered[path] = UNREADABLE if isinstance(error, PermissionError) else NO_COPY
        return None

    def _remembered(self) -> dict[str, Content]:
        if self._known is None:
            self._folder, is_fresh = _folder_for(self._folder)
            self._packs = Packs(self._folder)
            self._known = _load(self._folder / _INDEX)
            if is_fresh:
                # Only now: later, a command of another session may need what this one does not.
                used = (content.place for content in self._known.values())
                self._packs.keep_only(place.pack for place in used if place is not None)
        return self._known

    def _remember(self, contents: dict[str, Content]) -> None:
        if contents == self._known:
            return
        self._known = contents
        rows = {path: asdict(content) for path, content in contents.items() if content.is_settled}
        temporary = self._folder / temporary_name()
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            temporary.write_text(json.dumps({"version": _INDEX_VERSION, "files": rows}), encoding="utf-8")
            temporary.replace(self._folder / _INDEX)
        except OSError as error:
            # Then everything is read again next time.
            log.info("the list of copies was not saved: %s", error.strerror)
            temporary.unlink(missing_ok=True)


def _folder_for(wanted: Path) -> tuple[Path, bool]:
    """Return a folder for this run if nothing can be locked: a command must run even without copies."""
    try:
        return own_folder(wanted)
    except (OSError, StorageError) as error:
        log.warning("copies of files are stored for this run only, or not at all: %s", error)
        return wanted.with_name(temporary_name()), False


def _is_available(content: Content, in_git: frozenset[str], packs: Mapping[str, int]) -> bool:
    place = content.place
    # A power failure may leave the list complete and a pack cut off.
    has_copy = place is not None and place.offset + place.size <= packs.get(place.pack, -1)
    return content.is_settled and (has_copy or content.git_name in in_git)


def _read(path: str, in_git: frozenset[str], pack: PackWriter) -> Content:
    mark = mark_of(path)
    began = time.time_ns()
    data = os.fsencode(Path(path).readlink()) if mark.kind is FileKind.LINK else _whole(path)
    name = sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()
    place = None if name in in_git else pack.add(data)
    is_settled = mark_of(path) == mark and mark.changed_ns < began - _SETTLED_NS
    return Content(mark, sha256(data).hexdigest(), name, place, is_settled)


def _whole(path: str) -> bytes:
    with os.fdopen(os.open(path, _OPEN), "rb") as file:
        return file.read()


def _is_still(path: str, mark: Mark) -> bool:
    try:
        return mark_of(path) == mark
    except OSError:
        # A parent folder became a link to itself or is no longer accessible.
        return False


def _add_tracked(found: Survey, tracked: Iterable[str], limits: SurveyLimits) -> None:
    """Add tracked files: git tracks an ignored file if somebody added it."""
    for path in tracked:
        if path in found.marks or found.covers(path):
            continue
        try:
            mark = mark_of(path)
        except OSError:
            found.uncovered[path] = UNREADABLE
            continue
        if mark.kind in (FileKind.FILE, FileKind.LINK) and mark.size <= limits.largest_bytes:
            found.marks[path] = mark
            found.uncovered.pop(path, None)


def _load(path: Path) -> dict[str, Content]:
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        if document["version"] != _INDEX_VERSION:
            return {}
        return {name: _content(row) for name, row in document["files"].items()}
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, KeyError, TypeError) as error:
        log.info("the list of copies is rebuilt: %r", error)
        return {}


def _content(row: dict[str, object]) -> Content:
    mark = row["mark"]
    if not isinstance(mark, dict):
        raise TypeError("a mark is a table")
    kind = FileKind(mark.pop("kind"))
    place = row["place"]
    where = Place(**place) if isinstance(place, dict) else None
    return Content(Mark(kind, **mark), str(row["digest"]), str(row["git_name"]), where)
