"""Reads a profile from the fields of a file, whichever program it was written for."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from rapidfuzz import process

from coder_tui.agent.profiles.profiles import Profile, ProfileMode, off
from coder_tui.agent.profiles.tools import MeantTools

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
    """Whose files they are: what holds where a field is missing differs."""

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
    """Never raises: what is wrong is told, and what cannot be used is left out."""
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
        " ".join((_text(source, "description") or _first_line(prompt)).split())[:MOST_DESCRIPTION],
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


def _first_line(text: str) -> str:
    return next(line.strip("# \t") for line in text.splitlines() if line.strip())


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


def _tools(source: ProfileSource) -> MeantTools:
    tools = MeantTools(source.label)
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


def _permissions(source: ProfileSource, tools: MeantTools) -> None:
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
