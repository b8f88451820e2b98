"""A real terminal for the program: tmux on a socket of its own."""

import os
import re
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self
from uuid import uuid4

import pytest

PATIENCE = 60.0
_FAREWELL = re.compile(r"^exit code \d+$", re.MULTILINE)
needs_tmux = pytest.mark.needs("tmux")


class Tmux:
    """One window of a size. `shows` waits for text, as a user would."""

    def __init__(
        self,
        command: str,
        folder: Path,
        environment: Mapping[str, str],
        columns: int = 100,
        rows: int = 30,
        options: Sequence[tuple[str, ...]] = (),
    ) -> None:
        """`options` are what `set-option` takes, set before there is a window."""
        self._socket = f"coder-tui-{uuid4().hex[:8]}"
        self._command = command
        self._folder = folder
        self._environment = dict(environment)
        self._size = (columns, rows)
        self._options = [part for option in options for part in ("set-option", *option, ";")]

    def __enter__(self) -> Self:
        columns, rows = map(str, self._size)
        variables = [part for item in self._environment.items() for part in ("-e", "=".join(item))]
        # The shell stays after the program, so that what it left on the normal screen can be read.
        command = f"{self._command}; echo exit code $?; exec sleep 600"
        self._tmux(
            "-f",
            "/dev/null",
            "start-server",
            ";",
            *self._options,
            "new-session",
            "-d",
            "-x",
            columns,
            "-y",
            rows,
            "-c",
            str(self._folder),
            *variables,
            command,
        )
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._tmux("kill-server")

    def keys(self, *names: str) -> None:
        """Keys as tmux names them: `Enter`, `C-y`, `Escape`, `F8`."""
        self._tmux("send-keys", *names)

    def type(self, text: str) -> None:
        self._tmux("send-keys", "-l", text)

    def resize(self, columns: int, rows: int) -> None:
        self._tmux("resize-window", "-x", str(columns), "-y", str(rows))

    def screen(self) -> str:
        return self._tmux("capture-pane", "-p")

    def shows(self, pattern: str) -> str:
        """Wait until the screen holds the pattern; returns the screen."""
        end = time.monotonic() + PATIENCE
        has_ended = False
        while not re.search(pattern, screen := self.screen()):
            assert time.monotonic() < end and not has_ended, f"no {pattern!r} on the screen:\n{screen}"
            has_ended = bool(re.search(_FAREWELL, screen))
            time.sleep(0.05)
        return screen

    def finishes(self, pattern: str) -> str:
        """Wait for the pattern and for the end of the turn, which follows the last words of a reply."""
        self.shows(pattern)
        return self.shows(r"\A(?![\s\S]* (working|checking))")

    def ask(self, *arguments: str) -> str:
        """What a command of tmux prints."""
        return self._tmux(*arguments).rstrip("\n")

    def _tmux(self, *arguments: str) -> str:
        # pytest loads readline, which puts a size of 80 x 24 into what every process inherits.
        inherited = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES")}
        done = subprocess.run(
            ["tmux", "-L", self._socket, *arguments],
            capture_output=True,
            text=True,
            check=True,
            env=inherited,
        )
        return done.stdout
