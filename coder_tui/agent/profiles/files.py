"""Find and read the profiles that people keep in files, whichever program they were written for.

A project's are used once it is trusted.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from rapidfuzz import process

from coder_tui.agent.profiles.profiles import BUILD, PLAN, Profile, ProfileMode, Profiles, off
from coder_tui.agent.profiles.tools import ToolSwitches
from coder_tui.config.paths import display_path
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
from coder_tui.skills.command_files import MARKDOWN, TOML, ExtensionPlaces, extension_files, first_line
from coder_tui.skills.skill import HeadError, split_head

MOST_PROMPT = 100_000
MOST_DESCRIPTION = 1_000
_NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9_-]{0,48}[A-Za-z0-9])?")
_MODES = {
    "primary": ProfileMode.PRIMARY,
    "sub": ProfileMode.SUB,
    "subagent": ProfileMode.SUB,
    "all": ProfileMode.ALL,
}
_STEPS = ("max_steps", "max_turns", "maxTurns", "maxSteps", "steps")
_MINUTES = ("max_minutes", "timeout_mins")
_FIELDS = (
    *("name", "description", "mode", "model", "prompt", "disable"),
    *("tools", "disallowedTools", "permission"),
    *_STEPS,
    *_MINUTES,
)
# Known to others, and of no meaning here.
_PASSED_OVER = frozenset(
    {
        *("color", "hidden", "temperature", "top_p", "options", "kind", "display_name"),
        *("permissionMode", "skills", "hooks", "memory"),
    }
)


class Dialect(StrEnum):
    """The program that a file was written for: the defaults of missing fields differ."""

    CLAUDE = "claude"
    OPENCODE = "opencode"
    OURS = "ours"


@dataclass(frozen=True, slots=True)
class ProfileSource:
    """`fields` are a file's, `place` names the line of one, `stem` the file without its ending."""

    place: Mapping[str, str]
    fields: Mapping[str, object]
    body: str
    stem: str
    label: str
    dialect: Dialect

    def at(self, name: str) -> str:
        return self.place.get(name, self.label)


@dataclass(slots=True)
class Parsed:
    """`profile` is None where the file has none that could be used; `notices` name file and line."""

    profile: Profile | None = None
    notices: list[str] = field(default_factory=list)
    is_disabled: bool = False
    name: str = ""


def parse_profile(source: ProfileSource) -> Parsed:
    """Never raises: problems are reported, and what cannot be used is left out."""
    parsed = Parsed()
    parsed.notices += [f"{source.at(name)}: {text}" for name, text in _unknown(source)]
    parsed.name = name = _text(source, "name") or source.stem.replace("/", "-")
    prompt = _text(source, "prompt") or source.body.strip()
    if not _NAME.fullmatch(name):
        parsed.notices.append(f"{source.at('name')}: {name!r} is no name for an agent; not used")
    elif not prompt:
        parsed.notices.append(f"{source.label}: the agent {name} has no prompt; not used")
    elif len(prompt) > MOST_PROMPT:
        parsed.notices.append(f"{source.label}: its prompt is longer than {MOST_PROMPT} characters; not used")
    elif (mode := _mode(source, parsed)) is not None:
        parsed.is_disabled = _is_true(source.fields.get("disable"))
        parsed.profile = _profile(source, parsed, prompt, mode)
    return parsed


def _profile(source: ProfileSource, parsed: Parsed, prompt: str, mode: ProfileMode) -> Profile:
    tools = _tools(source)
    parsed.notices += [f"{source.at(name)}: {problem}" for name, problem in tools.problems]
    return Profile(
        parsed.name,
        " ".join((_text(source, "description") or first_line(prompt)).split())[:MOST_DESCRIPTION],
        mode,
        prompt,
        # Plan mode's own tools are of no use outside of it; a file may switch questions on.
        (*off("question", "plan_exit"), *tools.switches),
        tuple(tools.rules),
        _model(source, parsed),
        _number(source, parsed, _STEPS),
        _number(source, parsed, _MINUTES),
        source.label,
    )


def _unknown(source: ProfileSource) -> Iterator[tuple[str, str]]:
    for name in source.fields:
        if name not in _FIELDS and name not in _PASSED_OVER:
            near = process.extractOne(name, _FIELDS, score_cutoff=60)
            hint = f'; did you mean "{near[0]}"?' if near else ""
            yield name, f'unknown field "{name}"{hint}'


def _text(source: ProfileSource, name: str) -> str:
    value = source.fields.get(name)
    return value.strip() if isinstance(value, str) else ""


