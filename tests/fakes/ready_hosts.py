"""Model processes that need not load litellm: one process has it loaded, and each is a fork of that one.

Run as a program it is that process. Its arguments: the descriptor of a listening socket, and that of a pipe
whose end is the end of all. Who connects sends its standard streams and its environment, and the fork takes
its place: it reads, writes and lives as long as that process.
"""

import asyncio
import importlib
import io
import json
import os
import select
import signal
import socket
import sys
import threading

from coder_tui.llm import host

_STREAMS = 3


class _Loaded:
    """Stands where the model process would load litellm."""

    def __init__(self) -> None:
        self._litellm = host._import_litellm()
        for name in _loaded_by_a_first_call():
            try:
                importlib.import_module(name)
            except ImportError:
                continue  # made by other modules, not imported

    def __call__(self) -> object:
        os.environ.update(host._QUIET)
        return self._litellm


def _loaded_by_a_first_call() -> list[str]:
    """Found in a fork: a call leaves threads behind, and who has threads had better not fork."""
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


def _take_place(other: socket.socket) -> None:
    """Become the model process of whoever is at the other end."""
    told, streams, _, _ = socket.recv_fds(other, 2**20, _STREAMS)
    while not told.endswith(b"\n"):
        told += other.recv(2**20)
    os.setsid()
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    os.environ.clear()
    os.environ.update(json.loads(told))
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    threading.Thread(target=_die_with, args=(other,), daemon=True).start()
    host.main()


def _die_with(other: socket.socket) -> None:
    while other.recv(1):
        continue
    os._exit(0)


def main(listener: socket.socket, life: int) -> None:
    vars(host)["_import_litellm"] = _Loaded()
    # Nobody waits for the forks.
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    while True:
        ready, _, _ = select.select([listener.fileno(), life], [], [])
        if life in ready:
            return
        other, _ = listener.accept()
        if os.fork() == 0:
            listener.close()
            os.close(life)
            _take_place(other)
        other.close()


if __name__ == "__main__":
    main(socket.socket(fileno=int(sys.argv[1])), int(sys.argv[2]))
