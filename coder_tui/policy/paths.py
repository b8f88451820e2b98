"""Classify paths: in the workspace, among the program's own files, in a repository's internals.

Files with secrets are recognized by name alone, so that tools and policy agree.
"""

import re
from dataclasses import dataclass
from fnmatch import fnmatchcase
from itertools import pairwise
from pathlib import PurePath

# Editors, hooks and other agents run what these files say, or take permissions from them, without being
# asked.
_PROGRAM_FOLDER = re.compile(
    r"\.(vscode|idea|zed|fleet|devcontainer|claude|gemini|codex|cursor|opencode|windsurf|continue"
    r"|qwen|crush|kiro|roo|amazonq|junie|husky|githooks|lefthook|mise|hg|jj)"
)
_PROGRAM_PAIRS = frozenset({(".config", "mise"), (".cargo", "config"), (".cargo", "config.toml")})
_PROGRAM_FILE = re.compile(
    r"\.mcp\.json|\.?(opencode|crush)\.jsonc?|\.aider\.conf\.ya?ml|.*\.code-workspace"
    r"|\.envrc|\.?mise(\.[\w-]+)*\.toml|\.yarnrc(\.ya?ml)?"
    r"|\.pre-commit-config\.ya?ml|\.?lefthook(-local)?\.(ya?ml|toml|json)|\.overcommit\.yml"
    r"|\.exrc|\.n?vimrc|\.nvim\.lua|\.lvimrc|\.dir-locals(-2)?\.el"
)
_TOP = "/"


@dataclass(frozen=True, slots=True)
class Boundaries:
    """Folders as absolute paths, links resolved.

    `readable` ones may be read without asking, though outside.
    """

    roots: tuple[str, ...]
    own: tuple[str, ...] = ()
    readable: tuple[str, ...] = ()
    homes: tuple[str, ...] = ()
    """The user's home folder, or two if the environment and the system name different ones."""

    @property
    def wide_roots(self) -> tuple[str, ...]:
        """The roots that contain a home folder or the whole system."""
        return tuple(
            root
            for root in self.roots
            if root == _TOP or any(is_within(home, (root,)) for home in self.homes)
        )


def is_within(path: str, folders: tuple[str, ...]) -> bool:
    """Compare by path parts, so that `/ws-evil` is not inside `/ws`."""
    pure = PurePath(path)
    return any(pure.is_relative_to(folder) for folder in folders)


def is_git_internal(path: str) -> bool:
    # Case-folded: `.GIT/config` is the same file on a case-insensitive disk.
    return ".git" in (part.casefold() for part in PurePath(path).parts)


def is_own_configuration(path: str, boundaries: Boundaries) -> bool:
    if is_within(path, boundaries.own):
        return True
    return ".coder-tui" in (part.casefold() for part in PurePath(path).parts)


def is_program_file(path: str, boundaries: Boundaries) -> bool:
    """Return whether other programs run code or grant permissions because of what this file says."""
    holding = [PurePath(root) for root in boundaries.roots if is_within(path, (root,))]
    pure = PurePath(path)
    if holding:
        # A workspace may be inside such a folder: only its own name and its content count.
        inner = max(holding, key=lambda root: len(root.parts))
        pure = PurePath(inner.name) / pure.relative_to(inner)
    parts = tuple(part.casefold() for part in pure.parts)
    return (
        any(map(_PROGRAM_FOLDER.fullmatch, parts))
        or any(pair in _PROGRAM_PAIRS for pair in pairwise(parts))
        or bool(parts and _PROGRAM_FILE.fullmatch(parts[-1]))
    )


def is_personal(path: str, boundaries: Boundaries) -> bool:
    """Return whether the path is in the workspace only because that contains the home folder or the system.

    This applies to hidden names of the home folder and to everything outside of it.
    """
    wide = boundaries.wide_roots
    narrow = tuple(root for root in boundaries.roots if root not in wide)
    if not is_within(path, wide) or is_within(path, narrow):
        return False
    homes = [home for home in boundaries.homes if home != _TOP and is_within(path, (home,))]
    inside = (PurePath(path).relative_to(home).parts for home in homes)
    return not homes or any(parts and parts[0].startswith(".") for parts in inside)


