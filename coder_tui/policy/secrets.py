"""Which files hold secrets, told by their names alone, so that tools and policy agree."""

import re
from fnmatch import fnmatchcase
from pathlib import PurePath

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
    """Whether `path` names an environment file, a private key or stored credentials."""
    # Searches ask this of every file, so plain strings it is.
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
    """One part of a pattern without brackets, which every matcher reads in its own way: anything instead."""
    return _BRACKETS.sub("*", _ESCAPED.sub("?", pattern))


def may_name_a_secret(pattern: str) -> bool:
    """Whether a pattern could stand for a secret, hidden names included; for files that nobody looked up."""
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
