"""What this session knows of each file's content, so that nothing unseen is overwritten."""

import asyncio
from pathlib import Path

from coder_tui.protocol.errors import ErrorType, ToolError
from coder_tui.workspace.files.confine import Located


class FileLocks:
    """One lock a file, for all who may change it."""

    def __init__(self) -> None:
        self._locks: dict[Path, asyncio.Lock] = {}

    def of(self, path: Path) -> asyncio.Lock:
        return self._locks.setdefault(path, asyncio.Lock())


class ReadLedger:
    """Remembers a digest for each path as of its last read or own write.

    Agents that work side by side have seen different things, but share their locks.
    """

    def __init__(self, locks: FileLocks | None = None) -> None:
        self._digests: dict[Path, str] = {}
        self._locks = locks or FileLocks()

    def note(self, path: Path, digest: str) -> None:
        """The session has seen, or made, exactly this content."""
        self._digests[path] = digest

    def note_change(self, path: Path, before: str | None, after: str) -> None:
        """The session changed a file. Where it had not seen all of it, it still has not."""
        if before is None or self._digests.get(path) == before:
            self._digests[path] = after

    def has_changed(self, path: Path, digest: str) -> bool:
        """Whether the file was seen with another content than `digest`."""
        return self._digests.get(path, digest) != digest

    def check_overwrite(self, located: Located, digest: str) -> None:
        """Refuse to write over content that was never read, or that is no longer what was read."""
        seen = self._digests.get(located.path)
        if seen == digest:
            return
        reason = "was not read in this session" if seen is None else "changed on disk since it was read"
        raise ToolError(
            ErrorType.STALE_FILE,
            f"{located.shown} exists and {reason}.",
            "read it first, then write.",
            {"path": located.shown},
        )

    def lock(self, path: Path) -> asyncio.Lock:
        """The lock that whoever changes `path` holds."""
        return self._locks.of(path)
