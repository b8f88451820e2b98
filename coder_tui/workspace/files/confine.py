"""Resolve where a path really leads, and open it so that nobody can redirect it."""

import contextlib
import ctypes
import errno
import os
import stat
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from coder_tui.protocol.errors import ErrorType, ToolError

_OPENAT2 = 437  # the same on every architecture that Python has wheels for
_NO_MAGIC_LINKS, _NO_LINKS, _BENEATH = 0x02, 0x04, 0x08
_MOST_TRIES = 100


class _How(ctypes.Structure):
    _fields_ = (("flags", ctypes.c_uint64), ("mode", ctypes.c_uint64), ("resolve", ctypes.c_uint64))


@cache
def has_openat2() -> bool:
    """Return whether the call works. Checked once: old kernels lack it, and some containers forbid it."""
    if sys.platform != "linux":
        return False
    folder = os.open("/", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.close(open_beneath(folder, ".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC))
    except OSError:
        return False
    finally:
        os.close(folder)
    return True


def open_beneath(folder: int, path: str, flags: int) -> int:
    """Open `path` below `folder`; raise `ELOOP` if any part of it is a link."""
    how = _How(flags, 0, _NO_MAGIC_LINKS | _NO_LINKS | _BENEATH)
    for _ in range(_MOST_TRIES):
        descriptor = _call()(_OPENAT2, folder, os.fsencode(path), ctypes.byref(how), ctypes.sizeof(how))
        if descriptor >= 0:
            return int(descriptor)
        # A rename elsewhere on the system disturbed the kernel's own check.
        if ctypes.get_errno() not in {errno.EAGAIN, errno.EINTR}:
            break
    number = ctypes.get_errno()
    raise OSError(number, os.strerror(number), path)


@cache
def _call() -> "ctypes._NamedFuncPointer":
    call = ctypes.CDLL(None, use_errno=True).syscall
    call.restype = ctypes.c_long
    call.argtypes = (ctypes.c_long, ctypes.c_int, ctypes.c_char_p, ctypes.c_void_p, ctypes.c_size_t)
    return call


_KERNEL_TREES = (Path("/proc"), Path("/sys"))
_DEVICES = Path("/dev")
_SHARED_MEMORY = Path("/dev/shm")  # ordinary files, kept in memory
# O_PATH needs no read permission on the parent folders; systems without it open them for reading.
_ON_THE_WAY = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_CLOEXEC
_FOLDER_FLAGS = _ON_THE_WAY | os.O_NOFOLLOW
FILE_FLAGS = os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NOCTTY
_FAILURES: dict[int, tuple[ErrorType, str, str]] = {
    errno.ENOENT: (ErrorType.FILE_NOT_FOUND, "No file or folder at {shown}.", "Find it with list or glob."),
    errno.ENOTDIR: (ErrorType.FILE_NOT_FOUND, "A part of {shown} is not a folder.", "Check with list."),
    errno.ENXIO: (ErrorType.NOT_A_FILE, "{shown} is a socket or a device, not a file.", ""),
    errno.ENODEV: (ErrorType.NOT_A_FILE, "{shown} is a device, not a file.", ""),
    errno.EISDIR: (ErrorType.NOT_A_FILE, "{shown} is a folder.", ""),
    errno.ELOOP: (
        ErrorType.PERMISSION_DENIED,
        "{shown} is behind a symbolic link that appeared just now or is circular.",
        "",
    ),
    errno.ENOSPC: (ErrorType.EXECUTION_FAILED, "The disk is full; {shown} is unchanged.", ""),
    errno.EDQUOT: (ErrorType.EXECUTION_FAILED, "The disk quota is used up; {shown} is unchanged.", ""),
    errno.EFBIG: (ErrorType.EXECUTION_FAILED, "The file would be too big; {shown} is unchanged.", ""),
    errno.EROFS: (ErrorType.EXECUTION_FAILED, "{shown} is on a read-only file system.", ""),
    errno.EACCES: (ErrorType.EXECUTION_FAILED, "The system does not permit access to {shown}.", ""),
    errno.EPERM: (ErrorType.EXECUTION_FAILED, "The system does not permit access to {shown}.", ""),
}


@dataclass(frozen=True, slots=True)
class Located:
    """A path with its links resolved as far as it exists; `shown` is relative to the root if inside."""

    path: Path
    shown: str
    is_inside: bool
    escapes_by_link: bool


class Workspace:
    """The folders that a session works in. The model never chooses them."""

    def __init__(self, root: Path, extra_roots: tuple[Path, ...] = ()) -> None:
        self.root = Path(os.path.realpath(root))
        self.extra_roots = tuple(Path(os.path.realpath(extra)) for extra in extra_roots)
        self._spelled = tuple(Path(os.path.normpath(Path.cwd() / extra)) for extra in (root, *extra_roots))

    def locate(self, path: str) -> Located:
        """Resolve `path`, relative to the root; tells where it leads but allows nothing."""
        if not path or "\0" in path:
            raise invalid_path("must not be empty" if not path else "must not contain a NUL character")
        expanded = Path(path).expanduser() if path == "~" or path.startswith("~/") else Path(path)
        joined = self.root / expanded
        try:
            os.fsencode(joined)
        except UnicodeEncodeError as error:
            raise invalid_path("contains characters that no file name can have") from error
        resolved = _resolved(joined)
        is_inside = self._holds(resolved)
        looks_inside = self._looks_inside(Path(os.path.normpath(joined)))
        return Located(resolved, self._shown(resolved), is_inside, looks_inside and not is_inside)

    def check_write(self, located: Located) -> None:
        """Refuse what may never be written, even with approval."""
        if located.escapes_by_link:
            raise ToolError(
                ErrorType.PERMISSION_DENIED,
                f"The path leads out of the workspace through a symbolic link, to {located.path}.",
                "Use the real path.",
            )
        refuse_kernel_tree(located)

    def _holds(self, path: Path) -> bool:
        return any(path.is_relative_to(root) for root in (self.root, *self.extra_roots))

    def _looks_inside(self, path: Path) -> bool:
        return self._holds(path) or any(path.is_relative_to(root) for root in self._spelled)

    def _shown(self, path: Path) -> str:
        shown = path.relative_to(self.root) if path.is_relative_to(self.root) else path
        return os.fsencode(shown).decode("utf-8", "replace")


def relative_name(path: Path, folder: Path) -> str:
    """Name a path relative to a folder; a path elsewhere keeps its full name."""
    return str(path.relative_to(folder)) if path.is_relative_to(folder) else str(path)


def _resolved(joined: Path) -> Path:
    try:
        return Path(os.path.realpath(joined))
    except OSError as error:
        # Links of other users' processes may not be read.
        raise ToolError(
            ErrorType.PERMISSION_DENIED, f"The system does not allow resolving {joined}."
        ) from error


def invalid_path(reason: str) -> ToolError:
    return ToolError(ErrorType.INVALID_TOOL_PARAMS, f"invalid args: path: {reason}")


def refuse_kernel_tree(located: Located) -> None:
    """Refuse what looks like files but is the kernel: reading it may block, leak or have side effects."""
    path = located.path
    if any(path.is_relative_to(tree) for tree in _KERNEL_TREES):
        raise ToolError(ErrorType.PERMISSION_DENIED, f"{located.shown} is system state, not a file.")
    if path.is_relative_to(_DEVICES) and not path.is_relative_to(_SHARED_MEMORY):
        raise ToolError(ErrorType.NOT_A_FILE, f"{located.shown} is a device, not a file on disk.")


def folder_or_file(located: Located) -> os.stat_result:
    """Return the status of a folder or a regular file; refuse everything else without opening it."""
    refuse_kernel_tree(located)
    try:
        with _parent(located) as folder:
            status = _status(located, folder)
    except OSError as error:
        raise explain(error, located) from error
    if not (stat.S_ISREG(status.st_mode) or stat.S_ISDIR(status.st_mode)):
        raise _not_a_file(located, status.st_mode)
    return status


def open_regular(located: Located) -> int:
    """Open a regular file for reading and return its descriptor; never blocks on a pipe or a device."""
    refuse_kernel_tree(located)
    try:
        with _parent(located) as folder:
            # Checked first, because merely opening some devices has side effects. Opening refuses a link.
            mode = _status(located, folder).st_mode
            if not stat.S_ISREG(mode) and not stat.S_ISLNK(mode):
                raise _not_a_file(located, mode)
            descriptor = os.open(located.path.name, FILE_FLAGS, dir_fd=folder)
    except OSError as error:
        raise explain(error, located) from error
    mode = os.fstat(descriptor).st_mode
    if stat.S_ISREG(mode):
        return descriptor
    os.close(descriptor)
    raise _not_a_file(located, mode)


def open_listing(located: Located) -> int:
    """Open a folder to list its entries; a link that replaced it is not followed."""
    refuse_kernel_tree(located)
    try:
        folder = open_folder(located.path)
        try:
            return os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=folder)
        finally:
            os.close(folder)
    except OSError as error:
        raise explain(error, located) from error


def open_folder(path: Path, *, create: bool = False) -> int:
    """Open a resolved folder without following links, so that a link swapped in cannot redirect it."""
    root = os.open("/", _FOLDER_FLAGS)
    try:
        if has_openat2():
            try:
                return open_beneath(root, str(path.relative_to("/")), _ON_THE_WAY)
            except FileNotFoundError:
                if not create:
                    raise
            except OSError as error:
                # Too long for one call; step by step it may still be reached.
                if error.errno != errno.ENAMETOOLONG:
                    raise
        return _walk(root, path.parts[1:], create=create)
    finally:
        os.close(root)


def missing_folders(path: Path) -> tuple[Path, ...]:
    """Return the missing parent folders of `path`, outermost first."""
    missing: list[Path] = []
    for folder in path.parents:
        if os.path.lexists(folder):
            break
        missing.append(folder)
    return tuple(reversed(missing))


def _walk(root: int, parts: tuple[str, ...], *, create: bool) -> int:
    descriptor = os.dup(root)
    for part in parts:
        try:
            deeper = _enter(part, descriptor, create=create)
        finally:
            os.close(descriptor)
        descriptor = deeper
    return descriptor


def _enter(part: str, folder: int, *, create: bool) -> int:
    if create:
        with contextlib.suppress(FileExistsError):
            os.mkdir(part, dir_fd=folder)
    try:
        return os.open(part, _FOLDER_FLAGS, dir_fd=folder)
    except NotADirectoryError:
        if stat.S_ISLNK(os.lstat(part, dir_fd=folder).st_mode):
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), part) from None
        raise


