"""Ways out of a sandbox, each a command that exits with 0 if it got through."""

import shlex
import sys
from dataclasses import dataclass

_PRELUDE = (
    "import ctypes, os, platform, socket, struct, sys, fcntl, signal\n"
    "libc = ctypes.CDLL(None, use_errno=True)\n"
    "arm = platform.machine() == 'aarch64'\n"
    "def call(*words): return libc.syscall(*[ctypes.c_long(w) if isinstance(w, int) else w for w in words])\n"
    "env = os.environ\n"
)


@dataclass(frozen=True, slots=True)
class Probe:
    """`has_control`: it may be run without a sandbox, and then gets through.

    `leaves` is a file that it would leave outside; `needs_root`: only root gets through anyway.
    """

    name: str
    command: str
    has_control: bool = True
    leaves: str = ""
    needs_root: bool = False


def _sh(name: str, command: str, *, leaves: str = "", root: bool = False, control: bool = True) -> Probe:
    return Probe(name, command, control, leaves, root)


def _py(name: str, code: str, *, leaves: str = "", root: bool = False, control: bool = True) -> Probe:
    command = f"{shlex.quote(sys.executable)} -I -c {shlex.quote(_PRELUDE + code)}"
    return Probe(name, command, control, leaves, root)


def _done(call: str) -> str:
    return f"sys.exit(0 if {call} >= 0 else 1)"


WRITES = (
    _sh("write outside", 'echo x > "$OUTSIDE/mark"', leaves="mark"),
    _sh("append outside", 'echo x >> "$OUTSIDE/file"'),
    _sh("truncate outside", ': > "$OUTSIDE/file"'),
    _sh("delete outside", 'touch "$OUTSIDE/d"; rm "$OUTSIDE/file" && touch "$OUTSIDE/file"'),
    _sh("change the mode outside", 'chmod 700 "$OUTSIDE/file"'),
    _sh("change times outside", 'touch -d 2001-01-01 "$OUTSIDE/file"'),
    _sh("move out", 'echo x > m && mv m "$OUTSIDE/mark"', leaves="mark"),
    _sh("start file of the shell", 'echo x >> "$HOME/.bashrc"'),
    _sh("new file in the home folder", 'echo x > "$HOME/new"'),
    _sh("new program in the home folder", 'mkdir -p "$HOME/.local/bin" && echo x > "$HOME/.local/bin/ls"'),
    _sh("through a symlink", 'ln -sfn "$OUTSIDE" way && echo x > way/mark', leaves="mark"),
    _sh("through a symlink to git", "ln -sfn .git g && echo x > g/hooks/pre-commit"),
    _sh("through /proc/self/root", 'echo x > "/proc/self/root$OUTSIDE/mark"', leaves="mark"),
    _sh("through /proc/1/root", 'echo x > "/proc/1/root$OUTSIDE/mark"', leaves="mark", root=True),
    _sh("through /proc/1/cwd", 'echo x > "/proc/1/cwd/$OUTSIDE/mark"', leaves="mark", root=True),
    _sh("through the outer program's root", 'echo x > "/proc/$OUTER/root$OUTSIDE/mark"', leaves="mark"),
    _sh("through dots", 'echo x > "$PWD/../outside/mark"', leaves="mark"),
    _sh("hard link into the workspace", 'ln "$OUTSIDE/file" hard && echo x >> hard'),
    _py(
        "unnamed file, then linked",
        "f = os.open(env['OUTSIDE'], os.O_TMPFILE | os.O_WRONLY, 0o600)\n"
        + _done(
            "libc.linkat(-100, b'/proc/self/fd/%d' % f, -100, (env['OUTSIDE'] + '/mark').encode(), 1024)"
        ),
        leaves="mark",
    ),
    _py("extended attribute outside", "os.setxattr(env['OUTSIDE'] + '/file', 'user.probe', b'x')"),
    _sh("etc", "touch /etc/coder-tui-probe && rm /etc/coder-tui-probe", root=True),
    _sh(
        "programs for all",
        "touch /usr/local/bin/coder-tui-probe && rm /usr/local/bin/coder-tui-probe",
        root=True,
    ),
    _sh("run", "touch /run/coder-tui-probe && rm /run/coder-tui-probe", root=True),
    _sh("kernel setting", "cat /proc/sys/kernel/printk > p && cat p > /proc/sys/kernel/printk", root=True),
    _py("sysrq", "os.open('/proc/sysrq-trigger', os.O_WRONLY)", root=True),
    _py("sysfs", "os.open('/sys/kernel/mm/transparent_hugepage/enabled', os.O_WRONLY)", root=True),
    _sh(
        "cgroup",
        "mkdir /sys/fs/cgroup/coder-tui-probe && rmdir /sys/fs/cgroup/coder-tui-probe",
        control=False,
    ),
    _sh("memory seen outside", 'echo x > "/dev/shm/$SHARED" && test -e "/dev/shm/$SHARED-planted"'),
    _sh("tmp seen outside", 'echo x > "/tmp/$SHARED" && test -e "/tmp/$SHARED-planted"'),
    _sh("var/tmp seen outside", 'echo x > "/var/tmp/$SHARED" && test -e "/var/tmp/$SHARED-planted"'),
)

