"""Prepare the environment of child processes: no secrets, usable caches, a temporary folder per session."""

import contextlib
import fcntl
import os
import re
import shutil
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path

_SECRET = re.compile(
    r"KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIAL|COOKIE|(^|_)PAT($|_)|_AUTH$|_PWD$",
    re.IGNORECASE,
)
# Shells run these files before the command that was approved.
_START_FILES = frozenset({"BASH_ENV", "ENV"})
# Variables that make every program load something first, even a sandbox before it confines anything.
_LOADING = re.compile(r"LD_|GLIBC_TUNABLES$|GCONV_PATH$|LOCPATH$")
_CACHES = {
    "XDG_CACHE_HOME": "xdg",
    "npm_config_cache": "npm",
    "PIP_CACHE_DIR": "pip",
    "UV_CACHE_DIR": "uv",
    "YARN_CACHE_FOLDER": "yarn",
    "GOCACHE": "go-build",
    "BUN_INSTALL_CACHE_DIR": "bun",
    "COMPOSER_CACHE_DIR": "composer",
    "pnpm_config_store_dir": "pnpm",
}
# Downloads that are reused offline: the user's own folders until a command has fetched something.
_DOWNLOADS = {
    "CARGO_HOME": "cargo",
    "GOMODCACHE": "go-modules",
    "GRADLE_USER_HOME": "gradle",
    "YARN_GLOBAL_FOLDER": "yarn-global",
    "DENO_DIR": "deno",
    "NUGET_PACKAGES": "nuget",
}
# Large downloads below the usual cache folder that are only read.
_KEPT = {
    "PLAYWRIGHT_BROWSERS_PATH": "ms-playwright",
    "PUPPETEER_CACHE_DIR": "puppeteer",
    "CYPRESS_CACHE_FOLDER": "Cypress",
    "PRE_COMMIT_HOME": "pre-commit",
    "HF_HUB_CACHE": "huggingface/hub",
}


def is_secret_name(name: str) -> bool:
    return _SECRET.search(name) is not None


def clean_environment(environment: Mapping[str, str], passed: Iterable[str] = ()) -> dict[str, str]:
    """Return a copy without secrets, and without variables that make a shell run something first.

    `passed` names variables that the user lets through although they look like secrets.
    """
    kept = frozenset(passed)
    return {
        name: value if name != "PATH" else _absolute(value)
        for name, value in environment.items()
        if (name in kept or not is_secret_name(name))
        and name not in _START_FILES
        and not name.startswith("BASH_FUNC_")
    }


def split_loading_variables(environment: Mapping[str, str]) -> tuple[dict[str, str], dict[str, str]]:
    """Split off variables that load code: the sandbox starts without them, the program inside gets them."""
    outer = {name: value for name, value in environment.items() if not _LOADING.match(name)}
    return outer, {name: value for name, value in environment.items() if name not in outer}


def _absolute(path: str) -> str:
    """Drop relative folders: they would let programs of the workspace replace the system's."""
    return os.pathsep.join(folder for folder in path.split(os.pathsep) if folder.startswith("/"))


def cache_variables(
    caches: Path, home: Path, environment: Mapping[str, str], *, network: bool
) -> dict[str, str]:
    """Return variables for caches that can be written while the home folder is read-only. Blocks."""
    usual = Path(environment.get("XDG_CACHE_HOME") or home / ".cache")
    found = {name: str(caches / folder) for name, folder in _CACHES.items()}
    for name, folder in _DOWNLOADS.items():
        if network or (caches / folder).is_dir():
            found[name] = str(caches / folder)
    for name, folder in _KEPT.items():
        if name not in environment and (usual / folder).is_dir():
            found[name] = str(usual / folder)
    return found


class Scratch:
    """A session's temporary folder, created on first use. A lock marks it as in use.

    It is removed with the session. If the program was killed, the next one removes it.
    """

    def __init__(self, parent: Path) -> None:
        self._parent = parent
        self._path: Path | None = None
        self._lock = -1

    def path(self) -> Path:
        """Return the folder, creating it if needed. Removes what earlier runs left behind. Blocks."""
        # Another program that starts right now may remove it before it is locked.
        while self._path is None or not self._path.is_dir():
            self.remove()
            self._parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            remove_abandoned(self._parent)
            made = Path(tempfile.mkdtemp(dir=self._parent))
            with contextlib.suppress(FileNotFoundError):
                self._lock = _open(made)
                fcntl.flock(self._lock, fcntl.LOCK_SH)
                self._path = made
        return self._path

    def remove(self) -> None:
        if self._path is not None:
            os.close(self._lock)
            _remove(self._path)
            self._path = None


def remove_abandoned(parent: Path) -> None:
    """Remove the folders that no running program has locked."""
    for folder in parent.iterdir():
        try:
            lock = _open(folder)
        except OSError:
            continue  # another program is removing it
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            continue
        else:
            _remove(folder)
        finally:
            os.close(lock)


def _open(folder: Path) -> int:
    return os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)


def _remove(folder: Path) -> None:
    # A command may have removed its own permissions.
    for place, names, _ in os.walk(folder):
        for name in names:
            inner = Path(place, name)
            if not inner.is_symlink():
                with contextlib.suppress(OSError):
                    inner.chmod(0o700)
    shutil.rmtree(folder, ignore_errors=True)


def find_program(name: str, environ: Mapping[str, str], roots: tuple[Path, ...]) -> str | None:
    """Return the program's absolute path; never one in the workspace or found through a relative path."""
    for folder in environ.get("PATH", os.defpath).split(os.pathsep):
        candidate = Path(folder, name)
        if not candidate.is_absolute() or not os.access(candidate, os.X_OK) or not candidate.is_file():
            continue
        real = Path(os.path.realpath(candidate))
        if not any(path.is_relative_to(root) for root in roots for path in (real, candidate)):
            return str(candidate)
    return None