def _mode(source: ProfileSource, parsed: Parsed) -> ProfileMode | None:
    given = _text(source, "mode")
    if not given:
        return ProfileMode.SUB if source.dialect is Dialect.CLAUDE else ProfileMode.ALL
    if given not in _MODES:
        parsed.notices.append(f"{source.at('mode')}: mode {given!r} is none of primary, sub, all; not used")
    return _MODES.get(given)


def _model(source: ProfileSource, parsed: Parsed) -> str:
    model = _text(source, "model")
    if model in ("", "inherit"):
        return ""
    if "/" not in model:
        if source.dialect is Dialect.CLAUDE:
            # `sonnet` and its like mean that program's choice of the day; most of its files have one.
            return ""
        parsed.notices.append(f"{source.at('model')}: model {model} names no provider; the session's is used")
        return ""
    return model


def _number(source: ProfileSource, parsed: Parsed, names: tuple[str, ...]) -> int | None:
    for name in names:
        value = source.fields.get(name)
        if value is None:
            continue
        text = str(value)
        if text.isdecimal() and int(text) > 0:
            return int(text)
        parsed.notices.append(f"{source.at(name)}: {name} must be a whole number above 0, got {text[:40]!r}")
    return None


def _tools(source: ProfileSource) -> ToolSwitches:
    tools = ToolSwitches(source.label)
    match source.fields.get("tools"):
        case str() as given if given.strip():
            tools.only(given)
        case list() | tuple() as given:
            tools.only([str(name) for name in given])
        case Mapping() as given:
            for name, is_on in given.items():
                tools.switch(str(name), is_on=_is_true(is_on))
        case _:
            pass
    match source.fields.get("disallowedTools"):
        case str() as given:
            for name in given.replace(",", " ").split():
                tools.switch(name, is_on=False)
        case list() | tuple() as given:
            for name in given:
                tools.switch(str(name), is_on=False)
        case _:
            pass
    _permissions(source, tools)
    return tools


def _permissions(source: ProfileSource, tools: ToolSwitches) -> None:
    match source.fields.get("permission"):
        case str() as effect if effect.strip():
            tools.permit("*", {"*": effect.strip()}, source.at("permission"))
        case Mapping() as table:
            for key, value in table.items():
                patterns = value if isinstance(value, Mapping) else {"*": value}
                given = {str(pattern): str(effect) for pattern, effect in patterns.items()}
                tools.permit(str(key), given, source.at("permission"))
        case _:
            pass


def _is_true(value: object) -> bool:
    return value is True or str(value).casefold() in ("true", "yes", "on")


_SECTION = ("agents", "custom")
_HOW = "'coder-tui trust' shows them, and asks"


def _own_folders(places: ExtensionPlaces) -> Iterator[tuple[Path, Dialect]]:
    """Yield the user's folders, weakest first: of two with one name the later wins."""
    yield places.home / ".claude/agents", Dialect.CLAUDE
    yield places.opencode / "agent", Dialect.OPENCODE
    yield places.opencode / "agents", Dialect.OPENCODE
    yield places.directories.config / "agents", Dialect.OURS


@dataclass(slots=True)
class _ProfileCollector:
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
    places: ExtensionPlaces,
    trust: Trust,
    custom: Mapping[str, Mapping[str, object]],
    sources: Sources,
) -> tuple[Profiles, tuple[str, ...]]:
    """All that can be used, and a sentence on what is wrong. `custom` are the settings' own. Blocks."""
    own = _ProfileCollector({profile.name: profile for profile in built_in.all})
    for folder, dialect in _own_folders(places):
        for path in extension_files(folder):
            own.take(_read_own(path, folder, dialect))
    for name, fields in custom.items():
        own.take(parse_profile(_from_settings(name, fields, sources)))
    for name in (BUILD, PLAN):
        # A session cannot be without them.
        own.profiles.setdefault(name, built_in.get(name))
    project, taken_names = _ProfileCollector(), {name.casefold() for name in own.profiles}
    for parsed in _of_project(places.workspace, trust, project.notices):
        # `Build` would be taken for `build`, by people and by models.
        if parsed.profile is not None and parsed.name.casefold() in taken_names:
            source = parsed.profile.source
            taken = f"{source}: the name {parsed.name} is taken by an agent of yours or ours; not used"
            project.notices.append(taken)
        else:
            project.take(parsed)
    return Profiles((*own.profiles.values(), *project.profiles.values())), (*own.notices, *project.notices)


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
        return  # reported when the user is asked about trust
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
