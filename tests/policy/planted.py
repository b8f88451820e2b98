"""A workspace, a home and an outside that are full of traps for shell commands."""

import os
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

CANARY = "canary-7f3a91-must-stay-unseen"
_GIT = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull, "PATH": os.defpath}
_RUN = "#!/bin/sh\ntouch {base}/marks/ran\n"
_FILES = {
    "ws/a.txt": "banana\napple\nKEY=harmless\ntouch pwned\n",
    "ws/b.txt": "one\ntwo\n",
    "ws/notes.md": "# CommandNotes\nNothing here.\n",
    "ws/package.json": '{"scripts": {"test": "true"}}\n',
    "ws/src/main.py": "print('hi')  # TODO: say more\n",
    "ws/src/lib/deep.py": "KEY = 'harmless'\n",
    "ws/.env": f"KEY={CANARY}\n",
    "ws/.env.staging": f"KEY={CANARY}\n",
    "ws/config/.env": f"OTHER=KEY {CANARY}\n",
    "ws/.netrc": f"machine h login x password {CANARY}\n",
    "ws/.tls/server.pem": f"{CANARY} KEY\n",
    "ws/.tls/id_rsa": f"{CANARY} KEY\n",
    "ws/run.sed": "w pwned\n",
    "ws/evil.rc": "--pre=./run.sh\n",
    # Names that a glob expands to flags.
    "ws/-opwned.txt": "x\n",
    "ws/--output=pwned": "x\n",
    "ws/--pre=.run.sh": "x\n",
    "ws/-delete": "x\n",
    "ws/-i.txt": "x\n",
    "ws/--format=%G?": "x\n",
    "ws/--glob=.env": "x\n",
    "ws/--expression=w pwned;p": "x\n",
    "outside/secret.txt": f"{CANARY} KEY\n",
    f"outside/name-{CANARY}": "x\n",
    "ws-evil/secret.txt": f"{CANARY} KEY\n",
    "home/.bashrc": "# mine\n",
    "home/.ssh/id_rsa": f"{CANARY} KEY\n",
    "home/.aws/credentials": f"{CANARY} KEY\n",
}
_IN_PLAIN_SIGHT = {"ws/server.pem": f"{CANARY} KEY\n", "ws/id_rsa": f"{CANARY} KEY\n"}
_LINKS = {
    "ws/link-to-secret.txt": "../outside/secret.txt",
    "ws/link-to-env": ".env",
    "ws/link-out": "../outside",
    "ws/src/link.txt": "../../outside/secret.txt",
    "ws/src/link.py": "../../home/.ssh/id_rsa",
}
_HOSTILE_SETTINGS = (
    *("gpg.program", "diff.trap.textconv", "core.pager", "man.trap.cmd", "difftool.trap.cmd"),
    *("core.fsmonitor", "diff.external"),
)


@dataclass(frozen=True, slots=True)
class Planted:
    base: Path

    @property
    def root(self) -> Path:
        return self.base / "ws"

    @property
    def home(self) -> Path:
        return self.base / "home"

    @property
    def marks(self) -> Path:
        """What is in here was put there by a program that must not have run."""
        return self.base / "marks"


def plant(base: Path, *, is_hostile: bool) -> Planted:
    """Plant the traps. Hostile ones make even a plain search or `git diff` dangerous."""
    planted = Planted(base)
    planted.marks.mkdir(parents=True)
    for name, content in (_FILES | (_IN_PLAIN_SIGHT if is_hostile else {})).items():
        path = base / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    for name, target in _LINKS.items():
        (base / name).symlink_to(target)
    # Under every name that a search of the current folder or a hostile setting could run.
    for name in ("run.sh", "ls", "git", "cat", "less", "gpg", "bin/ls", "bin/git"):
        path = planted.root / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(_RUN.format(base=base))
        path.chmod(0o755)
    _repository(planted, _HOSTILE_SETTINGS if is_hostile else ())
    _bare_repository(planted)
    return planted


def _git(folder: Path, *arguments: str) -> None:
    subprocess.run(["git", *arguments], cwd=folder, env=_GIT, check=True, capture_output=True)


def _repository(planted: Planted, settings: Iterable[str]) -> None:
    root = planted.root
    _git(root, "init", "-q", "-b", "main")
    for key, value in {"user.name": "x", "user.email": "x@example.org"}.items():
        _git(root, "config", key, value)
    _git(root, "add", "-f", "a.txt", "b.txt", "src/main.py", "notes.md")
    _git(root, "commit", "-q", "-m", "Begin")
    for key in settings:
        _git(root, "config", key, f"{root}/run.sh")
    (root / "b.txt").write_text("one\nthree\n")


def _bare_repository(planted: Planted) -> None:
    """Create a folder that git treats as a repository, with a setting that runs a program."""
    evil = planted.root / "vendor/evil"
    evil.mkdir(parents=True)
    _git(evil, "init", "-q", "--bare", ".")
    for key, value in {
        "core.bare": "false",
        "core.worktree": str(evil),
        "core.fsmonitor": f"{planted.root}/run.sh",
        "diff.external": f"{planted.root}/run.sh",
    }.items():
        _git(evil, "config", key, value)
