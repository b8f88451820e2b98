"""A real git repository in a folder, made by the system's git with settings of its own."""

import os
import subprocess
from pathlib import Path

IDENTITY = {"name": "Ada Lovelace", "email": "ada@example.org"}


class GitRepository:
    """`home` has the user's settings. Nothing of the machine's own is used."""

    def __init__(self, root: Path, home: Path) -> None:
        self.root = root
        self.home = home
        root.mkdir(parents=True, exist_ok=True)
        home.mkdir(exist_ok=True)
        identity = "".join(f"\t{key} = {value}\n" for key, value in IDENTITY.items())
        (home / ".gitconfig").write_text(f"[user]\n{identity}[init]\n\tdefaultBranch = main\n")
        self.git("init", "--quiet")

    @property
    def environment(self) -> dict[str, str]:
        return {"PATH": os.environ["PATH"], "HOME": str(self.home), "GIT_CONFIG_NOSYSTEM": "1"}

    def git(self, *arguments: str) -> str:
        done = subprocess.run(
            ["git", *arguments],
            cwd=self.root,
            env=self.environment,
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout

    def put(self, name: str, content: str | bytes = "") -> Path:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    def commit(self, message: str = "first", **files: str) -> str:
        for name, content in files.items():
            self.put(name, content)
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--message", message)
        return self.git("rev-parse", "HEAD").strip()

    def script(self, name: str, canary: Path, rest: str = "cat") -> Path:
        """A program that leaves a mark when it runs."""
        path = self.put(name, f"#!/bin/sh\necho {name} >> {canary}\n{rest}\n")
        path.chmod(0o755)
        return path
