"""A system-call filter for confined commands, assembled by hand so that it needs no library."""

import errno
import platform
import struct
from collections.abc import Iterable
from dataclasses import dataclass

_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _AND, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x54, 0x06
_ALLOW, _KILL, _ERRNO = 0x7FFF0000, 0x80000000, 0x00050000
_NUMBER, _ARCHITECTURE, _FIRST, _SECOND = 0, 4, 16, 24  # offsets in struct seccomp_data, low words
_X32 = 0x40000000
_NEW_NAMESPACES = 0x7E020080  # every CLONE_NEW… flag, CLONE_NEWTIME included
_TYPES_INPUT = (0x5412, 0x541C)  # TIOCSTI and TIOCLINUX type into a terminal

_SOCKET_TYPES, _DATAGRAMS = 0xF, 2

AF_UNIX, AF_INET, AF_INET6, AF_NETLINK = 1, 2, 10, 16


@dataclass(frozen=True, slots=True)
class _Machine:
    """The system-call numbers of one architecture."""

    audit: int
    clone: int
    clone3: int
    unshare: int
    ioctl: int
    socket: int
    socketpair: int
    refused: tuple[int, ...]
    has_x32: bool = False


# From 424 on the numbers are the same everywhere: pidfd_getfd, the new mount calls, io_uring, quotactl_fd.
_NEWER_REFUSED = (425, 426, 427, 428, 429, 430, 431, 432, 433, 438, 442, 443, 467)
_MACHINES = {
    "x86_64": _Machine(
        audit=0xC000003E,
        clone=56,
        clone3=435,
        unshare=272,
        ioctl=16,
        socket=41,
        socketpair=53,
        # ptrace syslog pivot_root chroot acct settimeofday mount umount2 swapon swapoff reboot sethostname
        # setdomainname iopl ioperm init_module delete_module quotactl lookup_dcookie clock_settime
        refused=(
            *(101, 103, 155, 161, 163, 164, 165, 166, 167, 168, 169, 170, 171, 172, 173, 175, 176, 179),
            # kexec_load add_key request_key keyctl perf_event_open open_by_handle_at clock_adjtime setns
            *(212, 227, 246, 248, 249, 250, 298, 304, 305, 308),
            # process_vm_readv process_vm_writev kcmp finit_module kexec_file_load bpf userfaultfd
            *(310, 311, 312, 313, 320, 321, 323),
            *_NEWER_REFUSED,
        ),
        has_x32=True,
    ),
    "aarch64": _Machine(
        audit=0xC00000B7,
        clone=220,
        clone3=435,
        unshare=97,
        ioctl=29,
        socket=198,
        socketpair=199,
        # lookup_dcookie umount2 mount pivot_root quotactl chroot acct kexec_load init_module delete_module
        refused=(
            *(18, 39, 40, 41, 60, 51, 89, 104, 105, 106),
            # clock_settime syslog ptrace reboot sethostname setdomainname settimeofday add_key request_key
            *(112, 116, 117, 142, 161, 162, 170, 217, 218),
            # keyctl swapon swapoff perf_event_open open_by_handle_at clock_adjtime setns process_vm_*
            *(219, 224, 225, 241, 265, 266, 268, 270, 271),
            # kcmp finit_module bpf userfaultfd kexec_file_load
            *(272, 273, 280, 282, 294),
            *_NEWER_REFUSED,
        ),
    ),
}


def is_supported() -> bool:
    return platform.machine() in _MACHINES


def command_filter(*, sockets: bool, internet: bool, machine: str = "") -> bytes:
    """Return the filter program for the kernel.

    Unix sockets (`sockets`) reach services of the user's session. Pairs of stream sockets always work. Other
    families are refused, because some of them (vsock) ignore network namespaces.
    """
    numbers = _MACHINES[machine or platform.machine()]
    families = {AF_NETLINK}
    if sockets:
        families.add(AF_UNIX)
    if internet:
        families |= {AF_INET, AF_INET6}
    return b"".join(
        (
            *_foreign_architectures(numbers),
            *(part for number in numbers.refused for part in _refuse(number, errno.EPERM)),
            # Its flags are in memory that a filter cannot read. Libraries fall back to clone.
            *_refuse(numbers.clone3, errno.ENOSYS),
            *_flags(numbers.clone, _FIRST, _NEW_NAMESPACES & ~0xFF),
            *_flags(numbers.unshare, _FIRST, _NEW_NAMESPACES),
            *_values(numbers.ioctl, _SECOND, _TYPES_INPUT),
            *_families(numbers.socket, sorted(families)),
            *(() if sockets else _pairs(numbers.socketpair)),
            _op(_RETURN, _ALLOW),
        )
    )


def _op(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("HBBI", code, if_true, if_false, value)


def _foreign_architectures(numbers: _Machine) -> Iterable[bytes]:
    """Kill other calling conventions of the machine, because they have other numbers."""
    yield _op(_LOAD, _ARCHITECTURE)
    yield _op(_EQUAL, numbers.audit, 1, 0)
    yield _op(_RETURN, _KILL)
    yield _op(_LOAD, _NUMBER)
    if numbers.has_x32:
        yield _op(_AT_LEAST, _X32, 0, 1)
        yield _op(_RETURN, _ERRNO | errno.ENOSYS)


def _refuse(number: int, error: int) -> Iterable[bytes]:
    yield _op(_EQUAL, number, 0, 1)
    yield _op(_RETURN, _ERRNO | error)


def _flags(number: int, argument: int, mask: int) -> Iterable[bytes]:
    yield _op(_EQUAL, number, 0, 4)
    yield _op(_LOAD, argument)
    yield _op(_ANY_BIT, mask, 0, 1)
    yield _op(_RETURN, _ERRNO | errno.EPERM)
    yield _op(_RETURN, _ALLOW)


def _values(number: int, argument: int, refused: tuple[int, ...]) -> Iterable[bytes]:
    yield _op(_EQUAL, number, 0, 2 * len(refused) + 2)
    yield _op(_LOAD, argument)
    for value in refused:
        yield from _refuse(value, errno.EPERM)
    yield _op(_RETURN, _ALLOW)


def _pairs(number: int) -> Iterable[bytes]:
    """Refuse pairs of datagram sockets: they can send to any address. Streams cannot."""
    yield _op(_EQUAL, number, 0, 5)
    yield _op(_LOAD, _SECOND)
    yield _op(_AND, _SOCKET_TYPES)
    yield _op(_EQUAL, _DATAGRAMS, 0, 1)
    yield _op(_RETURN, _ERRNO | errno.EACCES)
    yield _op(_RETURN, _ALLOW)


def _families(number: int, allowed: list[int]) -> Iterable[bytes]:
    yield _op(_EQUAL, number, 0, 2 * len(allowed) + 2)
    yield _op(_LOAD, _FIRST)
    for family in allowed:
        yield _op(_EQUAL, family, 0, 1)
        yield _op(_RETURN, _ALLOW)
    yield _op(_RETURN, _ERRNO | errno.EACCES)
