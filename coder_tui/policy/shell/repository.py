"""Check a repository: would its settings make git run programs while reading, and does it track secrets?

Only settings that are known to be harmless pass, because git gains new ones that name programs every year.
Comparing or searching versions would show the content of tracked secrets.
"""

import re
from collections.abc import Iterator
from pathlib import Path

from coder_tui.policy.paths import is_secret
from coder_tui.policy.shell.notes import named

MOST_CONFIG_BYTES = 200_000
_SECTION = re.compile(r'\s*\[\s*([\w.-]+)(?:\s+"[^"]*")?\s*\]\s*')
_SETTING = re.compile(r"\s*([A-Za-z][\w-]*)\s*(?:=\s*(.*))?")
_FREE_SECTIONS = named(
    "branch user color init pull push rebase advice gui fetch gc index feature maintenance rerere protocol "
    "url http blame column help i18n pack svn-remote github hub credential commit tag alias status gpg svn "
    "safe lfs submodule stash clean receive transfer versionsort vscode-merge-base worktree checkout apply "
    "am grep"
)
_KNOWN: dict[str, frozenset[str]] = {
    "core": named(
        "repositoryformatversion filemode bare logallrefupdates ignorecase precomposeunicode symlinks "
        "autocrlf eol safecrlf quotepath abbrev untrackedcache preloadindex fscache longpaths hidedotfiles "
        "editor pager commentchar whitespace sparsecheckout sparsecheckoutcone excludesfile sshcommand "
        "multipackindex commitgraph protectntfs protecthfs bigfilethreshold compression checkstat "
        "trustctime"
    ),
    "remote": named("url fetch pushurl push mirror tagopt prune prunetags gh-resolved proxy skipfetchall"),
    "merge": named("tool guitool ff conflictstyle log stat renames renamelimit verbosity autostash"),
    "diff": named(
        "renames colormoved colormovedws algorithm mnemonicprefix noprefix tool guitool wserrorhighlight "
        "renamelimit submodule context indentheuristic"
    ),
    "log": named("date decorate follow abbrevcommit mailmap initialdecorationset excludedecoration"),
    "extensions": named("objectformat refstorage compatobjectformat"),
}
_BOOLEANS = frozenset({"true", "false", "yes", "no", "on", "off", "0", "1"})
MOST_INDEX = 20_000_000
# In the index: the mode of a link to a repository, owner, group, size, hash and flags, then its path.
_LINK = re.compile(rb"\x00\x00\xe0\x00.{34}([^\x00]{1,4000})\x00", re.DOTALL)
_HOOK = "post-index-change"
"""The only hook that reading commands run."""


def runs_programs(directory: str) -> bool:
    """Return whether the repository of `directory` makes git run programs.

    Unreadable settings count as dangerous.
    """
    for folder in (Path(directory), *Path(directory).parents):
        marker = folder / ".git"
        try:
            if marker.is_dir():
                return _is_dangerous(marker, folder) or _has_dangerous_links(marker, folder)
            if marker.exists() or marker.is_symlink():
                return _is_dangerous_elsewhere(marker, folder)
            if all((folder / name).exists() for name in ("HEAD", "objects", "refs")):
                return True
        except (OSError, ValueError):
            return True
    return False


def _has_dangerous_links(repository: Path, folder: Path) -> bool:
    """Check linked repositories: git reads those with their own settings."""
    index = repository / "index"
    if not index.exists() or index.stat().st_size > MOST_INDEX:
        return False
    for entry in _LINK.finditer(index.read_bytes()):
        linked = folder / entry[1].decode(errors="surrogateescape")
        if (linked / ".git").exists() and runs_programs(str(linked)):
            return True
    return False


def _is_dangerous_elsewhere(marker: Path, folder: Path) -> bool:
    """Check a `.git` file. Only worktrees and submodules may keep their settings elsewhere."""
    target = Path(folder, _content(marker).removeprefix("gitdir:").strip()).resolve()
    place = target.parts
    if len(place) > 3 and place[-3:-1] == (".git", "worktrees"):
        return _is_dangerous(target.parents[1], folder) or (target / "config.worktree").exists()
    return not (".git" in place and "modules" in place) or _is_dangerous(target, folder)