@contextlib.contextmanager
def _parent(located: Located) -> Iterator[int]:
    folder = open_folder(located.path.parent)
    try:
        yield folder
    finally:
        os.close(folder)


def _status(located: Located, folder: int) -> os.stat_result:
    return os.stat(located.path.name or ".", dir_fd=folder, follow_symlinks=False)


def _not_a_file(located: Located, mode: int) -> ToolError:
    return ToolError(ErrorType.NOT_A_FILE, f"{located.shown} is {_special(mode)}, not a file.")


def explain(error: OSError, located: Located) -> ToolError:
    """Turn a file system error into a message that a model can act on."""
    if error.errno == errno.ENAMETOOLONG:
        return invalid_path("is too long for the file system")
    reason = error.strerror or type(error).__name__
    fallback = (ErrorType.EXECUTION_FAILED, f"{{shown}}: {reason}.", "")
    kind, sentence, hint = _FAILURES.get(error.errno or 0, fallback)
    return ToolError(kind, sentence.replace("{shown}", located.shown), hint)


def _special(mode: int) -> str:
    kinds = {
        stat.S_IFDIR: "a folder",
        stat.S_IFIFO: "a named pipe",
        stat.S_IFSOCK: "a socket",
        stat.S_IFCHR: "a device",
        stat.S_IFBLK: "a device",
        stat.S_IFLNK: "a circular symbolic link",
    }
    return kinds.get(stat.S_IFMT(mode), "a special file")
