"""One system call that opens a path and follows no link on the way, where the kernel has it."""

import ctypes
import errno
import os
import sys
from functools import cache

_NUMBER = 437  # the same on every architecture that Python has wheels for
_NO_MAGIC_LINKS, _NO_LINKS, _BENEATH = 0x02, 0x04, 0x08
_MOST_TRIES = 100


class _How(ctypes.Structure):
    _fields_ = (("flags", ctypes.c_uint64), ("mode", ctypes.c_uint64), ("resolve", ctypes.c_uint64))


@cache
def is_available() -> bool:
    """Asked once: old kernels do not have the call, and some containers forbid it."""
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
    """Open what lies at `path` under `folder`; `ELOOP` where any part of it is a link."""
    how = _How(flags, 0, _NO_MAGIC_LINKS | _NO_LINKS | _BENEATH)
    for _ in range(_MOST_TRIES):
        descriptor = _call()(_NUMBER, folder, os.fsencode(path), ctypes.byref(how), ctypes.sizeof(how))
        if descriptor >= 0:
            return int(descriptor)
        # A rename somewhere on the system got in the way of the kernel's own check.
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
