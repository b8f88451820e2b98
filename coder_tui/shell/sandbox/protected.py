"""The paths that a confined command must not change or see.

A mount can only protect what exists. So an empty folder is the placeholder for a guarded name that is
missing, and is removed with the last command. It is always a folder, because git does not record empty
folders and `rmdir` never removes the user's work.
"""

import contextlib
import fcntl
import hashlib
import json
import os
import shutil
import stat
import threading
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

_POINTER = "gitdir: "
# git runs what these files say, or searches where they say.
_HOOKS = ("hooks",)
_SETUP = ("config", "config.worktree", "commondir")
_MOST_MODULES = 200


def git_folders(git: Path) -> tuple[Path, ...]:
    """Return the folders that a commit writes to. The `.git` file of a worktree points to them.

    A pointer counts only if the other side points back: a cloned project could name any folder.
    """
    if git.is_symlink():
        return ()
    if git.is_dir():
        return (git,)
    own = _target(git, git.parent)
    if own is None or _points_to(own / "gitdir") != git:
        return ()
    shared = own.parent.parent
    is_worktree = own.parent.name == "worktrees" and (shared / "HEAD").is_file()
    return (shared,) if is_worktree else ()


def guarded_parts(folder: Path, *, is_setup: bool) -> tuple[Path, ...]:
    """Return the existing parts that must not change while a repository and its submodules are written."""
    names = _HOOKS if is_setup else _HOOKS + _SETUP
    folders = (folder, *islice(_modules(folder), _MOST_MODULES))
    return tuple(place / name for place in folders for name in names if (place / name).exists())


def _modules(folder: Path) -> Iterator[Path]:
    """Yield the folders of submodules. Their names may be paths."""
    waiting = [folder / "modules"]
    while waiting:
        place = waiting.pop()
        if (place / "HEAD").is_file() or (place / "config").is_file():
            yield place
            waiting.append(place / "modules")
        elif place.is_dir() and not place.is_symlink():
            waiting += (entry for entry in place.iterdir() if entry.is_dir())


@contextlib.contextmanager
def remove_new_setup(folders: Iterable[Path], *, is_setup: bool) -> Iterator[None]:
    """Remove new hooks and configuration after a command, because git would run or follow them.

    A mount cannot guard missing names: git fails on an empty one.
    """
    names = _HOOKS if is_setup else _HOOKS + _SETUP
    missing = [folder / name for folder in folders for name in names if not os.path.lexists(folder / name)]
    try:
        yield
    finally:
        for path in missing:
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink(missing_ok=True)


def _target(git: Path, base: Path) -> Path | None:
    text = _line(git)
    if not text.startswith(_POINTER):
        return None
    return Path(os.path.realpath(base / text.removeprefix(_POINTER)))


def _points_to(file: Path) -> Path | None:
    text = _line(file)
    return Path(os.path.realpath(text)) if text else None


def _line(file: Path) -> str:
    try:
        with file.open(encoding="utf-8", errors="surrogateescape") as opened:
            return opened.readline(4096).strip()
    except OSError:
        return ""


# Programs outside the sandbox run what these say: a hook, a task, a server, an environment.
GUARDED = (".git", ".coder-tui", ".mcp.json", ".envrc", ".vscode", ".idea", ".claude")
# Guarded only if they exist; otherwise no program looks for them.
ALSO_GUARDED = (".cursor", ".gemini", ".codex", ".zed", ".husky", ".pre-commit-config.yaml")
# If the workspace is the home folder: files that the next shell runs.
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
# Package managers log in with these, so commands with network access can read them.
_FETCHERS_FILES = (".npmrc", ".yarnrc.yml", ".cargo/credentials.toml", ".gem/credentials")
# Only root may read them, but the user may be root.
_SYSTEM_SECRETS = ("/etc/shadow", "/etc/gshadow", "/etc/ssl/private")
_DEEPEST = 2
_MOST_FOLDERS = 400
_UNSEARCHED = frozenset({"node_modules", ".venv", "venv", "target", "__pycache__"})


def secret_places(homes: Iterable[Path], *, network: bool) -> tuple[Path, ...]:
    """Return the existing folders and files with credentials, links resolved."""
    names = (*_SECRET_FOLDERS, *_SECRET_FILES, *(() if network else _FETCHERS_FILES))
    places = (*_SYSTEM_SECRETS, *(home / name for home in homes for name in names))
    found = (Path(os.path.realpath(place)) for place in places if os.access(place, os.R_OK))
    return tuple(dict.fromkeys(found))


