"""The YAML head of a Markdown file, read forgivingly, with the line of each field."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

import yaml

LARGEST_HEAD = 16_000
MOST_BRACKETS = 200
"""More of them, nested, would keep the YAML reader busy for minutes."""
_OPENING = re.compile(r"\A\ufeff?(?:[ \t]*\n)*---[ \t]*\n")
_CLOSING = re.compile(r"^(?:---|\.\.\.)[ \t]*$", re.MULTILINE)
_PLAIN_VALUE = re.compile(r"^([A-Za-z][\w-]*):[ \t]+([^\s\"'|>\[{&*!#].*?)[ \t]*$", re.MULTILINE)

Value = str | tuple[str, ...] | Mapping[str, "Value"]


class HeadError(Exception):
    """The head cannot be read; `line` counts from the file's first."""

    def __init__(self, message: str, line: int) -> None:
        super().__init__(message)
        self.line = line


@dataclass(frozen=True, slots=True)
class Head:
    """Fields by name, all of them texts, with their lines; `body_line` is the first line after the head."""

    fields: Mapping[str, Value] = field(default_factory=dict)
    lines: Mapping[str, int] = field(default_factory=dict)
    body: str = ""
    body_line: int = 1
    was_mended: bool = False

    def text(self, name: str) -> str:
        """One line of a field that is a text; empty where it is missing or something else."""
        value = self.fields.get(name)
        return " ".join(value.split()) if isinstance(value, str) else ""

    def line(self, name: str) -> int:
        return self.lines.get(name, 1)


def split_head(text: str) -> Head:
    """`HeadError` where there is no head, or where it is no YAML even with its values quoted."""
    text = text.replace("\r\n", "\n")
    opening = _OPENING.match(text)
    if opening is None:
        raise HeadError("there is no frontmatter: the file must begin with a line ---", 1)
    first = text[: opening.end()].count("\n")
    closing = _CLOSING.search(text, opening.end())
    if closing is None:
        raise HeadError("the frontmatter has no end: a line --- is missing", first)
    head = text[opening.end() : closing.start()]
    if len(head) > LARGEST_HEAD:
        raise HeadError(f"the frontmatter is longer than {LARGEST_HEAD} characters", first)
    if head.count("[") + head.count("{") > MOST_BRACKETS:
        raise HeadError(f"the frontmatter has more than {MOST_BRACKETS} opening brackets", first)
    fields, lines, was_mended = _fields(head, first)
    body_line = text[: closing.end()].count("\n") + 2
    return Head(fields, lines, text[closing.end() :].strip(), body_line, was_mended)


def _fields(head: str, first: int) -> tuple[dict[str, Value], dict[str, int], bool]:
    try:
        return *_read(head, first), False
    except HeadError:
        # `description: Use when: …` is what people write, though YAML wants such a value quoted.
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
                # An alias of aliases unfolds without end, and a head has nothing to repeat.
                line = event.start_mark.line if event.start_mark else 0
                raise HeadError("aliases (*name) are not supported", first + 1 + line)
        # Only the tree is made, no objects: a head can call nothing.
        node = yaml.compose(head, Loader=yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise HeadError(f"not valid YAML: {error.problem}", first + 1 + (mark.line if mark else 0)) from error
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        raise HeadError(f"not valid YAML: {error}", first) from error
    if node is None:
        return {}, {}
    if not isinstance(node, yaml.MappingNode):
        raise HeadError("the frontmatter must be a list of fields, such as name: my-skill", first + 1)
    fields: dict[str, Value] = {}
    lines: dict[str, int] = {}
    for key, value in node.value:
        name, line = _scalar(key), first + 1 + key.start_mark.line
        if name in fields:
            raise HeadError(f"{name} stands there twice", line)
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
