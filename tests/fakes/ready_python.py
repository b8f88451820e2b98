"""Python programs that start in milliseconds: each is a fork of a process that has everything loaded.

Tests start the program, its model process and the processes for servers hundreds of times, and importing
took most of the time. A run of the tests has two such processes: one with litellm, for model processes, and
one with everything else. Both load when they are first asked. `python` and `coder-tui` in the folder that
`FOLDER` names are small scripts: they hand their arguments, folder, environment and streams to one of the
two, pass signals on, and end as the fork does. While everything else is being loaded, programs start as they
always do: some tests have little patience. Tests about starting and being killed use the real program.

Run as a program, this module is that process. Its arguments: the kind, the descriptor of a listening socket,
and that of a pipe whose end is the end of all.
"""

import asyncio
import atexit
import contextlib
import gc
import importlib
import io
import json
import os
import pkgutil
import runpy
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

FOLDER = "READY_PYTHON_FOLDER"
_KINDS = ("model", "program")
_MODEL = "coder_tui.llm.host"
_STREAMS = 3
_ROOT = Path(__file__).parents[2]

# A path with a blank cannot stand behind #!.
_SCRIPT = """#!/bin/sh
'''exec' "{python}" -IS "$0" "$@"
' '''
import json, os, signal, socket, sys
words = {words!r} + sys.argv[1:]
is_model = {model!r} in words
other = socket.socket(socket.AF_UNIX)
other.connect({folder!r} + ("/model" if is_model else "/program"))
if not is_model and not os.path.exists({folder!r} + "/loaded"):
    os.execv({python!r}, [{python!r}, *words])
request = [words, os.getcwd(), os.umask(0o77), dict(os.environ)]
text = json.dumps(request).encode() + b"\\n"
other.sendall(text[socket.send_fds(other, [text], [0, 1, 2]):])
def forward(number, frame):
    try:
        other.send(bytes([number]))
    except OSError:
        pass
for name in ("HUP", "INT", "QUIT", "TERM", "USR1", "USR2", "WINCH"):
    signal.signal(getattr(signal, "SIG" + name), forward)
status = int(other.recv(16) or -signal.SIGKILL)
if status < 0:
    signal.signal(-status, signal.SIG_DFL) if -status not in (signal.SIGKILL, signal.SIGSTOP) else None
    os.kill(os.getpid(), -status)
os._exit(status)
"""


@contextlib.contextmanager
def ready_processes() -> Iterator[None]:
    """Offer both processes to this run and its workers; they load nothing before they are asked."""
    folder = tempfile.mkdtemp(prefix="coder-tui-ready-")
    for name, words in (("python", []), ("coder-tui", ["-m", "coder_tui"])):
        script = Path(folder, name)
        script.write_text(_SCRIPT.format(python=sys.executable, words=words, folder=folder, model=_MODEL))
        script.chmod(0o755)
    theirs, ours = os.pipe()
    processes = [_start(kind, folder, theirs) for kind in _KINDS]
    os.close(theirs)
    os.environ[FOLDER] = folder
    try:
        yield
    finally:
        del os.environ[FOLDER]
        os.close(ours)
        for process in processes:
            process.wait()
        shutil.rmtree(folder)


def _start(kind: str, folder: str, life: int) -> "subprocess.Popen[bytes]":
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(f"{folder}/{kind}")
        listener.listen(128)
        descriptors = (listener.fileno(), life)
        return subprocess.Popen(
            [sys.executable, "-P", __file__, kind, *map(str, descriptors)],
            cwd="/",
            env={"PATH": os.environ["PATH"], "PYTHONPATH": str(_ROOT), "LANG": "C.UTF-8", FOLDER: folder},
            stdin=subprocess.DEVNULL,
            pass_fds=descriptors,
        )


def use_ready_python() -> None:
    """Have the processes that the core starts come from here as well."""
    python = f"{os.environ[FOLDER]}/python"
    from coder_tui.llm.host_client import HostClient
    from coder_tui.shell.hosts import link
    from coder_tui.workspace.outline import client

    defaults = HostClient.__init__.__kwdefaults__
    assert defaults is not None
    defaults["python"] = python
    for module in (link, client):
        vars(module)["sys"] = SimpleNamespace(executable=python)


class _Loaded:
    """Stands where the model process would load litellm."""

    def __init__(self) -> None:
        from coder_tui.llm import host

        self._quiet = host._QUIET
        self._litellm = host._import_litellm()
        for name in _loaded_by_a_first_call():
            with contextlib.suppress(ImportError):  # made by other modules, not imported
                importlib.import_module(name)

    def __call__(self) -> object:
        os.environ.update(self._quiet)
        return self._litellm


