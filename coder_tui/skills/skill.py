"""What a skill is, where it comes from, and what can be wrong with one.

From the text of a `SKILL.md` to a skill: forgiving where that is safe, with every flaw named.
"""

import difflib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from coder_tui.config.paths import display_path
from coder_tui.skills.frontmatter import Head, HeadError, split_head

SKILL_FILE = "SKILL.md"
NAME_LIMIT = 64
DESCRIPTION_LIMIT = 1_024
BODY_LINES = 500


class SkillSource(StrEnum):
    """Weakest first: of one name the later source holds."""

    BUILTIN = "built-in"
    USER = "user"
    PATHS = "skills.paths"
    PROJECT = "project"

    @property
    def is_own(self) -> bool:
        """Whether the person put it there, or the program: a project's comes from others."""
        return self is not SkillSource.PROJECT


class Severity(StrEnum):
    ERROR = "error"
    WARNING = "warning"


@dataclass(frozen=True, slots=True)
class Problem:
    """Something wrong with a file or folder; an error means that the skill is not used."""

    severity: Severity
    file: Path
    line: int
    message: str

    @property
    def place(self) -> str:
        shown = display_path(self.file)
        return f"{shown}:{self.line}" if self.line else shown

    def __str__(self) -> str:
        return f"{self.place}: {self.severity}: {self.message}"


@dataclass(frozen=True, slots=True)
class Skill:
    """`directory` is resolved; relative paths in the body start there."""

    name: str
    description: str
    body: str
    directory: Path
    source: SkillSource
    argument_hint: str = ""
    is_for_model: bool = True
    """False: only the person may call it."""
    project: Path | None = None
    """The folder whose trust it rests on, where it is a project's."""

    @property
    def file(self) -> Path:
        return self.directory / SKILL_FILE


LARGEST_FILE = 100_000
LONGEST_NAME = 128
COMPATIBILITY_LIMIT = 500
_PROPER_NAME = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
# What can be typed behind a slash and cannot be taken for a path.
_USABLE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")
_KNOWN = (
    "name",
    "description",
    "license",
    "compatibility",
    "metadata",
    "allowed-tools",
    "argument-hint",
    "disable-model-invocation",
)
_TRUE = ("true", "yes", "on")


@dataclass(frozen=True, slots=True)
class Parsed:
    """`skill` is None where an error stands among the problems."""

    skill: Skill | None
    problems: tuple[Problem, ...] = ()


def parse_skill(data: bytes, directory: Path, source: SkillSource, project: Path | None = None) -> Parsed:
    """`data` is what the file in `directory` holds."""
    file = directory / SKILL_FILE
    if len(data) > LARGEST_FILE:
        message = f"larger than {LARGEST_FILE} bytes; move long material into files beside it"
        return _broken(file, 0, message)
    try:
        head = split_head(data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        return _broken(file, data[: error.start].count(b"\n") + 1, "not UTF-8 text")
    except HeadError as error:
        return _broken(file, error.line, str(error))
    problems = tuple(_problems(head, directory))
    if any(problem.severity is Severity.ERROR for problem in problems):
        return Parsed(None, problems)
    return Parsed(_skill(head, directory, source, project), problems)


def is_usable_name(name: str) -> bool:
    return len(name) <= LONGEST_NAME and _USABLE_NAME.fullmatch(name) is not None


def is_proper_name(name: str) -> bool:
    """By the letter of the format: 1 to 64 of `a-z`, `0-9` and single hyphens."""
    return len(name) <= NAME_LIMIT and _PROPER_NAME.fullmatch(name) is not None


def _broken(file: Path, line: int, message: str) -> Parsed:
    return Parsed(None, (Problem(Severity.ERROR, file, line, message),))


def _skill(head: Head, directory: Path, source: SkillSource, project: Path | None) -> Skill:
    return Skill(
        name=_name(head, directory),
        description=head.text("description")[:DESCRIPTION_LIMIT],
        body=head.body,
        directory=directory,
        source=source,
        argument_hint=head.text("argument-hint"),
        is_for_model=head.text("disable-model-invocation").lower() not in _TRUE,
        project=project,
    )


def _name(head: Head, directory: Path) -> str:
    """The folder's where the head has none that could be used."""
    name = head.text("name")
    return name if is_usable_name(name) else directory.name


def _problems(head: Head, directory: Path) -> Iterator[Problem]:
    file = directory / SKILL_FILE
    for severity, line, message in (*_name_flaws(head, directory.name), *_flaws(head)):
        yield Problem(severity, file, line, message)


def _name_flaws(head: Head, folder: str) -> Iterator[tuple[Severity, int, str]]:
    name, line = head.text("name"), head.line("name")
    if not is_usable_name(name):
        said = f"the name {name!r} cannot be used" if name else "there is no name"
        if not is_usable_name(folder):
            yield Severity.ERROR, line, f"{said}, and the folder's neither; {_NAME_RULE}"
            return
        yield Severity.WARNING, line, f"{said}; it goes by its folder, {folder}"
        return
    if not is_proper_name(name):
        yield Severity.WARNING, line, f"the name {name} is not by the format: {_NAME_RULE}"
    if name != folder:
        yield Severity.WARNING, line, f"the name {name} differs from the folder's, {folder}"


_NAME_RULE = f"1 to {NAME_LIMIT} characters of a-z, 0-9 and single hyphens"


def _flaws(head: Head) -> Iterator[tuple[Severity, int, str]]:
    description = head.text("description")
    if not description:
        yield Severity.ERROR, head.line("description"), "there is no description, so nobody could find it"
    if len(description) > DESCRIPTION_LIMIT:
        message = f"the description has {len(description)} characters; {DESCRIPTION_LIMIT} are kept"
        yield Severity.WARNING, head.line("description"), message
    if head.was_mended:
        yield Severity.WARNING, 1, "not valid YAML until values with a colon were quoted; quote them"
    if len(head.text("compatibility")) > COMPATIBILITY_LIMIT:
        message = f"compatibility is longer than {COMPATIBILITY_LIMIT} characters"
        yield Severity.WARNING, head.line("compatibility"), message
    if isinstance(head.fields.get("metadata", {}), str | tuple):
        yield Severity.WARNING, head.line("metadata"), "metadata must be fields with texts"
    for key in head.fields:
        near = difflib.get_close_matches(key, _KNOWN, n=1, cutoff=0.8)
        if key not in _KNOWN and near:
            yield Severity.WARNING, head.line(key), f"{key} is not known; did you mean {near[0]}?"
    if not head.body:
        yield Severity.WARNING, head.body_line, "there are no instructions below the frontmatter"
    elif (lines := head.body.count("\n") + 1) > BODY_LINES:
        message = f"the body has {lines} lines, more than {BODY_LINES}; move parts into files beside it"
        yield Severity.WARNING, head.body_line, message
