"""Return a folder's whole content as one value, to compare."""

import os
import stat
from pathlib import Path

Tree = dict[str, tuple[str, bytes, int]]


def look(path: Path) -> tuple[str, bytes, int]:
    status = path.lstat()
    if stat.S_ISLNK(status.st_mode):
        return "link", os.fsencode(path.readlink()), 0
    if stat.S_ISDIR(status.st_mode):
        return "folder", b"", stat.S_IMODE(status.st_mode)
    return "file", path.read_bytes(), stat.S_IMODE(status.st_mode)


def tree_of(root: Path) -> Tree:
    """Return the tree without git's own folder."""
    found = (path for path in sorted(root.rglob("*")) if ".git" not in path.relative_to(root).parts)
    return {str(path.relative_to(root)): look(path) for path in found}