def _loaded_by_a_first_call() -> list[str]:
    """Return the modules that a first call imports.

    They are found in a fork: a call leaves threads behind, and a process with threads should not fork.
    """
    from coder_tui.llm import host

    ours, theirs = os.pipe()
    if os.fork() == 0:
        known = set(sys.modules)
        asyncio.run(host.Host(io.BytesIO())._warm(0))
        with os.fdopen(theirs, "w") as file:
            json.dump([name for name in sys.modules if name not in known], file)
        os._exit(0)
    os.close(theirs)
    with os.fdopen(ours) as file:
        return list(json.load(file))


def _load(kind: str) -> None:
    if kind == "model":
        from coder_tui.llm import host

        vars(host)["_import_litellm"] = _Loaded()
    else:
        import coder_tui

        for module in pkgutil.walk_packages(coder_tui.__path__, "coder_tui."):
            if "sample_project" not in module.name and not module.name.endswith(
                ("__main__", "_host_program")
            ):
                importlib.import_module(module.name)
    gc.collect()
    gc.freeze()


class _Server:
    """Forks for each process that connects, and reports how the fork ended."""

    def __init__(self, kind: str, listener: socket.socket, life: int) -> None:
        self._kind = kind
        self._listener = listener
        self._life = life
        self._forks: dict[int, socket.socket] = {}

    def run(self) -> None:
        ended, wake = os.pipe()
        os.set_blocking(wake, False)
        signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        waits = [self._listener.fileno(), self._life, ended]
        is_loaded = False
        while True:
            ready, _, _ = select.select(waits, [], [])
            if self._life in ready:
                return
            if ended in ready:
                os.read(ended, 4096)
                self._reap()
            if self._listener.fileno() in ready:
                if not is_loaded:
                    _load(self._kind)
                    if self._kind == "program":
                        Path(os.environ[FOLDER], "loaded").touch()
                    is_loaded = True
                self._fork()

    def _fork(self) -> None:
        other, _ = self._listener.accept()
        pid = os.fork()
        if pid:
            self._forks[pid] = other
            return
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        self._listener.close()
        os.close(self._life)
        for each in self._forks.values():
            each.close()
        _take_place(other)

    def _reap(self) -> None:
        while self._forks:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if pid == 0:
                return
            if (other := self._forks.pop(pid, None)) is not None:
                with contextlib.suppress(OSError):  # who asked for it is gone
                    other.send(str(os.waitstatus_to_exitcode(status)).encode())
                other.close()


def _take_place(other: socket.socket) -> None:
    """Become the program that the process at the other end was asked to be."""
    text, streams, _, _ = socket.recv_fds(other, 2**20, _STREAMS)
    while text and not text.endswith(b"\n"):
        text += other.recv(2**20)
    if not text:
        os._exit(0)
    words, folder, umask, environment = json.loads(text)
    os.setsid()
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    os.chdir(folder)
    os.umask(umask)
    os.environ.clear()
    os.environ.update(environment)
    time.tzset()
    _open_streams()
    threading.Thread(target=_obey, args=(other,), daemon=True).start()
    _run(words)


def _open_streams() -> None:
    """Open the standard streams as a starting Python does: what the old ones know of their files is wrong."""
    streams = {
        "stdin": os.fdopen(0, closefd=False),
        "stdout": os.fdopen(1, "w", buffering=1 if os.isatty(1) else -1, closefd=False),
        "stderr": os.fdopen(2, "w", buffering=1, errors="backslashreplace", closefd=False),
    }
    vars(sys).update({f"__{name}__": stream for name, stream in streams.items()} | streams)


def _obey(other: socket.socket) -> None:
    """Pass on the signals of the process that stands for this one, and die with it."""
    while received := other.recv(1):
        os.kill(os.getpid(), received[0])
    os.kill(os.getpid(), signal.SIGKILL)


def _run(words: list[str]) -> None:
    """Do what Python does with such arguments, and end as it ends."""
    while words[0] in ("-I", "-P", "-S"):
        words.pop(0)
    code = 1
    try:
        if words[0] == "-m":
            sys.argv = words[1:]
            runpy.run_module(words[1], run_name="__main__", alter_sys=True)
        else:
            sys.argv = words
            runpy.run_path(words[0], run_name="__main__")
        code = 0
    except SystemExit as end:
        if isinstance(end.code, str):
            print(end.code, file=sys.stderr)
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    finally:
        if sys.exc_info()[0] is not None:
            sys.excepthook(*sys.exc_info())
        vars(threading)["_shutdown"]()
        atexit._run_exitfuncs()
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(OSError, ValueError):
                stream.flush()
        os._exit(code)


if __name__ == "__main__":
    use_ready_python()
    _Server(sys.argv[1], socket.socket(fileno=int(sys.argv[2])), int(sys.argv[3])).run()
