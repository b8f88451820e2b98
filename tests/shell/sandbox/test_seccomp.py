"""The filter decides correctly, also for machines that this test does not run on."""

import errno
import struct

import pytest

from coder_tui.shell.sandbox.seccomp import AF_INET, AF_NETLINK, AF_UNIX, command_filter

ALLOW, KILL, ERRNO = 0x7FFF0000, 0x80000000, 0x00050000
AUDIT = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
I386 = 0x40000003
AF_VSOCK = 40
NUMBERS = {
    "x86_64": {
        "read": 0,
        "ioctl": 16,
        "socket": 41,
        "socketpair": 53,
        "clone": 56,
        "ptrace": 101,
        "mount": 165,
    }
    | {"keyctl": 250, "unshare": 272, "setns": 308, "bpf": 321, "execve": 59, "chroot": 161, "reboot": 169},
    "aarch64": {
        "read": 63,
        "ioctl": 29,
        "socket": 198,
        "socketpair": 199,
        "clone": 220,
        "ptrace": 117,
        "mount": 40,
    }
    | {"keyctl": 219, "unshare": 97, "setns": 268, "bpf": 280, "execve": 221, "chroot": 51, "reboot": 142},
}
NEW = {"io_uring_setup": 425, "fsopen": 430, "pidfd_getfd": 438, "clone3": 435}


def decide(program: bytes, architecture: int, number: int, *arguments: int) -> int:
    """Run the filter over a call, and return what the kernel would."""
    words = (*arguments, 0, 0, 0, 0, 0, 0)[:6]
    data = struct.pack("<IIQ6Q", number, architecture, 0, *words)
    instructions = list(struct.iter_unpack("HBBI", program))
    held, at = 0, 0
    while True:
        code, if_true, if_false, value = instructions[at]
        at += 1
        match code:
            case 0x20:
                (held,) = struct.unpack_from("<I", data, value)
            case 0x15:
                at += if_true if held == value else if_false
            case 0x35:
                at += if_true if held >= value else if_false
            case 0x45:
                at += if_true if held & value else if_false
            case 0x54:
                held &= value
            case 0x06:
                return int(value)
            case _:
                raise AssertionError(f"unknown instruction {code:#x}")


def answer(machine: str, name: str, *arguments: int, sockets: bool = False, internet: bool = True) -> int:
    program = command_filter(sockets=sockets, internet=internet, machine=machine)
    number = NUMBERS[machine].get(name, NEW.get(name, -1))
    return decide(program, AUDIT[machine], number, *arguments)


def refused(number: int) -> int:
    return ERRNO | number


machines = pytest.mark.parametrize("machine", sorted(AUDIT))


@machines
@pytest.mark.parametrize(
    "name",
    [
        "ptrace",
        "mount",
        "keyctl",
        "setns",
        "bpf",
        "chroot",
        "reboot",
        "io_uring_setup",
        "fsopen",
        "pidfd_getfd",
    ],
)
def test_calls_that_reach_out_are_refused(machine: str, name: str) -> None:
    assert answer(machine, name) == refused(errno.EPERM)


@machines
@pytest.mark.parametrize("name", ["read", "execve", "socketpair"])
def test_ordinary_calls_go_through(machine: str, name: str) -> None:
    assert answer(machine, name, AF_UNIX, 1) == ALLOW


@machines
def test_pairs_are_for_streams(machine: str) -> None:
    stream, datagrams, packets, close_on_exec = 1, 2, 5, 0o2000000

    assert answer(machine, "socketpair", AF_UNIX, stream | close_on_exec) == ALLOW
    assert answer(machine, "socketpair", AF_UNIX, packets) == ALLOW
    assert answer(machine, "socketpair", AF_UNIX, datagrams | close_on_exec) == refused(errno.EACCES)
    assert answer(machine, "socketpair", AF_UNIX, datagrams, sockets=True) == ALLOW


@machines
def test_sockets_by_family(machine: str) -> None:
    assert answer(machine, "socket", AF_UNIX) == refused(errno.EACCES)
    assert answer(machine, "socket", AF_UNIX, sockets=True) == ALLOW
    assert answer(machine, "socket", AF_INET) == ALLOW
    assert answer(machine, "socket", AF_INET, internet=False) == refused(errno.EACCES)
    assert answer(machine, "socket", AF_NETLINK, internet=False) == ALLOW
    assert answer(machine, "socket", AF_VSOCK, sockets=True) == refused(errno.EACCES)


@machines
@pytest.mark.parametrize(
    "flag", [0x20000, 0x2000000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000]
)
def test_new_namespaces_are_refused_and_new_processes_are_not(machine: str, flag: int) -> None:
    assert answer(machine, "clone", flag | 17) == refused(errno.EPERM)
    assert answer(machine, "clone", 0x01200011) == ALLOW
    assert answer(machine, "unshare", flag) == refused(errno.EPERM)
    assert answer(machine, "unshare", 0x400) == ALLOW


@machines
def test_clone3_falls_back(machine: str) -> None:
    assert answer(machine, "clone3") == refused(errno.ENOSYS)


@machines
def test_nothing_is_typed_into_a_terminal(machine: str) -> None:
    assert answer(machine, "ioctl", 0, 0x5412) == refused(errno.EPERM)
    assert answer(machine, "ioctl", 0, 0x541C) == refused(errno.EPERM)
    assert answer(machine, "ioctl", 0, 0x5413) == ALLOW
    # The kernel only reads the low half.
    assert answer(machine, "ioctl", 0, 0x1_0000_5412) == refused(errno.EPERM)


def test_another_calling_convention_ends_the_process() -> None:
    program = command_filter(sockets=False, internet=True, machine="x86_64")

    assert decide(program, I386, 359, AF_UNIX) == KILL
    assert decide(program, AUDIT["x86_64"], 0x40000000 | 41, AF_UNIX) == refused(errno.ENOSYS)
