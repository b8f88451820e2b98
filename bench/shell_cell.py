"""Run commands among planted markers and report what each of them touched."""

import os
import select
import shutil
import signal
import stat
import subprocess
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.policy.planted import CANARY, plant

SECONDS = 2.0
MOST_OUTPUT = 2_000_000
SHELLS = {"dash": ("/bin/dash", "sh"), "bash": ("/bin/bash", "bash"), "bash-as-sh": ("/bin/bash", "sh")}
"""A program and the name that it is started by: bash is closer to POSIX if it is called `sh`."""

_SHIM = """#!/bin/dash
{{ printf '%s\\0' "${{0##*/}}" "$@"; }} > {argv}/$$
"""
# Reading a repository updates its index.
_RENEWED = frozenset({"index"})
State = dict[str, tuple[int, ...]]


@dataclass(frozen=True, slots=True)
class Touch:
    shell: str
    command: str
    what: tuple[str, ...]


class Cell:
    """Only use this where nothing but the planted folders can be written."""

    def __init__(self, base: Path, *, is_hostile: bool) -> None:
        self.planted = plant(base / "live", is_hostile=is_hostile)
        self._pristine = base / "pristine"
        shutil.copytree(self.planted.base, self._pristine, symlinks=True)
        self._environment = {
            "PATH": "/usr/local/bin:/usr/bin:/bin",
            "HOME": str(self.planted.home),
            "CANARY_KEY": CANARY,
            "LANG": "C.UTF-8",
        }
        self._shims, self._argv = base / "shims", base / "argv"
        for folder in (self._shims, self._argv):
            folder.mkdir()
        self._state = self._look()
        self.timed_out = 0

    def add_shims(self, names: Iterable[str]) -> None:
        """Create stand-ins that only record the words they are started with."""
        for name in names:
            (self._shims / name).write_text(_SHIM.format(argv=self._argv))
            (self._shims / name).chmod(0o755)

    def words_started(self, command: str, shell: str) -> set[tuple[str, ...]]:
        """Return the words of every stand-in that is started; patterns of file names stay as they are."""
        environment = {**self._environment, "PATH": str(self._shims)}
        self._output_of(self._start("-fc", command, shell, environment))
        started = set()
        for path in self._argv.iterdir():
            words = path.read_bytes().decode("utf-8", "surrogateescape").split("\0")[:-1]
            started.add(tuple(words))
            path.unlink()
        # Redirections act here, too; they count when the command is run for real.
        self._changes()
        return started

    def run(self, command: str, shell: str) -> Touch | None:
        output = self._output_of(self._start("-lc", command, shell, self._environment))
        what = self._changes()
        if CANARY.encode() in output:
            what.append("printed a secret")
        return Touch(shell, command, tuple(what)) if what else None

    def _start(
        self, flags: str, command: str, shell: str, environment: dict[str, str]
    ) -> "subprocess.Popen[bytes]":
        program, name = SHELLS[shell]
        return subprocess.Popen(
            [name, flags, command],
            executable=program,
            cwd=self.planted.root,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )

    def _output_of(self, process: "subprocess.Popen[bytes]") -> bytes:
        """Wait until everything that the command started has closed its output, or the time is up."""
        assert process.stdout is not None
        output, until = bytearray(), time.monotonic() + SECONDS
        pipe = process.stdout.fileno()
        while (left := until - time.monotonic()) > 0 and len(output) < MOST_OUTPUT:
            if select.select([pipe], [], [], left)[0]:
                if not (piece := os.read(pipe, 65536)):
                    break
                output += piece
        else:
            self.timed_out += 1
            os.killpg(process.pid, signal.SIGKILL)
        process.stdout.close()
        process.wait()
        return bytes(output)

    def _changes(self) -> list[str]:
        now = self._look()
        changed = sorted(name for name in {*now, *self._state} if now.get(name) != self._state.get(name))
        if changed:
            self._restore()
        return [f"touched {name}" for name in changed]

    def _restore(self) -> None:
        for path in self.planted.base.iterdir():
            shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
        shutil.copytree(self._pristine, self.planted.base, symlinks=True, dirs_exist_ok=True)
        self._state = self._look()

    def _look(self) -> State:
        return dict(self._entries(str(self.planted.base), len(str(self.planted.base)) + 1))

    def _entries(self, folder: str, cut: int) -> Iterator[tuple[str, tuple[int, ...]]]:
        for entry in os.scandir(folder):
            if entry.name in _RENEWED:
                continue
            found = entry.stat(follow_symlinks=False)
            if stat.S_ISDIR(found.st_mode):
                yield entry.path[cut:], (found.st_mode,)
                yield from self._entries(entry.path, cut)
            else:
                yield entry.path[cut:], (found.st_mode, found.st_ino, found.st_size, found.st_mtime_ns)