GUARDED = (
    _sh("git hook", "echo x > .git/hooks/pre-commit"),
    _sh("git configuration", "echo x >> .git/config"),
    _sh("git configuration by git", "git config core.fsmonitor ./x", control=False),
    _sh("move git away", "mv .git away && mv away .git"),
    _sh("remove git", "rm -rf .git && mkdir -p .git/hooks && touch .git/config"),
    _sh("nested repository", "echo x > nested/.git/config"),
    _sh("swap a nested repository", "mv nested aside && mkdir -p nested/.git && echo x > nested/.git/config"),
    _sh("hard link out of git", "ln .git/config linked && echo x >> linked"),
    _sh("reopen what was opened to read", "exec 3< .git/config && echo x >> /proc/self/fd/3"),
    _sh("own project settings", "mkdir -p .coder-tui && echo x > .coder-tui/config.toml"),
    _sh("missing server list", "echo x > .mcp.json && rm .mcp.json"),
    _sh("missing environment", "echo x > .envrc && rm .envrc"),
    _sh("missing editor tasks", "mkdir -p .vscode && echo x > .vscode/tasks.json"),
    _sh("missing editor folder", "mkdir -p .idea && echo x > .idea/workspace.xml"),
    _sh("missing agent settings", "mkdir -p .claude && echo x > .claude/settings.json"),
    _sh("replace a placeholder", "mkdir -p .vscode; rm -rf .vscode && mkdir .vscode && touch .vscode/a"),
    _sh("rename over a placeholder", "mkdir -p .idea; mkdir v; mv -T v .idea && touch .idea/a"),
    _sh("link over a missing name", "rm -rf .envrc; ln -s file .envrc && rm .envrc"),
    _sh("move the workspace", 'mv "$ROOT" "$ROOT-2" && mv "$ROOT-2" "$ROOT"'),
)

SECRETS = (
    *(
        _sh(f"read ~/{name}", f'grep -q probe-secret "$HOME/{name}"')
        for name in (
            *(".ssh/id_ed25519", ".aws/credentials", ".gnupg/key", ".netrc", ".docker/config.json"),
            *(".kube/config", ".config/gh/hosts.yml", ".config/gcloud/token", ".git-credentials"),
            *(".npmrc", ".bash_history"),
        )
    ),
    _sh("read a key by a link", 'ln -sfn "$HOME/.ssh" keys; grep -q probe-secret keys/id_ed25519'),
    _sh("read a key by /proc", 'grep -q probe-secret "/proc/self/root$HOME/.ssh/id_ed25519"'),
    _sh("read the sessions", 'grep -q probe-secret "$DATA/sessions.db"'),
    _sh("secret in the environment", 'test -n "$PROBE_API_KEY"'),
    _sh("environment of the outer program", 'tr "\\0" "\\n" < "/proc/$OUTER/environ" | grep -q .'),
    _sh(
        "environment of the first process",
        'tr "\\0" "\\n" < /proc/1/environ | grep -q API_KEY',
        control=False,
    ),
    _sh("passwords of the system", "grep -q root /etc/shadow", root=True),
    _py("kernel memory", "os.read(os.open('/proc/kcore', os.O_RDONLY), 64) or sys.exit(1)", control=False),
    _py("page flags", "os.read(os.open('/proc/kpageflags', os.O_RDONLY), 8) or sys.exit(1)", root=True),
    _py("memory", "os.open('/dev/mem', os.O_RDONLY)", control=False),
    _py("kernel log", "os.open('/dev/kmsg', os.O_RDONLY)", root=True),
    _sh(
        "disk",
        "for d in /dev/vda /dev/sda /dev/nvme0n1; do head -c1 $d && exit 0; done; exit 1",
        control=False,
    ),
    _py(
        "descriptors that leaked",
        "place = '/proc/self/fd/'\n"
        "left = [n for n in os.listdir(place) if int(n) > 2 and os.path.exists(place + n)]\n"
        "sys.exit(0 if left else 1)",
        control=False,
    ),
)

