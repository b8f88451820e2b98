"""What a command did to the workspace's files: seen by comparing, and kept so that it can be undone."""

import errno
import logging
from collections.abc import Iterable
from functools import partial
from hashlib import sha256
from pathlib import Path

from coder_tui.protocol.errors import StorageError, ToolError
from coder_tui.storage.blobs import BlobStore
from coder_tui.storage.manifest import ABSENT, Change, FileKind, FileState, Manifest
from coder_tui.workspace.file_state import state_of
from coder_tui.workspace.git_objects import NOTHING_KEPT, GitObjects
from coder_tui.workspace.save import settled
from coder_tui.workspace.tree_copies import Baseline, Content, TreeCopies
from coder_tui.workspace.tree_survey import REPOSITORY

log = logging.getLogger(__name__)


class CommandSnapshots:
    def __init__(self, manifest: Manifest, blobs: BlobStore, copies: TreeCopies, objects: GitObjects) -> None:
        self._manifest = manifest
        self._blobs = blobs
        self._copies = copies
        self._objects = objects

    async def before(self, *, trusts_git: bool) -> Baseline:
        """Look at every file, and see to it that each can be had again.

        With `trusts_git` the command cannot write git's own folder, so that what git has needs no copy.
        """
        kept = await self._objects.kept()
        names = kept.names if trusts_git else NOTHING_KEPT.names
        return await settled(lambda: self._copies.take(kept.paths, names))

    async def secure(self, before: Baseline) -> None:
        """Keep now what was left to git: a command begins that may write git's own folder."""
        borrowed = {each.digest: each.git_name for each in before.contents.values() if each.place is None}
        if borrowed:
            await self._put_borrowed(borrowed)

    async def after(self, session_id: str, turn: int, call_id: str, before: Baseline) -> tuple[Change, ...]:
        """Note what was changed meanwhile; returns it."""
        touched = await settled(lambda: self._copies.touched(before))
        states = [(path, state) for path in touched if (state := before.state(path)) is not None]
        found = await settled(lambda: [(Path(path), old, self._now(Path(path))) for path, old in states])
        changed = tuple((path, old, new) for path, old, new in found if old != new)
        if not changed:
            return ()
        await self._keep_for_good([path for path, _, _ in changed], before)
        # Once for all of them: waiting for each would take seconds where a command changed hundreds.
        await settled(self._blobs.flush)
        return await self._manifest.record_changes(session_id, turn, call_id, changed)

    def _now(self, path: Path) -> FileState:
        try:
            return state_of(path, partial(self._blobs.put, waits=False))
        except StorageError:
            log.warning("no copy of the changed %s could be kept", path)
            return state_of(path)
        except OSError as error:
            # A folder on the way became a link: there is nothing of this name in the workspace.
            return ABSENT if error.errno in (errno.ELOOP, errno.ENOTDIR) else FileState(FileKind.OTHER)

    async def _keep_for_good(self, paths: Iterable[Path], before: Baseline) -> None:
        """From the copies, which a later command replaces, and from git, which may forget."""
        found = (before.contents.get(str(path)) for path in paths)
        wanted = {content.digest: content for content in found if content is not None}
        borrowed = {digest: content.git_name for digest, content in wanted.items() if content.place is None}
        copied = [content for content in wanted.values() if content.place is not None]
        await settled(lambda: self._put_copies(copied))
        if borrowed:
            await self._put_borrowed(borrowed)

    def _put_copies(self, contents: Iterable[Content]) -> None:
        for content in contents:
            try:
                self._blobs.put((self._copies.read(content),), waits=False)
            except StorageError as error:
                log.warning("a file cannot be brought back later: %s", error)

    async def _put_borrowed(self, names: dict[str, str]) -> None:
        try:
            opened = await self._objects.open()
        except ToolError as error:
            log.warning("files cannot be brought back later: %s", error.message)
            return

        def put() -> None:
            contents = self._objects.contents(opened, names.values())
            for digest, content in zip(names, contents, strict=True):
                if content is None or sha256(content).hexdigest() != digest:
                    log.warning("git no longer has a file's content; it cannot be brought back later")
                else:
                    self._blobs.put((content,), waits=False)

        await settled(put)


def covered_words(before: Baseline, root: Path) -> str:
    """What an undo does not cover, in one sentence; empty when it covers all."""
    by_reason: dict[str, list[str]] = {}
    for path, reason in before.survey.uncovered.items():
        if reason == REPOSITORY:
            continue  # git has ways of its own to take things back
        place = Path(path)
        shown = str(place.relative_to(root)) if place.is_relative_to(root) else path
        by_reason.setdefault(reason, []).append(shown)
    parts = [f"{_some(paths)} ({reason})" for reason, paths in by_reason.items()]
    return f"Undo does not cover {', '.join(parts)}." if parts else ""


def _some(paths: list[str], most: int = 3) -> str:
    shown = ", ".join(sorted(paths)[:most])
    return shown if len(paths) <= most else f"{shown} and {len(paths) - most} more"