def nested_repositories(root: Path) -> tuple[Path, ...]:
    """Return the `.git` of repositories below `root` that a quick search finds."""
    found, waiting, looked = list[Path](), [(root, 0)], 0
    while waiting and looked < _MOST_FOLDERS:
        folder, depth = waiting.pop(0)
        looked += 1
        for entry in _folders(folder):
            if depth < _DEEPEST and entry.name not in _UNSEARCHED and not entry.name.startswith("."):
                waiting.append((Path(entry.path), depth + 1))
        git = folder / ".git"
        # Not `exists()`, which raises for a folder without permission.
        if depth and os.path.lexists(git) and not git.is_symlink():
            found.append(git)
    return tuple(found)


def _folders(folder: Path) -> Iterator[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            yield from (entry for entry in entries if entry.is_dir(follow_symlinks=False))
    except OSError:
        # Gone, or no permission: then a command cannot write there either.
        return


_LEDGER = "made.json"


@dataclass(slots=True)
class Placeholders:
    """Creates and removes placeholders. `folder` records, for each workspace, which ones were created.

    All users share a lock, which identifies the last one, also across programs. The ledger is written first,
    so that the next command removes what a killed program left behind.
    """

    folder: Path
    _inside: threading.Lock = field(default_factory=threading.Lock)

    @contextlib.contextmanager
    def reserve(self, root: Path, names: Iterable[Path]) -> Iterator[tuple[Path, ...]]:
        """Make all names exist while the context is open, and yield the paths that do. Blocks."""
        ledger_folder = self.folder / hashlib.sha256(os.fsencode(root)).hexdigest()[:16]
        ledger_folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        lock = os.open(ledger_folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            yield self._make(ledger_folder, lock, tuple(names))
        finally:
            try:
                self._clear(ledger_folder, lock)
            finally:
                os.close(lock)

    def remove_abandoned(self) -> None:
        """Remove what killed programs left behind. Blocks."""
        for ledger_folder in self.folder.iterdir() if self.folder.is_dir() else ():
            lock = os.open(ledger_folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            try:
                self._clear(ledger_folder, lock)
            finally:
                os.close(lock)

    def _make(self, ledger_folder: Path, lock: int, names: tuple[Path, ...]) -> tuple[Path, ...]:
        with self._inside, _exclusive(ledger_folder):
            fcntl.flock(lock, fcntl.LOCK_SH)
            missing = [name for name in names if not os.path.lexists(name)]
            made = _read(ledger_folder)
            if not made.issuperset(map(str, missing)):
                _write(ledger_folder, made.union(map(str, missing)))
            for name in missing:
                with contextlib.suppress(OSError):  # a read-only root needs no guard
                    name.mkdir(mode=0o555)
        return tuple(name for name in names if os.path.lexists(name))

    def _clear(self, ledger_folder: Path, lock: int) -> None:
        with self._inside, _exclusive(ledger_folder):
            fcntl.flock(lock, fcntl.LOCK_UN)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return  # another command still needs them
            for name in _read(ledger_folder):
                with contextlib.suppress(OSError):  # the user put something there, or removed it
                    Path(name).rmdir()
            (ledger_folder / _LEDGER).unlink(missing_ok=True)


def is_placeholder(path: Path) -> bool:
    """Return whether the path is a placeholder: an empty read-only folder."""
    try:
        mode = path.lstat().st_mode
        return stat.S_ISDIR(mode) and not mode & 0o222 and not any(path.iterdir())
    except OSError:
        return False


@contextlib.contextmanager
def _exclusive(ledger_folder: Path) -> Iterator[None]:
    """Lock the ledger, so that no one removes names between checking and creating them."""
    turn = os.open(ledger_folder / "turn", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(turn, fcntl.LOCK_EX)
        yield
    finally:
        os.close(turn)


def _read(ledger_folder: Path) -> frozenset[str]:
    try:
        return frozenset(json.loads((ledger_folder / _LEDGER).read_text(encoding="utf-8")))
    except (FileNotFoundError, ValueError):
        return frozenset()


def _write(ledger_folder: Path, made: frozenset[str]) -> None:
    (ledger_folder / _LEDGER).write_text(json.dumps(sorted(made)), encoding="utf-8")