PROCESSES = (
    _sh("see the victim", 'test -e "/proc/$VICTIM/stat"'),
    _py("signal the victim", "os.kill(int(env['VICTIM']), 0)"),
    _py("hold the victim", "os.pidfd_open(int(env['VICTIM']))"),
    _py(
        "limit the victim",
        "import resource; resource.prlimit(int(env['VICTIM']), resource.RLIMIT_CORE, (0, 0))",
    ),
    _py("slow the victim down", "os.setpriority(os.PRIO_PROCESS, int(env['VICTIM']), 5)"),
    _py("trace the first process", _done("libc.ptrace(16, 1, 0, 0)"), control=False),
    _py(
        "trace a child", "pid = os.fork()\nif not pid: signal.pause()\n" + _done("libc.ptrace(16, pid, 0, 0)")
    ),
    _py(
        "read another's memory",
        "b = ctypes.create_string_buffer(8)\n"
        "v = (ctypes.c_ulong * 2)(ctypes.addressof(b), 8)\n"
        + _done("libc.process_vm_readv(os.getpid(), v, 1, v, 1, 0)"),
    ),
    _py(
        "enter mounts of another", "f = os.open('/proc/1/ns/mnt', 0)\n" + _done("libc.setns(f, 0)"), root=True
    ),
    _py(
        "enter the outer network",
        "f = os.open(f\"/proc/{env['OUTER']}/ns/net\", 0)\n" + _done("libc.setns(f, 0)"),
        root=True,
    ),
    _py("new user namespace", _done("libc.unshare(0x10000000)")),
    _py("new mount namespace", _done("libc.unshare(0x20000)"), root=True),
    _sh("new namespaces by unshare", "unshare -Ur true"),
    _sh("bubblewrap in bubblewrap", "bwrap --unshare-user --ro-bind / / true"),
    _py(
        "clone into a namespace",
        "f = 0x10000000 | 17\nr = call(220 if arm else 56, f, 0, 0, 0, 0)\nif r == 0: os._exit(0)\n"
        + _done("r"),
    ),
    _py("new root", _done("libc.chroot(b'/usr')"), root=True),
    _sh("capabilities", "grep -q 'CapEff.*[1-9a-f]' /proc/self/status", root=True),
    _sh("capabilities to gain", "grep -q 'CapBnd.*[1-9a-f]' /proc/self/status"),
    _sh("new privileges", "grep -q 'NoNewPrivs:.0' /proc/self/status"),
)

NETWORK = (
    _py("tcp to the host", "socket.create_connection(('127.0.0.1', int(env['PORT'])), 3)"),
    _py("tcp to the host, IPv6 form", "socket.create_connection(('::ffff:127.0.0.1', int(env['PORT'])), 3)"),
    _sh("tcp by the shell", 'exec 3<>"/dev/tcp/127.0.0.1/$PORT"'),
    _py(
        "udp to the host",
        "s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.settimeout(1)\n"
        "s.sendto(b'x', ('127.0.0.1', int(env['UDP']))); s.recv(9)",
    ),
    _py("any interface", "sys.exit(0 if [n for _, n in socket.if_nameindex() if n != 'lo'] else 1)"),
    _py("out by address", "socket.create_connection(('1.1.1.1', 53), 2)", control=False),
    _py("name lookup", "socket.getaddrinfo('example.com', 80)", control=False),
    _py("unix socket", "s = socket.socket(socket.AF_UNIX); s.connect(env['SOCKET'])"),
    _py("abstract socket", "s = socket.socket(socket.AF_UNIX); s.connect('\\0' + env['ABSTRACT'])"),
    _py(
        "unix datagrams through a pair",
        "s, _ = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM); s.sendto(b'x', env['DATAGRAMS'])",
    ),
    _py(
        "a pair that connects again",
        "s, _ = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)\n"
        "s.connect(env['DATAGRAMS']); s.send(b'x')",
    ),
    _py(
        "a stream pair that connects again",
        "s, _ = socket.socketpair(); s.connect(env['SOCKET']); s.recv(4)",
        control=False,
    ),
    _py("own unix socket", "s = socket.socket(socket.AF_UNIX); s.bind('s' + str(os.getpid()))"),
    _py("unix datagrams", "socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)"),
    _py("raw packets", "socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 768)", root=True),
    _py("raw icmp", "socket.socket(socket.AF_INET, socket.SOCK_RAW, 1)", root=True),
    _py("the machine's host (vsock)", "socket.socket(40, socket.SOCK_STREAM)", control=False),
    _py("kernel crypto", "socket.socket(38, socket.SOCK_SEQPACKET)", control=False),
)