def _is_dangerous(repository: Path, folder: Path) -> bool:
    if (repository / "commondir").exists() or (repository / "hooks" / _HOOK).exists():
        return True
    config = repository / "config"
    return config.exists() and _names_program(_content(config), folder)


def _content(path: Path) -> str:
    with path.open("rb") as file:
        content = file.read(MOST_CONFIG_BYTES + 1)
    if len(content) > MOST_CONFIG_BYTES:
        raise ValueError(path)
    return content.decode(errors="replace")


def _names_program(text: str, folder: Path) -> bool:
    section = ""
    for line in text.splitlines():
        if line.rstrip().endswith("\\"):
            return True
        if match := _SECTION.match(line):
            section, line = match[1].lower(), line[match.end() :]
        if not line.strip() or line.lstrip().startswith(("#", ";")):
            continue
        setting = _SETTING.fullmatch(line)
        if setting is None or not _is_harmless(
            section, setting[1].lower(), (setting[2] or "true").strip(), folder
        ):
            return True
    return False


def _is_harmless(section: str, key: str, value: str, folder: Path) -> bool:
    if "%G" in value:
        # The repository chooses the program that verifies signatures.
        return False
    match section, key:
        case "core", "fsmonitor":
            return value.lower() in _BOOLEANS
        case "core", "hookspath":
            return not Path(folder, value.strip('"')).joinpath(_HOOK).exists()
        case "filter", "required":
            return True
        case "filter", _:
            return value.strip('"').startswith("git-lfs ")
        case _:
            return section in _FREE_SECTIONS or key in _KNOWN.get(section, frozenset())


MOST_INDEX_BYTES = 20_000_000
_HEAD, _STATS, _FLAGS = 12, 40, 2
_HASHES = (20, 32)
_EXTENDED = 0x4000
_SPLIT = b"link"


def tracked_secrets(directory: str) -> tuple[str, ...] | None:
    """Return the tracked secrets of the repository of `directory` as absolute paths, or None if unknown."""
    for folder in (Path(directory), *Path(directory).parents):
        try:
            marker = folder / ".git"
            if marker.is_dir():
                return _secrets(marker / "index", folder)
            if marker.is_file():
                named = marker.read_text(errors="replace")[:4_000].removeprefix("gitdir:").strip()
                return _secrets(Path(folder, named) / "index", folder)
        except (OSError, ValueError):
            return None
    return ()


def _secrets(index: Path, top: Path) -> tuple[str, ...] | None:
    if not index.exists():
        return ()
    if index.stat().st_size > MOST_INDEX_BYTES:
        return None
    content = index.read_bytes()
    for hash_size in _HASHES:
        try:
            names = list(_names(content, hash_size))
        except (ValueError, IndexError):
            continue
        paths = (name.decode(errors="surrogateescape") for name in names)
        return tuple(f"{top}/{path}" for path in paths if is_secret(path))
    return None


def _names(content: bytes, hash_size: int) -> Iterator[bytes]:
    """Yield the names in an index. Raises `ValueError` or `IndexError` if the hashes have another size."""
    version, count = int.from_bytes(content[4:8]), int.from_bytes(content[8:12])
    if content[:4] != b"DIRC" or not 2 <= version <= 4:
        raise ValueError("not an index")
    position, name = _HEAD, b""
    for _ in range(count):
        start = position
        flags = int.from_bytes(content[start + _STATS + hash_size : start + _STATS + hash_size + _FLAGS])
        position += _STATS + hash_size + _FLAGS + (_FLAGS if flags & _EXTENDED else 0)
        shared = 0
        if version == 4:
            dropped, position = _offset(content, position)
            shared = len(name) - dropped
        end = content.index(b"\0", position)
        name = name[:shared] + content[position:end]
        length = flags & 0xFFF
        if length not in {len(name), 0xFFF} or shared < 0:
            raise ValueError("the lengths differ")
        position = end + 1 if version == 4 else start + (end - start + 8) // 8 * 8
        yield name
    if content[position : position + 4] == _SPLIT:
        raise ValueError("the index is split")


def _offset(content: bytes, position: int) -> tuple[int, int]:
    """Decode a number of variable length, as git writes it."""
    byte = content[position]
    value = byte & 0x7F
    while byte & 0x80:
        position += 1
        byte = content[position]
        value = ((value + 1) << 7) | (byte & 0x7F)
    return value, position + 1
