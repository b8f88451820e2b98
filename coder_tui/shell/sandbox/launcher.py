"""Run a command under Landlock and a system-call filter, and end with everything it started.

This is a separate program for `python -I -S`. It imports nothing of ours, so that it starts fast. It reads
its order as JSON from the descriptor that its argument names. It stays the parent of every process that the
command leaves behind (setsid, a cleared environment) and ends them when it ends.
"""

import base64
import ctypes
import json
import os
import signal
import stat
import sys
import time
from typing import Any, TextIO

_SET_DEATH_SIGNAL, _SET_SECCOMP, _SUBREAPER, _NO_NEW_PRIVILEGES = 1, 22, 36, 38
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_PATH_BENEATH = 1
_DROP_FROM_BOUND, _CAPABILITY_VERSION, _MOST_CAPABILITIES = 24, 0x20080522, 64
_LIBC = ctypes.CDLL(None, use_errno=True)


class _Ruleset(ctypes.Structure):
    _fields_ = (("files", ctypes.c_uint64), ("network", ctypes.c_uint64), ("scoped", ctypes.c_uint64))


class _Beneath(ctypes.Structure):
    _pack_ = 1
    _fields_ = (("allowed", ctypes.c_uint64), ("folder", ctypes.c_int32))


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_void_p))


def _checked(result: int) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result


def _prctl(option: int, value: int, address: Any = 0) -> None:
    _checked(_LIBC.prctl(option, ctypes.c_ulong(value), address, ctypes.c_ulong(0), ctypes.c_ulong(0)))


def _restrict(rules: dict[str, Any]) -> None:
    """Apply Landlock. `rules` has the rights that are restricted, and the paths that allow them."""
    wanted = _Ruleset(rules["files"], rules["network"], rules["scoped"])
    size = ctypes.c_size_t(rules["size"])
    ruleset = _checked(_LIBC.syscall(_CREATE_RULESET, ctypes.byref(wanted), size, 0))
    for path, allowed in rules["paths"]:
        try:
            folder = os.open(path, os.O_PATH | os.O_CLOEXEC)
        except OSError:
            continue  # already gone: nothing to allow
        if not stat.S_ISDIR(os.fstat(folder).st_mode):
            allowed &= rules["of_files"]
        beneath = _Beneath(allowed, folder)
        _checked(_LIBC.syscall(_ADD_RULE, ruleset, _PATH_BENEATH, ctypes.byref(beneath), 0))
        os.close(folder)
    _checked(_LIBC.syscall(_RESTRICT_SELF, ruleset, 0))
    os.close(ruleset)


def _drop_capabilities() -> None:
    """Drop capabilities, which only root has: they would bypass the file rules."""
    for number in range(_MOST_CAPABILITIES):
        if _LIBC.prctl(_DROP_FROM_BOUND, ctypes.c_ulong(number), 0, 0, 0) < 0:
            break
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION, 0)
    _checked(_LIBC.capset(header, (ctypes.c_uint32 * 6)()))


def _filter(code: bytes) -> None:
    held = ctypes.create_string_buffer(code, len(code))
    program = _Program(len(code) // 8, ctypes.cast(held, ctypes.c_void_p))
    _prctl(_SET_SECCOMP, 2, ctypes.byref(program))


def _become(order: dict[str, Any], argv: list[str]) -> None:
    _prctl(_SET_DEATH_SIGNAL, signal.SIGKILL)
    _prctl(_NO_NEW_PRIVILEGES, 1)
    if order["rules"]:
        _restrict(order["rules"])
        _drop_capabilities()
    if order["filter"]:
        _filter(base64.b64decode(order["filter"]))
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    os.environ.update(order["environment"])
    os.execvp(argv[0], argv)


def _descendants() -> list[int]:
    """Return all processes below this one. Orphans become its children."""
    parents: dict[int, int] = {}
    for entry in os.scandir("/proc"):
        if entry.name.isdecimal():
            try:
                status = os.open(f"{entry.path}/stat", os.O_RDONLY)
            except OSError:
                continue
            with os.fdopen(status, errors="replace") as file:
                parents[int(entry.name)] = _parent(file)
    found, grew = {os.getpid()}, True
    while grew:
        more = {pid for pid, parent in parents.items() if parent in found and pid not in found}
        found |= more
        grew = bool(more)
    return sorted(found - {os.getpid()})


def _parent(file: TextIO) -> int:
    try:
        return int(file.read().rpartition(")")[2].split()[1])
    except OSError:
        return 0  # already gone


def _kill_descendants() -> None:
    """Kill all processes below. Orphans become our children, so nothing is left once there is no child."""
    while True:
        for pid in _descendants():
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                continue
        except ChildProcessError:
            return
        time.sleep(0.002)  # one may have forked during the search: search again


def _wait_for(child: int) -> int:
    while True:
        pid, status = os.waitpid(-1, 0)
        if pid == child:
            return os.waitstatus_to_exitcode(status)


def main(argv: list[str]) -> int:
    with os.fdopen(int(argv[1]), encoding="utf-8") as file:
        order = json.load(file)
    starter = os.getppid()

    def on_term(number: int, frame: object) -> None:
        # While the program runs, it ends the command itself, with TERM first.
        if os.getppid() != starter:
            _kill_descendants()
            os._exit(128 + number)

    signal.signal(signal.SIGTERM, on_term)
    _prctl(_SUBREAPER, 1)
    _prctl(_SET_DEATH_SIGNAL, signal.SIGTERM)
    child = os.fork()
    if child == 0:
        try:
            _become(order, argv[2:])
        except OSError as error:
            os.write(2, f"launcher: {argv[2]}: {error.strerror}\n".encode())
        os._exit(127)
    code = _wait_for(child)
    _kill_descendants()
    return code if code >= 0 else 128 - code


if __name__ == "__main__":
    sys.exit(main(sys.argv))