KERNEL = (
    _py("mount", _done("libc.mount(b'none', b'/mnt', b'tmpfs', 0, b'')"), control=False),
    _py("remount writable", _done("libc.mount(b'none', b'/', None, 32 | 4096, None)"), control=False),
    _py("unmount a guard", _done("libc.umount2(b'.git', 2)"), control=False),
    _py("bind over a guard", _done("libc.mount(b'nested', b'.git', None, 4096, None)"), control=False),
    _py("open a tree", _done("call(428, -100, b'/', 1)"), root=True),
    _py("new file system", _done("call(430, b'tmpfs', 0)"), root=True),
    _py(
        "mount attributes",
        _done("call(442, -100, b'/', 0, ctypes.create_string_buffer(32), 32)"),
        control=False,
    ),
    _py("pivot", _done("call(41 if arm else 155, b'.', b'.')"), control=False),
    _py("device node", "os.mknod('dev', 0o20600, os.makedev(1, 1)); os.unlink('dev')", root=True),
    _py(
        "file by handle",
        _done("libc.open_by_handle_at(-100, ctypes.create_string_buffer(64), 0)"),
        control=False,
    ),
    _py("keyring", _done("call(219 if arm else 250, 0, -3, 0)")),
    _py("new key", _done("call(217 if arm else 248, b'user', b'probe', b'x', 1, -2)")),
    _py(
        "bpf",
        _done(
            "call(280 if arm else 321, 0, struct.pack('IIIIIIII', 2, 4, 4, 1, 0, 0, 0, 0) + bytes(64), 72)"
        ),
        root=True,
    ),
    _py(
        "performance counters",
        _done("call(241 if arm else 298, struct.pack('IIQ', 1, 112, 0) + bytes(112), 0, -1, -1, 0)"),
    ),
    _py("user faults", _done("call(282 if arm else 323, 1)")),
    _py("io_uring", _done("call(425, 4, ctypes.create_string_buffer(120))")),
    _py("kernel module", _done("call(105 if arm else 175, b'', 0, b'')"), control=False),
    _py("new kernel", _done("call(104 if arm else 246, 0, 0, 0, 0)"), control=False),
    _py("clock", "import time; time.clock_settime(0, time.time() + 3600)", control=False),
    _sh("clock by date", "date -s 2001-01-01", control=False),
    _py("host name", _done("libc.sethostname(b'probe', 5)"), control=False),
    _py("swap", _done("libc.swapon(b'file', 0)"), control=False),
    _py(
        "ports of the machine",
        "sys.exit(1) if arm else sys.exit(0 if call(172, 3) >= 0 else 1)",
        control=False,
    ),
    _py("kernel messages", _done("call(116 if arm else 103, 10, 0, 0)"), root=True),
    _py(
        "type into a terminal",
        "a, b = os.openpty()\nos.setsid() if os.getsid(0) != os.getpid() else None\n"
        "fcntl.ioctl(b, 0x540E, 0)\nfcntl.ioctl(b, 0x5412, b'x')",
        root=True,
    ),
    _py("the user's terminal", "os.open('/dev/tty', os.O_RDWR)", control=False),
    _py(
        "unix socket by another calling convention",
        "import mmap\nif arm: sys.exit(1)\n"
        "m = mmap.mmap(-1, 4096, prot=7)\n"
        # mov eax,359; mov ebx,1; mov ecx,1; xor edx,edx; int 0x80; ret, with rbx kept
        "m.write(bytes.fromhex('53b867010000bb01000000b90100000031d2cd805bc3'))\n"
        "f = ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(m)))\n" + _done("f()"),
        control=False,
    ),
    _py("unix socket by x32 numbers", _done("call(0x40000000 | 41, 1, 1, 0)"), control=False),
)

PROBES = (*WRITES, *GUARDED, *SECRETS, *PROCESSES, *NETWORK, *KERNEL)