def shown_path(path: str, boundaries: Boundaries) -> str:
    """Return the path relative to the first root that contains it, or unchanged."""
    pure = PurePath(path)
    for root in boundaries.roots:
        if pure.is_relative_to(root):
            return str(pure.relative_to(root))
    return path


_TEMPLATES = (".example", ".sample", ".template", ".dist")
_EXAMPLES = frozenset({"example.env", "sample.env", "template.env", "default.env"})
_ENVIRONMENT = re.compile(r"\.env(rc)?($|[^a-z])")
_PRIVATE_KEY = re.compile(r"id_(rsa|dsa|ecdsa|ecdsa_sk|ed25519|ed25519_sk|xmss)$")
_KEY_SUFFIXES = (".pem", ".key", ".p12", ".pfx", ".jks", ".keystore", ".kdbx", ".ppk")
_NAMES = frozenset(
    {
        ".netrc",
        "_netrc",
        ".npmrc",
        ".pypirc",
        ".pgpass",
        ".my.cnf",
        ".htpasswd",
        ".git-credentials",
        ".dockercfg",
        ".vault-token",
        "credentials",
        "credentials.json",
        "credentials.toml",
        "credentials.tfrc.json",
    }
)
_FOLDERS = frozenset({".ssh", ".gnupg", ".aws"})
_PLAIN_IN_FOLDERS = frozenset({"known_hosts", "authorized_keys", "config"})
_PAIRS = frozenset({(".docker", "config.json"), (".kube", "config"), ("gh", "hosts.yml")})


def is_secret(path: str | PurePath) -> bool:
    """Return whether `path` names an environment file, a private key or stored credentials."""
    # Searches call this for every file, so it works on plain strings.
    *folders, name = str(path).lower().rstrip("/").split("/")
    parent = folders[-1] if folders else ""
    return (
        _is_environment_file(name)
        or name in _NAMES
        or _PRIVATE_KEY.search(name) is not None
        or name.endswith(_KEY_SUFFIXES)
        or (parent, name) in _PAIRS
        or name in _FOLDERS
        or (name == "environ" and "proc" in folders)
        or (not _FOLDERS.isdisjoint(folders) and not _is_public(name))
    )


_LIKELY = (
    *sorted(_NAMES),
    *(f"server{suffix}" for suffix in _KEY_SUFFIXES),
    *sorted(_FOLDERS),
    *(f".env.{stage}" for stage in ("local", "dev", "development", "test", "staging", "prod", "production")),
    ".env",
    ".envrc",
    "prod.env",
    "id_rsa",
    "id_ed25519",
)
_BRACKETS = re.compile(r"\[.*", re.DOTALL)
_ESCAPED = re.compile(r"\[([*?\[\\])\]")


def widened(pattern: str) -> str:
    """Replace brackets in one part of a pattern by `*`, because every matcher reads them in its own way."""
    return _BRACKETS.sub("*", _ESCAPED.sub("?", pattern))


def may_name_a_secret(pattern: str) -> bool:
    """Return whether a pattern could match a secret, including hidden names, without looking at the disk."""
    *folders, last = (widened(part.strip()) for part in pattern.lower().replace("\\", "").split("/"))
    parts = [folder for folder in folders if folder not in {"", ".", "..", "**"}]
    if any(fnmatchcase(name, part) for part in parts for name in _FOLDERS):
        return True
    if last.startswith(".") and (".env".startswith(last.rstrip("*?")) or last.startswith(".env")):
        return not last.endswith(_TEMPLATES)
    return any(fnmatchcase(name, last) for name in _LIKELY)


def _is_environment_file(name: str) -> bool:
    if name.endswith(_TEMPLATES):
        return False
    is_named_after = name.endswith(".env") and name not in _EXAMPLES
    return is_named_after or _ENVIRONMENT.match(name) is not None


def _is_public(name: str) -> bool:
    return name.endswith(".pub") or name in _PLAIN_IN_FOLDERS
