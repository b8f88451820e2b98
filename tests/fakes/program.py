"""The installed program as a user starts it: a process with its own folders."""

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.fakes.ready_python import FOLDER

PLAIN = str(Path(sys.executable).with_name("coder-tui"))
"""The program as it is installed; `PROGRAM` does the same and starts sooner where tests run."""
PROGRAM = f"{os.environ[FOLDER]}/coder-tui" if FOLDER in os.environ else PLAIN
PATIENCE = 120
COMMANDS_RUN = {"CODER_TUI_PERMISSION": '{"bash": {"*": "allow"}}'}
"""Settings by which commands run unasked even if there is no sandbox that would let them in mode auto."""
NO_SERVERS = '{"*": {"enabled": false}}'
"""Settings without language servers, whose start is slow: tests that want one enable it by name."""


@dataclass(frozen=True, slots=True)
class Program:
    """`home` holds config, data and cache; `project` is the folder it works in."""

    home: Path
    project: Path
    path: str = PROGRAM

    @classmethod
    def in_folder(cls, folder: Path, path: str = PROGRAM) -> "Program":
        program = cls(folder / "home", folder / "project", path)
        program.home.mkdir()
        program.project.mkdir()
        return program

    @property
    def database(self) -> Path:
        return self.home / ".local/share/coder-tui/sessions.db"

    @property
    def environment(self) -> dict[str, str]:
        """Nothing of the machine's own settings and keys."""
        kept = {name: os.environ[name] for name in ("PATH", "LANG", "TMPDIR") if name in os.environ}
        return {
            **kept,
            "HOME": str(self.home),
            "TERM": "xterm-256color",
            "CODER_TUI_LSP": NO_SERVERS,
            # A busy machine's servers take longer than a user would wait.
            "CODER_TUI_TOOLS__EDIT_WAIT_SEC": "60",
            "PYTHON_KEYRING_BACKEND": "keyring.backends.null.Keyring",
            "OPENAI_API_KEY": "sk-test-0123456789abcdef",
            "ANTHROPIC_API_KEY": "sk-ant-test-0123456789abcdef",
        }

    def command(self, *arguments: str) -> list[str]:
        return [self.path, *arguments]

    def start(self, *arguments: str, **environment: str) -> "subprocess.Popen[str]":
        return subprocess.Popen(
            self.command(*arguments),
            cwd=self.project,
            env=self.environment | environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def run(self, *arguments: str, stdin: str = "", **environment: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            self.command(*arguments),
            cwd=self.project,
            env=self.environment | environment,
            input=stdin,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )


def json_lines(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]
