"""Which processes another one started, and whether they are still there."""

import os
import select
import signal
import time
from pathlib import Path


def descendants(pid: int) -> list[int]:
    """Children, and theirs."""
    children = [child for child, parent in _parents().items() if parent == pid]
    return [*children, *(each for child in children for each in descendants(child))]


def running(pid: int, words: str) -> list[int]:
    """Those of its descendants whose command line has the words."""
    return [each for each in descendants(pid) if words in _command(each)]


def _command(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text().replace("\0", " ")
    except (FileNotFoundError, ProcessLookupError):
        return ""


def is_alive(pid: int) -> bool:
    """A zombie has ended; nobody asked for it yet."""
    try:
        return _fields(Path(f"/proc/{pid}/stat"))[0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False


def hold(pid: int) -> None:
    """Stop a process and all that it started; return when none of them does anything more. Blocks."""
    family = (pid, *descendants(pid))
    for each in family:
        os.kill(each, signal.SIGSTOP)
    while any(_fields(stat)[0] not in "TZX" for each in family for stat in _threads(each)):
        time.sleep(0.001)


def _threads(pid: int) -> list[Path]:
    return list(Path(f"/proc/{pid}/task").glob("*/stat"))


def _parents() -> dict[int, int]:
    found: dict[int, int] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            found[int(stat.parent.name)] = int(_fields(stat)[1])
        except (FileNotFoundError, ProcessLookupError):
            continue
    return found


def _fields(stat: Path) -> list[str]:
    """State, parent and so on: what stands behind the name, which may hold anything."""
    return stat.read_text().rpartition(")")[2].split()


def has_ended(pid: int, patience: float = 60.0) -> bool:
    """Wait for a process that need not be a child of ours. Blocks."""
    try:
        handle = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([handle], [], [], patience)[0])
    finally:
        os.close(handle)
