"""Reads a command that people keep in a file: Markdown as Claude and opencode, TOML as Gemini."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from coder_tui.config.settings_file import parse_settings
from coder_tui.protocol.errors import ConfigError
from coder_tui.skills.frontmatter import Head, HeadError, split_head

MARKDOWN, TOML = ".md", ".toml"
MOST_CHARACTERS = 100_000
MOST_DESCRIPTION = 200
_NAME = re.compile(r"[a-z][\w-]*(?::[\w-]+)*")
# `[number] [priority]` is what everybody writes, though YAML wants it quoted.
_HINT = re.compile(r"^(argument-hint:[ \t]*)(\[.*\S)[ \t]*$", re.MULTILINE)
_TRUE = ("true", "yes", "on")


class Dialect(StrEnum):
    """How a body writes its places: `$1` and !`…`, or `{{args}}` and `!{…}`."""

    MARKDOWN = "markdown"
    TOML = "toml"


class CommandFileError(Exception):
    """A file has no command that could be used; the sentence names it and says why."""


@dataclass(frozen=True, slots=True)
class CommandFile:
    """`label` is how the file is shown. An empty `allowed_tools` allows what is allowed anyway."""

    name: str
    body: str
    dialect: Dialect
    label: str
    description: str = ""
    argument_hint: str = ""
    allowed_tools: tuple[str, ...] = ()
    model: str = ""
    agent: str = ""
    is_subtask: bool = False
    is_own: bool = True
    """False: a project's."""


def is_command_file(name: str) -> bool:
    return name.endswith((MARKDOWN, TOML))


def read_command(inner: str, data: bytes, label: str, *, is_own: bool) -> CommandFile:
    """`inner` is the file's name below the folder of commands: folders become `a:b`."""
    stem, _, ending = inner.rpartition(".")
    name = stem.replace("/", ":").lower()
    if not _NAME.fullmatch(name):
        raise CommandFileError(f"{label}: {name!r} is no name for a command; not used")
    is_toml = f".{ending}" == TOML
    fields, body = _toml(data, label) if is_toml else _markdown(data, label)
    if not body.strip():
        raise CommandFileError(f"{label}: the command has no prompt; not used")
    if len(body) > MOST_CHARACTERS:
        raise CommandFileError(f"{label}: its prompt is longer than {MOST_CHARACTERS} characters; not used")
    return CommandFile(
        name,
        body.strip(),
        Dialect.TOML if is_toml else Dialect.MARKDOWN,
        label,
        (_text(fields, "description") or _first_line(body))[:MOST_DESCRIPTION],
        _text(fields, "argument-hint", "argument_hint")[:MOST_DESCRIPTION],
        _names(fields, "allowed-tools", "allowed_tools"),
        _text(fields, "model"),
        _text(fields, "agent"),
        _text(fields, "subtask").casefold() in _TRUE,
        is_own,
    )


def _markdown(data: bytes, label: str) -> tuple[Mapping[str, object], str]:
    try:
        text = _HINT.sub(
            lambda hint: hint[1] + json.dumps(hint[2], ensure_ascii=False), data.decode("utf-8-sig")
        )
        # Most have no head at all: then everything is the prompt.
        head = split_head(text) if text.lstrip().startswith("---") else Head(body=text)
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise CommandFileError(f"{label}:{line}: not UTF-8 text; not used") from error
    except HeadError as error:
        raise CommandFileError(f"{label}:{error.line}: {error}; not used") from error
    return head.fields, head.body


def _toml(data: bytes, label: str) -> tuple[Mapping[str, object], str]:
    try:
        values = parse_settings(Path(label), data).values
    except ConfigError as error:
        raise CommandFileError(f"{error}; not used") from error
    prompt = values.get("prompt")
    return values, prompt if isinstance(prompt, str) else ""


def _text(fields: Mapping[str, object], *names: str) -> str:
    for name in names:
        match fields.get(name):
            case str() as value:
                return " ".join(value.split())
            case bool() as value:
                return str(value)
            case _:
                continue
    return ""


def _names(fields: Mapping[str, object], *names: str) -> tuple[str, ...]:
    for name in names:
        match fields.get(name):
            case str() as value if value.strip():
                return (value,)
            case tuple() | list() as values:
                return tuple(map(str, values))
            case _:
                continue
    return ()


def _first_line(text: str) -> str:
    return next((line.strip("# \t") for line in text.splitlines() if line.strip()), "")
