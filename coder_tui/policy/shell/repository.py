"""Whether a repository's own settings would make git run programs even when it only looks.

Only settings that are known to be harmless are let through: git gains new ones that name programs every year.
"""

import re
from pathlib import Path

from coder_tui.policy.shell.words import named

MOST_BYTES = 200_000
_SECTION = re.compile(r'\s*\[\s*([\w.-]+)(?:\s+"[^"]*")?\s*\]\s*')
_SETTING = re.compile(r"\s*([A-Za-z][\w-]*)\s*(?:=\s*(.*))?")
_FREE_SECTIONS = named(
    "branch user color init pull push rebase advice gui fetch gc index feature maintenance rerere protocol "
    "url "
    "http blame column help i18n pack svn-remote github hub credential commit tag alias status gpg svn "
    "safe lfs "
    "submodule stash clean receive transfer versionsort vscode-merge-base worktree checkout apply am grep"
)
_KNOWN: dict[str, frozenset[str]] = {
    "core": named(
        "repositoryformatversion filemode bare logallrefupdates ignorecase precomposeunicode symlinks "
        "autocrlf "
        "eol safecrlf quotepath abbrev untrackedcache preloadindex fscache longpaths hidedotfiles editor "
        "pager "
        "commentchar whitespace sparsecheckout sparsecheckoutcone excludesfile sshcommand multipackindex "
        "commitgraph protectntfs protecthfs bigfilethreshold compression checkstat trustctime"
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
"""The one hook that commands run which only look."""


def runs_programs(directory: str) -> bool:
    """Looks at the repository that holds `directory`; what cannot be read counts as dangerous."""
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
    """git looks into the repositories that this one links to, by their own settings."""
    index = repository / "index"
    if not index.exists() or index.stat().st_size > MOST_INDEX:
        return False
    for entry in _LINK.finditer(index.read_bytes()):
        linked = folder / entry[1].decode(errors="surrogateescape")
        if (linked / ".git").exists() and runs_programs(str(linked)):
            return True
    return False


def _is_dangerous_elsewhere(marker: Path, folder: Path) -> bool:
    """A second working tree and a submodule keep their settings in the main repository; nothing else may."""
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
        content = file.read(MOST_BYTES + 1)
    if len(content) > MOST_BYTES:
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
        # Signatures are looked at by a program of the repository's choice.
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
