"""The Landlock profile, for systems without bubblewrap: writes only here, but `.git` is not protected."""

import ctypes
import os
import platform
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from coder_tui.shell.sandbox.bubblewrap import Layout
from coder_tui.shell.sandbox.confinement import Confinement
from coder_tui.shell.sandbox.protected import git_folders, secret_places

_CREATE_RULESET = 444
_ASK_VERSION = 1
_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
_CHANGE = ((1 << 13) - 1) & ~(_EXECUTE | _WRITE_FILE | _READ_FILE | _READ_DIR)  # remove and make of all kinds
_REFER, _TRUNCATE, _DEVICES = 1 << 13, 1 << 14, 1 << 15
_OF_FILES = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _DEVICES
_READ = _EXECUTE | _READ_FILE
_BIND_AND_CONNECT = 0b11
_ABSTRACT_SOCKETS, _SIGNALS = 1, 2
_TRUNCATES_FROM, _TCP_FROM, _DEVICES_FROM, _SCOPES_FROM = 3, 4, 5, 6
_OPEN_DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty", "/dev/shm")


def landlock_version() -> int:
    """Return the version of Landlock, or 0 if the kernel does not have it enabled."""
    if platform.system() != "Linux":
        return 0
    libc = ctypes.CDLL(None, use_errno=True)
    return max(int(libc.syscall(_CREATE_RULESET, None, ctypes.c_size_t(0), _ASK_VERSION)), 0)


def rules(layout: Layout, confinement: Confinement, version: int) -> dict[str, Any]:
    """Return the rules that the launcher gives to the kernel. Blocks: it reads the folders around secrets."""
    everything = _rights(version)
    return {
        "files": everything,
        "network": _BIND_AND_CONNECT if version >= _TCP_FROM and not confinement.network else 0,
        "scoped": _scopes(confinement) if version >= _SCOPES_FROM else 0,
        "size": 24 if version >= _SCOPES_FROM else 16 if version >= _TCP_FROM else 8,
        "of_files": _OF_FILES & everything,
        "paths": [
            *((str(path), everything) for path in _writable(layout, confinement)),
            *((device, _OF_FILES & everything) for device in _OPEN_DEVICES),
            ("/", _READ_DIR),
            *((str(path), _READ) for path in _readable(layout, confinement)),
        ],
    }


def _rights(version: int) -> int:
    rights = _READ | _READ_DIR | _WRITE_FILE | _CHANGE
    if version > 1:
        rights |= _REFER
    if version >= _TRUNCATES_FROM:
        rights |= _TRUNCATE
    if version >= _DEVICES_FROM:
        rights |= _DEVICES
    return rights


def _scopes(confinement: Confinement) -> int:
    return _SIGNALS if confinement.sockets else _SIGNALS | _ABSTRACT_SOCKETS


def _writable(layout: Layout, confinement: Confinement) -> Iterator[Path]:
    yield from (*layout.roots, layout.scratch, layout.caches)
    yield from (Path(folder) for folder in confinement.folders)
    for git in confinement.git:
        yield from git_folders(Path(git))
    for file in map(Path, confinement.files):
        # A new file needs the right to create others next to it, which is not given for the home folder.
        if file.exists():
            yield file
        elif not any(home.is_relative_to(file.parent) for home in layout.homes):
            yield file.parent


def _readable(layout: Layout, confinement: Confinement) -> Iterator[Path]:
    """Yield everything except secrets and our own files.

    Rules can only allow, so they must go around them.
    """
    shown = {Path(os.path.realpath(path)) for path in confinement.visible}
    places = (*secret_places(layout.homes, network=confinement.network), *layout.own)
    yield from _around(Path("/"), [place for place in places if place not in shown])
    yield from shown
    yield from layout.readable


def _around(folder: Path, hidden: Iterable[Path]) -> Iterator[Path]:
    below = [place for place in hidden if place.is_relative_to(folder)]
    if not below:
        yield folder
    elif folder not in below:
        for entry in os.scandir(folder):
            if not entry.is_symlink():
                yield from _around(Path(entry.path), below)
