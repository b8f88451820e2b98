"""Find what a command did to the workspace's files by comparing, and store it so that it can be undone."""

import errno
import logging
from collections.abc import Iterable, Mapping
from functools import partial
from hashlib import sha256
from pathlib import Path

from coder_tui.protocol.errors import StorageError, ToolError
from coder_tui.storage.blobs import BlobStore
from coder_tui.storage.command_records import CommandRecords, CommandWindow, LeftOut, SeenChange, Uncovered
from coder_tui.storage.manifest import ABSENT, Change, FileKind, FileState
from coder_tui.workspace.files.confine import relative_name
from coder_tui.workspace.files.save import settled
from coder_tui.workspace.git.git import NOTHING_TRACKED, GitObjects
from coder_tui.workspace.undo.restore import state_of
from coder_tui.workspace.undo.tree_copies import Baseline, Content, Touched, TreeCopies
from coder_tui.workspace.undo.tree_survey import REPOSITORY

log = logging.getLogger(__name__)
CUT_OFF = "The program ended while a command was running, so its changes are not known and cannot be undone."


class CommandSnapshots:
    def __init__(
        self, records: CommandRecords, blobs: BlobStore, copies: TreeCopies, objects: GitObjects, root: Path
    ) -> None:
        self._records = records
        self._blobs = blobs
        self._copies = copies
        self._objects = objects
        self._root = root

    async def before(self, *, trusts_git: bool) -> Baseline:
        """Survey every file and make sure that each can be restored.

        With `trusts_git` the command cannot write git's own folder, so what git stores needs no copy.
        """
        kept = await self._objects.tracked()
        names = kept.names if trusts_git else NOTHING_TRACKED.names
        return await settled(lambda: self._copies.take_baseline(kept.paths, names))

    async def secure(self, before: Baseline) -> None:
        """Store what was left to git: a command is starting that may write git's own folder."""
        borrowed = {each.digest: each.git_name for each in before.contents.values() if each.place is None}
        if borrowed:
            await self._put_borrowed(borrowed)

    async def begin(self, session_id: str, turn: int, before: Baseline) -> int:
        """Record that a command starts, in case the program is killed; return its number."""
        return await self._records.begin(session_id, turn, self._left_out(before.survey.uncovered))

    async def end(
        self, session_id: str, turn: int, call_id: str, number: int, before: Baseline
    ) -> tuple[Change, ...]:
        """Record what changed, and that the command has ended."""
        touched = await settled(lambda: self._copies.touched(before))
        changes = await self._record(session_id, turn, call_id, before, touched)
        await self._records.end(session_id, number, self._left_out(touched.uncovered))
        return changes

    async def uncovered(self, session_id: str, turn: int) -> str:
        """Describe what an undo of a turn and later ones does not cover; empty if no command ran."""
        found = await self._records.uncovered(session_id, turn)
        return describe_uncovered(found) if found else ""

    async def _record(
        self, session_id: str, turn: int, call_id: str, before: Baseline, touched: Touched
    ) -> tuple[Change, ...]:
        window = CommandWindow(before.since, before.until, touched.looked)
        # For these it also matters if they are as before: then somebody undid the edit.
        edited = await self._records.edited_during(session_id, turn, window)
        paths = sorted({*map(Path, touched.paths), *edited})
        states = [(path, state) for path in paths if (state := before.state(str(path))) is not None]
        found = await settled(lambda: [SeenChange(path, old, self._now(path)) for path, old in states])
        changed = tuple(seen for seen in found if seen.before != seen.after or seen.path in edited)
        if not changed:
            return ()
        await self._keep_for_good([seen.path for seen in changed], before)
        # Once for all of them: waiting for each would take seconds if a command changed hundreds.
        await settled(self._blobs.flush)
        return await self._records.record_seen(session_id, turn, call_id, changed, window)

    def _left_out(self, uncovered: Mapping[str, str]) -> dict[str, LeftOut]:
        by_reason: dict[str, list[str]] = {}
        for path, reason in uncovered.items():
            if reason != REPOSITORY:  # reported in any case
                by_reason.setdefault(reason, []).append(self._shown(Path(path)))
        return {reason: LeftOut.from_names(names) for reason, names in by_reason.items()}

    def _shown(self, path: Path) -> str:
        if path == self._root:
            return "all but the first files"
        return relative_name(path, self._root)

    def _now(self, path: Path) -> FileState:
        try:
            return state_of(path, partial(self._blobs.put, waits=False))
        except StorageError:
            log.warning("no copy of the changed %s could be stored", path)
            return state_of(path)
        except OSError as error:
            # A parent folder became a link, so the workspace has nothing of this name.
            return ABSENT if error.errno in (errno.ELOOP, errno.ENOTDIR) else FileState(FileKind.OTHER)

    async def _keep_for_good(self, paths: Iterable[Path], before: Baseline) -> None:
        """Store contents for good: a later command replaces the copies, and git may drop its objects."""
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
                log.warning("a file cannot be restored later: %s", error)

    async def _put_borrowed(self, names: dict[str, str]) -> None:
        try:
            opened = await self._objects.open()
        except ToolError as error:
            log.warning("files cannot be restored later: %s", error.message)
            return

        def put() -> None:
            contents = self._objects.contents(opened, names.values())
            for digest, content in zip(names, contents, strict=True):
                if content is None or sha256(content).hexdigest() != digest:
                    log.warning("git no longer has a file's content; it cannot be restored later")
                else:
                    self._blobs.put((content,), waits=False)

        await settled(put)


def describe_uncovered(found: Uncovered) -> str:
    """Describe what undo does not cover, in one sentence; two if a command did not finish."""
    parts = [f"{_some(each)} ({reason})" for reason, each in found.left_out.items()]
    named = f"Undo does not cover {', '.join(parts)}; nor" if parts else "Undo never covers"
    words = f"{named} .git, what background jobs did, and places outside this folder."
    return f"{CUT_OFF} {words}" if found.is_cut else words


def _some(left_out: LeftOut) -> str:
    shown, more = ", ".join(left_out.names), left_out.count - len(left_out.names)
    return f"{shown} and {more} more" if more else shown
