"""A small world around a workspace for probes to break out into: a home, secrets, services, a victim."""

import contextlib
import os
import shutil
import socket
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from coder_tui.shell.environment import clean_environment
from coder_tui.shell.running import Launch
from coder_tui.shell.sandbox.confinement import NOTHING_MORE
from coder_tui.shell.sandbox.sandbox import SandboxKind, SandboxStatus
from tests.fakes.shells import sandbox_for

PATIENCE = 20.0
SECRET = "probe-secret-value"
_SECRETS = (
    ".ssh/id_ed25519",
    ".aws/credentials",
    ".gnupg/key",
    ".netrc",
    ".docker/config.json",
    ".kube/config",
    ".config/gh/hosts.yml",
    ".config/gcloud/token",
    ".git-credentials",
    ".npmrc",
    ".bash_history",
    ".bashrc",
)


@dataclass(frozen=True, slots=True)
class World:
    """`variables` tell a probe where things are; `mark` is what it leaves outside if it succeeds."""

    base: Path
    root: Path
    home: Path
    outside: Path
    mark: Path
    shared: str
    variables: dict[str, str]


@contextlib.contextmanager
def world() -> Iterator[World]:
    """Build it in the real home folder and remove it afterwards. Temporary folders belong to the sandbox."""
    base = Path(tempfile.mkdtemp(prefix=".coder-tui-probes-", dir=Path.home())).resolve()
    with contextlib.ExitStack() as stack:
        stack.callback(shutil.rmtree, base, ignore_errors=True)
        root, home, outside = base / "workspace", base / "home", base / "outside"
        _fill(root, home, outside, base)
        variables = {
            "PATH": os.environ["PATH"],
            "HOME": str(home),
            "OUTSIDE": str(outside),
            "ROOT": str(root),
            "DATA": str(base / "data"),
            "PORT": str(stack.enter_context(_listening(("127.0.0.1", 0)))),
            "UDP": str(stack.enter_context(_datagrams())),
            "SOCKET": str(stack.enter_context(_unix(str(outside / "service.sock")))),
            "ABSTRACT": stack.enter_context(_unix(f"\0coder-tui-{base.name}"))[1:],
            "DATAGRAMS": stack.enter_context(_unix_datagrams(str(outside / "datagrams.sock"))),
            "VICTIM": str(stack.enter_context(_victim()).pid),
            "OUTER": str(os.getpid()),
            "SHARED": base.name,
        }
        for folder in ("/tmp", "/var/tmp", "/dev/shm"):
            stack.callback(_forget, Path(folder, base.name))
            stack.callback(_forget, Path(folder, f"{base.name}-planted"))
            Path(folder, f"{base.name}-planted").write_text(SECRET)
        yield World(base, root, home, outside, outside / "mark", base.name, variables)


def run(world: World, command: str, status: SandboxStatus) -> int:
    """Run in the workspace, confined as `status` says; return the exit code, -1 if it did not end."""
    sandbox = sandbox_for(world.root, status, home=world.home)
    argv = ("/bin/bash", "-c", command)
    environment = {**world.variables, "PROBE_API_KEY": SECRET}
    try:
        if status.kind is SandboxKind.NONE:
            return _finish(Launch(argv, environment), world)
        with sandbox.launch(argv, clean_environment(environment), NOTHING_MORE) as launch:
            return _finish(launch, world)
    finally:
        sandbox.close()


def _finish(launch: Launch, world: World) -> int:
    try:
        ended = subprocess.run(
            launch.argv,
            env=launch.environment,
            cwd=world.root,
            pass_fds=launch.descriptors,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            timeout=PATIENCE,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return -1
    return ended.returncode


def _fill(root: Path, home: Path, outside: Path, base: Path) -> None:
    for folder in (root / ".git" / "hooks", home, outside, base / "data", base / "config"):
        folder.mkdir(parents=True)
    (root / ".git" / "config").write_text("[core]\n")
    (root / "file").write_text("inside\n")
    (root / "nested" / ".git").mkdir(parents=True)
    (outside / "file").write_text("outside\n")
    (base / "data" / "sessions.db").write_text(SECRET)
    (base / "config" / "config.toml").write_text(SECRET)
    for name in _SECRETS:
        path = home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(SECRET)


def _forget(path: Path) -> None:
    path.unlink(missing_ok=True)


@contextlib.contextmanager
def _listening(address: tuple[str, int]) -> Iterator[int]:
    with socket.create_server(address) as server:
        _serve(server)
        yield server.getsockname()[1]


@contextlib.contextmanager
def _unix(address: str) -> Iterator[str]:
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(address)
        server.listen()
        _serve(server)
        yield address


@contextlib.contextmanager
def _unix_datagrams(address: str) -> Iterator[str]:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as server:
        server.bind(address)
        yield address


@contextlib.contextmanager
def _datagrams() -> Iterator[int]:
    """Answers every datagram."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as server:
        server.bind(("127.0.0.1", 0))

        def answer() -> None:
            with contextlib.suppress(OSError):
                while True:
                    _, sender = server.recvfrom(64)
                    server.sendto(b"here", sender)

        threading.Thread(target=answer, daemon=True).start()
        yield server.getsockname()[1]


def _serve(server: socket.socket) -> None:
    def accept() -> None:
        with contextlib.suppress(OSError):
            while True:
                connection, _ = server.accept()
                connection.sendall(b"here")
                connection.close()

    threading.Thread(target=accept, daemon=True).start()


@contextlib.contextmanager
def _victim() -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen(["sleep", "600"]) as victim:
        try:
            yield victim
        finally:
            victim.kill()
