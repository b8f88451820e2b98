"""What a confined command may not change or not see, by place."""

import os
from collections.abc import Iterable, Iterator
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
