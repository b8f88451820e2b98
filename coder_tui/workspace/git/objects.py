"""What git keeps anyway: contents of files that need no copy of ours."""

import subprocess
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from coder_tui.protocol.errors import ToolError
from coder_tui.workspace.git.git import Git, Opened

SHA1_DIGITS = 40
_BATCH = ("cat-file", "--batch")


@dataclass(frozen=True, slots=True)
class Kept:
    """Files that git tracks below the workspace's root, and the names of contents that it has."""

    paths: tuple[str, ...] = ()
    names: frozenset[str] = frozenset()


NOTHING_KEPT = Kept()


class GitObjects:
    def __init__(self, git: Git, root: Path) -> None:
        self._git = git
        self._root = root

    async def kept(self) -> Kept:
        """What the index lists; nothing where there is no repository that may be used."""
        try:
            opened = await self._git.open()
            listing = await self._git.listed(opened, "ls-files", "--stage", "-z")
        except ToolError:
            return NOTHING_KEPT
        rows = [row.partition("\t") for row in listing.split("\0") if row]
        names = frozenset(head.split(" ")[1] for head, _, _ in rows)
        paths = tuple(f"{self._root}/{path}" for _, _, path in rows)
        return Kept(paths, frozenset(name for name in names if len(name) == SHA1_DIGITS))

    async def open(self) -> Opened:
        return await self._git.open()

    def contents(self, opened: Opened, names: Iterable[str]) -> Iterator[bytes | None]:
        """The contents in the order of `names`, None for one that is gone. Blocks."""
        launch = self._git.reading(opened, *_BATCH)
        try:
            with subprocess.Popen(
                launch.argv,
                env=dict(launch.environment),
                cwd=self._root,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                pass_fds=launch.descriptors,
            ) as process:
                yield from _asked(process, names)
        finally:
            launch.close()


def _asked(process: "subprocess.Popen[bytes]", names: Iterable[str]) -> Iterator[bytes | None]:
    """One by one: neither side ever waits for the other to read."""
    if process.stdin is None or process.stdout is None:
        raise RuntimeError("git was started without pipes")
    for name in names:
        process.stdin.write(f"{name}\n".encode())
        process.stdin.flush()
        head = process.stdout.readline().split()
        if len(head) != 3 or head[1] != b"blob":
            yield None
            continue
        size = int(head[2])
        content = process.stdout.read(size)
        process.stdout.read(1)
        yield content if len(content) == size else None
    process.stdin.close()
