"""The program as it is installed, but for its model processes: they come from one that is ready, if any."""

import atexit
import os
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_FOLDER = Path(tempfile.mkdtemp(prefix="coder-tui-ready-"))
_HOST = _FOLDER / "model-host"
_ADDRESS = _FOLDER / "socket"
PROGRAM = str(_FOLDER / "coder-tui")

_PROGRAM_TEXT = f"""#!{sys.executable}
from coder_tui.llm.host_client import HostClient
HostClient.__init__.__kwdefaults__["python"] = {str(_HOST)!r}
from coder_tui.__main__ import main
main()
"""
# Without a process that is ready it becomes the model process that was asked for.
_HOST_TEXT = f"""#!{sys.executable} -IS
import json, os, socket, sys
other = socket.socket(socket.AF_UNIX)
try:
    other.connect({str(_ADDRESS)!r})
except OSError:
    os.execv({sys.executable!r}, [{sys.executable!r}, *sys.argv[1:]])
told = json.dumps(dict(os.environ)).encode() + b"\\n"
other.sendall(told[socket.send_fds(other, [told], [0, 1, 2]):])
while other.recv(1):
    continue
"""


def _write(path: Path, text: str) -> None:
    path.write_text(text)
    path.chmod(0o755)


# At once: what a test starts is named in the first lines of its file, and benchmarks have no fixtures.
_write(Path(PROGRAM), _PROGRAM_TEXT)
_write(_HOST, _HOST_TEXT)
atexit.register(shutil.rmtree, _FOLDER)


@contextmanager
def ready_hosts() -> Iterator[None]:
    """Start the process that every model process is made from. Who comes early waits for it."""
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(_ADDRESS))
    listener.listen()
    theirs, ours = os.pipe()
    command = [sys.executable, "-P", "-m", "tests.fakes.ready_hosts", str(listener.fileno()), str(theirs)]
    root = str(Path(__file__).parents[2])
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": root}
    process = subprocess.Popen(
        command, cwd="/", env=environment, stdin=subprocess.DEVNULL, pass_fds=(listener.fileno(), theirs)
    )
    listener.close()
    os.close(theirs)
    try:
        yield
    finally:
        _ADDRESS.unlink()
        os.close(ours)
        process.wait()


@contextmanager
def own_hosts() -> Iterator[None]:
    """Meanwhile every model process loads litellm by itself, as a person's does."""
    elsewhere = _ADDRESS.rename(_FOLDER / "away")
    try:
        yield
    finally:
        elsewhere.rename(_ADDRESS)
