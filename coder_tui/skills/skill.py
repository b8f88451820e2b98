"""What a skill is, where it comes from, and what can be wrong with it.

Parses a `SKILL.md`: lenient if that is safe, with every problem reported. The YAML frontmatter of any
Markdown file is read with the line of each field.
"""

import difflib
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

import yaml

from coder_tui.config.paths import display_path

LARGEST_HEAD = 16_000
MOST_BRACKETS = 200
"""More nested brackets would keep the YAML reader busy for minutes."""
_OPENING = re.compile(r"\A\ufeff?(?:[ \t]*\n)*---[ \t]*\n")
_CLOSING = re.compile(r"^(?:---|\.\.\.)[ \t]*$", re.MULTILINE)
_PLAIN_VALUE = re.compile(r"^([A-Za-z][\w-]*):[ \t]+([^\s\"'|>\[{&*!#].*?)[ \t]*$", re.MULTILINE)

Value = str | tuple[str, ...] | Mapping[str, "Value"]


class HeadError(Exception):
    """The frontmatter cannot be read; `line` is the line in the file."""

    def __init__(self, message: str, line: int) -> None:
        super().__init__(message)
        self.line = line


@dataclass(frozen=True, slots=True)
class Head:
    """The fields as texts, with their lines; `body_line` is the first line after the frontmatter."""

    fields: Mapping[str, Value] = field(default_factory=dict)
    lines: Mapping[str, int] = field(default_factory=dict)
    body: str = ""
    body_line: int = 1
    was_repaired: bool = False

    def text(self, name: str) -> str:
        """Return a text field on one line; "" if it is missing or not a text."""
        value = self.fields.get(name)
        return " ".join(value.split()) if isinstance(value, str) else ""

    def line(self, name: str) -> int:
        return self.lines.get(name, 1)


def split_head(text: str) -> Head:
    """Split a file; raise `HeadError` if the frontmatter is missing, or not YAML even with quotes."""
    text = text.replace("\r\n", "\n")
    opening = _OPENING.match(text)
    if opening is None:
        raise HeadError("there is no frontmatter: the file must start with a line ---", 1)
    first = text[: opening.end()].count("\n")
    closing = _CLOSING.search(text, opening.end())
    if closing is None:
        raise HeadError("the frontmatter is not closed: a second line --- is missing", first)
    head = text[opening.end() : closing.start()]
    if len(head) > LARGEST_HEAD:
        raise HeadError(f"the frontmatter is longer than {LARGEST_HEAD} characters", first)
    if head.count("[") + head.count("{") > MOST_BRACKETS:
        raise HeadError(f"the frontmatter has more than {MOST_BRACKETS} opening brackets", first)
    fields, lines, was_repaired = _fields(head, first)
    body_line = text[: closing.end()].count("\n") + 2
    return Head(fields, lines, text[closing.end() :].strip(), body_line, was_repaired)


def _fields(head: str, first: int) -> tuple[dict[str, Value], dict[str, int], bool]:
    try:
        return *_read(head, first), False
    except HeadError:
        # People write `description: Use when: …`, although YAML requires quotes.
        quoted = _PLAIN_VALUE.sub(lambda pair: f"{pair[1]}: {json.dumps(pair[2], ensure_ascii=False)}", head)
        if quoted == head:
            raise
        try:
            return *_read(quoted, first), True
        except HeadError:
            pass
        raise


