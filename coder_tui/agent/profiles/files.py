"""Finds the profiles that people keep in files: their own, and a project's once it is trusted."""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from coder_tui.agent.profiles.parse import Dialect, Parsed, ProfileSource, parse_profile
from coder_tui.agent.profiles.profiles import BUILD, PLAN, Profile, Profiles
from coder_tui.config.paths import Directories, display_path
from coder_tui.config.project import (
    AGENT_FOLDERS,
    LARGEST,
    ProjectFileError,
    extension_names,
    read_project_file,
)
from coder_tui.config.settings_file import parse_settings
from coder_tui.config.sources import Sources, origin_of
from coder_tui.config.trust import Trust
from coder_tui.protocol.errors import ConfigError
from coder_tui.skills.frontmatter import HeadError, split_head

MARKDOWN, TOML = ".md", ".toml"
_MOST_FILES = 500
_SECTION = ("agents", "custom")
_HOW = "'coder-tui trust' shows them, and asks"


@dataclass(frozen=True, slots=True)
class AgentPlaces:
    """Where to look; `home` is the person's folder."""

    workspace: Path
    directories: Directories
    home: Path
    environ: Mapping[str, str]

    def users(self) -> Iterator[tuple[Path, Dialect]]:
        """Weakest first: of one name the later holds."""
        yield self.home / ".claude/agents", Dialect.CLAUDE
        config = Path(self.environ.get("XDG_CONFIG_HOME") or self.home / ".config")
        opencode = Path(self.environ.get("OPENCODE_CONFIG_DIR") or config / "opencode")
        yield opencode / "agent", Dialect.OPENCODE
        yield opencode / "agents", Dialect.OPENCODE
        yield self.directories.config / "agents", Dialect.OURS


@dataclass(slots=True)
class _Gathered:
    profiles: dict[str, Profile] = field(default_factory=dict)
    notices: list[str] = field(default_factory=list)

    def take(self, parsed: Parsed) -> None:
        self.notices += parsed.notices
        if parsed.is_disabled:
            self.profiles.pop(parsed.name, None)
        elif parsed.profile is not None:
            self.profiles[parsed.name] = parsed.profile


def load_profiles(
    built_in: Profiles,
    places: AgentPlaces,
    trust: Trust,
    custom: Mapping[str, Mapping[str, object]],
    sources: Sources,
) -> tuple[Profiles, tuple[str, ...]]:
    """All that can be used, and a sentence on what is wrong. `custom` are the settings' own. Blocks."""
    own = _Gathered({profile.name: profile for profile in built_in.all})
    for folder, dialect in places.users():
        for path in _files(folder):
            own.take(_read_own(path, folder, dialect))
    for name, fields in custom.items():
        own.take(parse_profile(_from_settings(name, fields, sources)))
    for name in (BUILD, PLAN):
        # A session cannot be without them.
        own.profiles.setdefault(name, built_in.get(name))
    project, taken_names = _Gathered(), {name.casefold() for name in own.profiles}
    for parsed in _of_project(places.workspace, trust, project.notices):
        # `Build` would be taken for `build`, by people and by models.
        if parsed.profile is not None and parsed.name.casefold() in taken_names:
            source = parsed.profile.source
            taken = f"{source}: the name {parsed.name} is taken by an agent of yours or ours; not used"
            project.notices.append(taken)
        else:
            project.take(parsed)
    return Profiles((*own.profiles.values(), *project.profiles.values())), (*own.notices, *project.notices)


def _files(folder: Path) -> list[Path]:
    found: list[Path] = []
    for place, folders, names in os.walk(folder):
        folders.sort()
        found += [Path(place, name) for name in sorted(names) if name.endswith((MARKDOWN, TOML))]
        if len(found) > _MOST_FILES:
            break
    return found[:_MOST_FILES]


def _read_own(path: Path, folder: Path, dialect: Dialect) -> Parsed:
    label = display_path(path)
    try:
        with path.open("rb") as file:
            data = file.read(LARGEST + 1)
    except OSError as error:
        return Parsed(notices=[f"{label}: cannot be read: {error.strerror or error}"])
    return parse_file(path, path.relative_to(folder).as_posix(), data, label, dialect)


def _of_project(workspace: Path, trust: Trust, notices: list[str]) -> Iterator[Parsed]:
    try:
        names = [name for name in extension_names(workspace, AGENT_FOLDERS) if is_agent_file(name)]
    except ProjectFileError:
        return  # told where trust is asked for
    untrusted: list[str] = []
    for name in names:
        try:
            file = read_project_file(workspace, name)
        except ProjectFileError as error:
            notices.append(f"{name}: {error}; not used")
            continue
        if file is None:
            continue
        if not trust.trusts(workspace, file):
            untrusted.append(name)
            continue
        folder = next(folder for folder in AGENT_FOLDERS if name.startswith(f"{folder}/"))
        inner = name.removeprefix(f"{folder}/")
        yield parse_file(workspace / name, inner, file.data, name, _dialect(folder))
    if untrusted:
        notices.append(f"found {_listed(untrusted)}, not used: this folder is not trusted; {_HOW}")


def is_agent_file(name: str) -> bool:
    return name.startswith(tuple(f"{folder}/" for folder in AGENT_FOLDERS)) and name.endswith(
        (MARKDOWN, TOML)
    )


def _dialect(folder: str) -> Dialect:
    match folder.partition("/")[0]:
        case ".claude":
            return Dialect.CLAUDE
        case ".opencode":
            return Dialect.OPENCODE
        case _:
            return Dialect.OURS


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{names[0]} and {len(names) - 1} more agents"


def parse_file(path: Path, inner: str, data: bytes, label: str, dialect: Dialect) -> Parsed:
    """`inner` is its name below the folder of agents."""
    if len(data) > LARGEST:
        return Parsed(notices=[f"{label}: is larger than {LARGEST} bytes; not used"])
    stem = inner.rpartition(".")[0]
    try:
        if path.suffix == TOML:
            return parse_profile(_from_toml(path, data, stem, label, dialect))
        head = split_head(data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        return Parsed(notices=[f"{label}:{line}: not UTF-8 text; not used"])
    except HeadError as error:
        return Parsed(notices=[f"{label}:{error.line}: {error}; not used"])
    except ConfigError as error:
        return Parsed(notices=[f"{error}; not used"])
    place = {name: f"{label}:{head.line(name)}" for name in head.fields}
    return parse_profile(ProfileSource(place, head.fields, head.body, stem, label, dialect))


def _from_toml(path: Path, data: bytes, stem: str, label: str, dialect: Dialect) -> ProfileSource:
    file = parse_settings(path, data)
    place = {name: f"{label}:{file.line((name,))}" for name in file.values}
    return ProfileSource(place, file.values, "", stem, label, dialect)


def _from_settings(name: str, fields: Mapping[str, object], sources: Sources) -> ProfileSource:
    place = {key: origin_of(sources, (*_SECTION, name, key)) for key in fields}
    return ProfileSource(place, fields, "", name, origin_of(sources, (*_SECTION, name)), Dialect.OURS)
