"""What a confined command may not change or not see, by place.

Keeps names free of content while commands run: a mount can only hide what is there.

An empty folder stands in for a guarded name that is missing, and is removed with the last command. It is a
folder whatever the name, for git does not record empty folders, and `rmdir` never removes a person's work.
"""

import contextlib
import fcntl
import hashlib
import json
import os
import stat
import threading
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

# Programs outside of the sandbox run what these say: a hook, a task, a server, an environment.
GUARDED = (
    ".git",
    ".coder-tui",
    ".mcp.json",
    ".envrc",
    ".vscode",
    ".idea",
    ".claude",
)
# Guarded where they are in use; without that nobody looks for them.
ALSO_GUARDED = (".cursor", ".gemini", ".codex", ".zed", ".husky", ".pre-commit-config.yaml")
# Where the workspace is the home folder itself: files that the next shell runs.
START_FILES = (
    ".bashrc",
    ".bash_profile",
    ".bash_login",
    ".bash_logout",
    ".profile",
    ".zshrc",
    ".zshenv",
    ".zprofile",
    ".zlogin",
    ".gitconfig",
)
_SECRET_FOLDERS = (
    ".ssh",
    ".gnupg",
    ".aws",
    ".azure",
    ".kube",
    ".docker",
    ".password-store",
    ".config/gh",
    ".config/gcloud",
    ".config/op",
    ".config/hub",
    ".config/rclone",
    ".config/google-chrome",
    ".config/chromium",
    ".local/share/keyrings",
    ".mozilla",
    ".terraform.d",
)
_SECRET_FILES = (
    ".netrc",
    ".pgpass",
    ".my.cnf",
    ".git-credentials",
    ".config/git/credentials",
    ".pypirc",
    ".vault-token",
    ".dockercfg",
    ".bash_history",
    ".zsh_history",
    ".python_history",
    ".node_repl_history",
    ".psql_history",
)
# Package managers log in with these, so they are seen by commands that have the network.
_FETCHERS_FILES = (".npmrc", ".yarnrc.yml", ".cargo/credentials.toml", ".gem/credentials")
# Only root may read them, and root it may be.
_SYSTEM_SECRETS = ("/etc/shadow", "/etc/gshadow", "/etc/ssl/private")
_DEEPEST = 2
_MOST_FOLDERS = 400
_UNSEARCHED = frozenset({"node_modules", ".venv", "venv", "target", "__pycache__"})


def secret_places(homes: Iterable[Path], *, network: bool) -> tuple[Path, ...]:
    """Folders and files that hold credentials, links resolved; only those that exist."""
    names = (*_SECRET_FOLDERS, *_SECRET_FILES, *(() if network else _FETCHERS_FILES))
    places = (*_SYSTEM_SECRETS, *(home / name for home in homes for name in names))
    found = (Path(os.path.realpath(place)) for place in places if os.access(place, os.R_OK))
    return tuple(dict.fromkeys(found))


def nested_repositories(root: Path) -> tuple[Path, ...]:
    """`.git` of repositories below `root`, as far as a quick look finds them."""
    found, waiting, looked = list[Path](), [(root, 0)], 0
    while waiting and looked < _MOST_FOLDERS:
        folder, depth = waiting.pop(0)
        looked += 1
        for entry in _folders(folder):
            if depth < _DEEPEST and entry.name not in _UNSEARCHED and not entry.name.startswith("."):
                waiting.append((Path(entry.path), depth + 1))
        git = folder / ".git"
        # Not `exists()`, which raises for a folder that one may not look into.
        if depth and os.path.lexists(git) and not git.is_symlink():
            found.append(git)
    return tuple(found)


def _folders(folder: Path) -> Iterator[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            yield from (entry for entry in entries if entry.is_dir(follow_symlinks=False))
    except OSError:
        # Gone or not ours to look into: then a command cannot write there either.
        return


_LEDGER = "made.json"


@dataclass(slots=True)
class Placeholders:
    """`folder` keeps, for each workspace, who uses its placeholders and which were made.

    A lock that all users share tells the last one, across programs; the ledger is written first, so that
    what a killed program left behind is removed by the next command.
    """

    folder: Path
    _inside: threading.Lock = field(default_factory=threading.Lock)

    @contextlib.contextmanager
    def held(self, root: Path, names: Iterable[Path]) -> Iterator[tuple[Path, ...]]:
        """The paths that exist meanwhile, each the person's own or a placeholder. Blocks."""
        keeper = self.folder / hashlib.sha256(os.fsencode(root)).hexdigest()[:16]
        keeper.mkdir(parents=True, exist_ok=True, mode=0o700)
        lock = os.open(keeper, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            yield self._make(keeper, lock, tuple(names))
        finally:
            try:
                self._clear(keeper, lock)
            finally:
                os.close(lock)

    def sweep(self) -> None:
        """Remove what killed programs left behind. Blocks."""
        for keeper in self.folder.iterdir() if self.folder.is_dir() else ():
            lock = os.open(keeper, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            try:
                self._clear(keeper, lock)
            finally:
                os.close(lock)

    def _make(self, keeper: Path, lock: int, names: tuple[Path, ...]) -> tuple[Path, ...]:
        with self._inside, _exclusive(keeper):
            fcntl.flock(lock, fcntl.LOCK_SH)
            missing = [name for name in names if not os.path.lexists(name)]
            made = _read(keeper)
            if not made.issuperset(map(str, missing)):
                _write(keeper, made.union(map(str, missing)))
            for name in missing:
                with contextlib.suppress(OSError):  # a root that may not be written needs no guard
                    name.mkdir(mode=0o555)
        return tuple(name for name in names if os.path.lexists(name))

    def _clear(self, keeper: Path, lock: int) -> None:
        with self._inside, _exclusive(keeper):
            fcntl.flock(lock, fcntl.LOCK_UN)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return  # another command still needs them
            for name in _read(keeper):
                with contextlib.suppress(OSError):  # the person put something there, or took it away
                    Path(name).rmdir()
            (keeper / _LEDGER).unlink(missing_ok=True)


def is_placeholder(path: Path) -> bool:
    """Whether what is at a guarded name only keeps it free: an empty folder that nobody may write."""
    try:
        mode = path.lstat().st_mode
        return stat.S_ISDIR(mode) and not mode & 0o222 and not any(path.iterdir())
    except OSError:
        return False


@contextlib.contextmanager
def _exclusive(keeper: Path) -> Iterator[None]:
    """One at a time: between looking and making, nobody removes."""
    turn = os.open(keeper / "turn", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(turn, fcntl.LOCK_EX)
        yield
    finally:
        os.close(turn)


def _read(keeper: Path) -> frozenset[str]:
    try:
        return frozenset(json.loads((keeper / _LEDGER).read_text(encoding="utf-8")))
    except (FileNotFoundError, ValueError):
        return frozenset()


def _write(keeper: Path, made: frozenset[str]) -> None:
    (keeper / _LEDGER).write_text(json.dumps(sorted(made)), encoding="utf-8")