def _read(head: str, first: int) -> tuple[dict[str, Value], dict[str, int]]:
    try:
        for event in yaml.parse(head, Loader=yaml.SafeLoader):
            if isinstance(event, yaml.AliasEvent):
                # Aliases of aliases expand without end, and frontmatter has no use for them.
                line = event.start_mark.line if event.start_mark else 0
                raise HeadError("aliases (*name) are not supported", first + 1 + line)
        # Only the tree is built, no objects: the frontmatter cannot call anything.
        node = yaml.compose(head, Loader=yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise HeadError(f"not valid YAML: {error.problem}", first + 1 + (mark.line if mark else 0)) from error
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        raise HeadError(f"not valid YAML: {error}", first) from error
    if node is None:
        return {}, {}
    if not isinstance(node, yaml.MappingNode):
        raise HeadError("the frontmatter must consist of fields, such as name: my-skill", first + 1)
    fields: dict[str, Value] = {}
    lines: dict[str, int] = {}
    for key, value in node.value:
        name, line = _scalar(key), first + 1 + key.start_mark.line
        if name in fields:
            raise HeadError(f"the field {name} appears twice", line)
        fields[name], lines[name] = _value(value), line
    return fields, lines


def _value(node: yaml.Node) -> Value:
    match node:
        case yaml.SequenceNode():
            return tuple(_scalar(item) for item in node.value)
        case yaml.MappingNode():
            return {_scalar(key): _value(value) for key, value in node.value}
        case _:
            return _scalar(node)


def _scalar(node: yaml.Node) -> str:
    return node.value if isinstance(node, yaml.ScalarNode) else ""


SKILL_FILE = "SKILL.md"
NAME_LIMIT = 64
DESCRIPTION_LIMIT = 1_024
BODY_LINES = 500


class SkillSource(StrEnum):
    """Weakest first: of two skills with the same name, the later source is used."""

    BUILTIN = "built-in"
    USER = "user"
    PATHS = "skills.paths"
    PROJECT = "project"

    @property
    def is_own(self) -> bool:
        """Whether it comes from the user or this program; a project's skills come from others."""
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
    """If False, only the user may call it."""
    project: Path | None = None
    """The folder that must be trusted, if it is a project's skill."""

    @property
    def file(self) -> Path:
        return self.directory / SKILL_FILE


LARGEST_FILE = 100_000
LONGEST_NAME = 128
COMPATIBILITY_LIMIT = 500
_PROPER_NAME = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
# What can be typed after a slash and does not look like a path.
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
    """`skill` is None if one of the problems is an error."""

    skill: Skill | None
    problems: tuple[Problem, ...] = ()


def parse_skill(data: bytes, directory: Path, source: SkillSource, project: Path | None = None) -> Parsed:
    """Parse `data`, the content of the `SKILL.md` in `directory`."""
    file = directory / SKILL_FILE
    if len(data) > LARGEST_FILE:
        message = f"larger than {LARGEST_FILE} bytes; move long material to other files in the folder"
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
    """Return whether the name follows the format: 1 to 64 of `a-z`, `0-9` and single hyphens."""
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
    """Return the skill's name, or the folder's if the head has no usable one."""
    name = head.text("name")
    return name if is_usable_name(name) else directory.name


def _problems(head: Head, directory: Path) -> Iterator[Problem]:
    file = directory / SKILL_FILE
    for severity, line, message in (*_name_flaws(head, directory.name), *_flaws(head)):
        yield Problem(severity, file, line, message)


def _name_flaws(head: Head, folder: str) -> Iterator[tuple[Severity, int, str]]:
    name, line = head.text("name"), head.line("name")
    if not is_usable_name(name):
        said = f"the name {name!r} is not valid" if name else "there is no name"
        if not is_usable_name(folder):
            yield Severity.ERROR, line, f"{said}, and the folder's name is not valid either; use {_NAME_RULE}"
            return
        yield Severity.WARNING, line, f"{said}; the folder's name is used instead: {folder}"
        return
    if not is_proper_name(name):
        yield Severity.WARNING, line, f"the name {name} does not follow the format: use {_NAME_RULE}"
    if name != folder:
        yield Severity.WARNING, line, f"the name {name} differs from the folder's name, {folder}"


_NAME_RULE = f"1 to {NAME_LIMIT} characters of a-z, 0-9 and single hyphens"


def _flaws(head: Head) -> Iterator[tuple[Severity, int, str]]:
    description = head.text("description")
    if not description:
        yield (
            Severity.ERROR,
            head.line("description"),
            "there is no description, so the skill could not be found",
        )
    if len(description) > DESCRIPTION_LIMIT:
        message = f"the description has {len(description)} characters; only {DESCRIPTION_LIMIT} are used"
        yield Severity.WARNING, head.line("description"), message
    if head.was_repaired:
        yield Severity.WARNING, 1, "not valid YAML: values with a colon must be quoted"
    if len(head.text("compatibility")) > COMPATIBILITY_LIMIT:
        message = f"compatibility is longer than {COMPATIBILITY_LIMIT} characters"
        yield Severity.WARNING, head.line("compatibility"), message
    if isinstance(head.fields.get("metadata", {}), str | tuple):
        yield Severity.WARNING, head.line("metadata"), "metadata must be a table of texts"
    for key in head.fields:
        near = difflib.get_close_matches(key, _KNOWN, n=1, cutoff=0.8)
        if key not in _KNOWN and near:
            yield Severity.WARNING, head.line(key), f"unknown field {key}; did you mean {near[0]}?"
    if not head.body:
        yield Severity.WARNING, head.body_line, "there are no instructions below the frontmatter"
    elif (lines := head.body.count("\n") + 1) > BODY_LINES:
        message = (
            f"the body has {lines} lines, more than {BODY_LINES}; move parts to other files in the folder"
        )
        yield Severity.WARNING, head.body_line, message
