"""Write docs/reference/ from the code: `uv run python -m bench.reference`.

The sentences that the code does not have are in bench/reference.toml.
"""

import argparse
import ast
import inspect
import json
import re
import tomllib
import typing
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import Any

from coder_tui.cli.arguments import COMMANDS, USAGE_EXIT, Parser, session_parser
from coder_tui.cli.completion import parser_of
from coder_tui.commands.builtin import builtin_commands
from coder_tui.config.project import is_never_used
from coder_tui.config.settings import Settings
from coder_tui.headless import SCHEMA_VERSION, ExitCode, RunResult
from coder_tui.protocol import events
from coder_tui.tools.registry import definition_of
from coder_tui.ui.keys import KEYS, RESERVED, Context, shown
from tests.architecture.test_tool_contract import tools

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "docs/reference"
RENEW = "uv run python -m bench.reference"
SENTENCES = tomllib.loads((ROOT / "bench/reference.toml").read_text(encoding="utf-8"))
EVENTS: tuple[type, ...] = (*typing.get_args(events.Event), events.SubagentStarted, events.SubagentFinished)
Schema = Mapping[str, Any]


def pages() -> dict[str, str]:
    """Return the text of every page by its file name."""
    bodies = {
        "settings": settings(),
        "keys": keys(),
        "slash-commands": table(
            ("command", "what it does"),
            ((code(f"/{each.name} {each.argument}".strip()), each.summary) for each in builtin_commands()),
        ),
        "tools": table(("tool", "kind", "parameters"), map(tool_row, tools(ROOT))),
        "command-line": command_line(),
        "stream-json": stream_json(),
        "exit-codes": exit_codes(),
        "modules": modules(),
    }
    note = f"<!-- Written by `{RENEW}` from the code and bench/reference.toml. -->"
    reserved = ", ".join(code(shown(key)) for key in sorted(RESERVED))
    intros = {**SENTENCES["intro"], "keys": SENTENCES["intro"]["keys"].replace("RESERVED", reserved)}
    found = {name: [note, intros[name], *body] for name, body in bodies.items()}
    return {f"{name}.md": "\n".join(lines).rstrip() + "\n" for name, lines in found.items()}


def table(heads: Iterable[str], rows: Iterable[Iterable[str]]) -> list[str]:
    heads = list(heads)
    cells = [[cell.replace("|", "\\|").replace("\n", " ") for cell in row] for row in rows]
    return [f"| {' | '.join(row)} |" for row in (heads, ["---"] * len(heads), *cells)] + [""]


def code(text: str) -> str:
    return f"`{text}`" if text else ""


def resolved(schema: Schema, shapes: Schema) -> Schema:
    reference = schema.get("$ref", "").rsplit("/", 1)[-1]
    return {**shapes[reference], **schema} if reference else schema


@cache
def setting_schemas() -> dict[str, Schema]:
    """Return the schema of each setting by its dotted key."""
    schema = Settings.model_json_schema()
    return dict(_settings_in("", schema, schema["$defs"]))


def _settings_in(path: str, schema: Schema, shapes: Schema) -> Iterator[tuple[str, Schema]]:
    schema = resolved(schema, shapes)
    items = schema.get("additionalProperties") or schema.get("items")
    inner = resolved(items, shapes) if isinstance(items, dict) else {}
    if path == "permission":
        yield "permission.NAME", {"anyOf": [{"type": "string"}, {"type": "object"}]}
    elif "properties" in schema:
        for name, value in schema["properties"].items():
            key = "EVENT" if path == "hooks" else name
            yield from _settings_in(f"{path}.{key}".strip("."), value, shapes)
    elif "properties" in inner:
        if path == "hooks.EVENT":
            yield path, schema
        yield from _settings_in(f"{path}.NAME" if path in ("lsp", "mcp") else path, inner, shapes)
    else:
        yield path, schema


def setting_kind(schema: Schema) -> str:
    """Describe the values that a setting takes: `whole number, at least 1`."""
    if options := schema.get("enum", [schema["const"]] if "const" in schema else []):
        return ", ".join(code(json.dumps(option)) for option in options)
    if options := schema.get("anyOf"):
        return " or ".join(setting_kind(option) for option in options if option.get("type") != "null")
    names = {"string": "text", "array": "list", "object": "table", "integer": "whole number"}
    limits = {"minimum": "at least", "exclusiveMinimum": "more than", "maximum": "at most"}
    bounds = [f"{words} {schema[name]:g}" for name, words in limits.items() if name in schema]
    return ", ".join([str(names.get(schema["type"], schema["type"])), *bounds])


def settings() -> Iterator[str]:
    for section, found in groupby(setting_schemas().items(), lambda item: item[0].split(".")[0]):
        yield from (f"## `[{section}]`", "")
        yield from table(
            ("key", "type", "default", "meaning", "example"), (setting_row(*item) for item in found)
        )


def setting_row(key: str, schema: Schema) -> tuple[str, ...]:
    words = SENTENCES["settings"][key]
    yours = " *Yours only.*" if is_never_used(tuple(key.split("."))) else ""
    default = schema.get("default")
    written = "" if default is None else code(json.dumps(default, ensure_ascii=False))
    return code(key), setting_kind(schema), written, words["about"] + yours, code(words["example"])


def keys() -> Iterator[str]:
    for context in Context:
        yield from (f"## {context.value}", "")
        yield from table(
            ("key", "what it does", "id"),
            (
                (code(shown(row.keys)) or "in the palette", row.title, code(row.id))
                for row in KEYS
                if row.context is context and row.in_help
            ),
        )


def tool_row(tool: Any) -> tuple[str, ...]:
    schema: Schema = typing.cast(Any, definition_of(tool))["function"]["parameters"]
    required = schema.get("required", ())
    found = []
    for name, value in schema["properties"].items():
        default = value.get("default")
        equals = f" = {json.dumps(default)}" if default not in (None, "") else ""
        text = f"{code(name + equals)} {parameter_kind(value, schema.get('$defs', {}))}"
        found.append(text if name in required else f"*{text}*")
    return code(tool.name), str(tool.kind), ", ".join(found) or "none"


def parameter_kind(schema: Schema, shapes: Schema) -> str:
    schema = resolved(schema, shapes)
    if options := schema.get("anyOf"):
        return " or ".join(parameter_kind(each, shapes) for each in options if each.get("type") != "null")
    if options := schema.get("enum"):
        return "/".join(map(str, options))
    if schema.get("type") == "array":
        return f"list of {parameter_kind(schema.get('items', {}), shapes)}"
    if properties := schema.get("properties"):
        return f"({', '.join(properties)})"
    return str(schema.get("type", "any"))


def command_line() -> Iterator[str]:
    yield from describe_command("##", "coder-tui", session_parser())
    for name in COMMANDS:
        yield from describe_command("##", f"coder-tui {name}", parser_of(name))


def describe_command(level: str, name: str, parser: Parser, about: str = "") -> Iterator[str]:
    """Describe one command. argparse's own text would not do: it differs between versions of Python."""
    given = parser.positionals()
    words = [f"[{value_of(each)}]" if each.nargs in ("?", "*") else value_of(each) for each in given]
    about = about or parser.description or ""
    yield from (
        f"{level} `{' '.join([name, *words])}`",
        "",
        f"{about[:1].upper()}{about[1:].rstrip('.')}.",
        "",
    )
    rows = [(code(value_of(each)), each.help) for each in given if each.help]
    rows += [
        (", ".join(code(f"{flag} {value_of(each)}".strip()) for flag in each.option_strings), each.help or "")
        for each in parser.flags()
        if each.help != argparse.SUPPRESS and each.dest not in ("help", "version")
    ]
    yield from table(("argument", "meaning"), rows) if rows else ()
    for action, (child, summary) in parser.sub_parsers().items():
        yield from describe_command("###", f"{name} {action}", child, summary)


def value_of(action: argparse.Action) -> str:
    if action.nargs == 0:
        return ""
    return "|".join(map(str, action.choices)) if action.choices else str(action.metavar or action.dest)


def event_name(event: type) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", "_", event.__name__).lower()


def stream_json() -> Iterator[str]:
    first = {"type": "schema", "schema_version": SCHEMA_VERSION}
    yield from ("```json", json.dumps(first), "```", "", "## The result", "")
    yield from table(("field", "type"), [*fields_of(RunResult), (code("exit_code"), code("int"))])
    yield from ("## The events", "")
    yield from table(("type", "fields", "meaning"), map(event_row, EVENTS))
    yield from ("## The shapes inside", "")
    yield from table(("name", "fields or values"), shapes_inside((RunResult, *EVENTS)))


def shapes_inside(kinds: Iterable[type]) -> list[tuple[str, str]]:
    """Describe every type of ours that the fields of `kinds` name, and those that these name."""
    found: dict[str, str] = {}
    waiting = list(kinds)
    for kind in waiting:
        members = typing.get_args(kind) or typing.get_type_hints(kind).values()
        for each in filter(None, map(_named, _flat(members))):
            if each.__name__ not in found and each not in EVENTS:
                found[each.__name__] = _shape(each)
                waiting.append(each)
    return [(code(name), shape) for name, shape in sorted(found.items())]


def _flat(kinds: Iterable[Any]) -> Iterator[Any]:
    for kind in kinds:
        yield kind
        yield from _flat(typing.get_args(kind))


def _named(kind: Any) -> type | None:
    is_ours = isinstance(kind, type) and kind.__module__.startswith("coder_tui.")
    return kind if is_ours and (issubclass(kind, Enum) or is_dataclass(kind)) else None


def _shape(kind: type) -> str:
    if issubclass(kind, Enum):
        return ", ".join(code(json.dumps(each.value)) for each in kind)
    return ", ".join(f"{name} {field}" for name, field in fields_of(kind))


def event_row(event: type) -> tuple[str, ...]:
    name = event_name(event)
    return (
        code(name),
        ", ".join(f"{field} {kind}" for field, kind in fields_of(event)),
        SENTENCES["events"][name],
    )


def fields_of(kind: type) -> list[tuple[str, str]]:
    annotations = {
        node.target.id: ast.unparse(node.annotation).strip("'")
        for node in ast.walk(ast.parse(inspect.getsource(kind)))
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)
    }
    return [(code(each.name), code(annotations[each.name])) for each in fields(kind) if each.name[0] != "_"]


def exit_codes() -> list[str]:
    numbers = sorted({*map(int, ExitCode), USAGE_EXIT})
    return table(
        ("code", "meaning"), ((code(str(each)), SENTENCES["exit_codes"][str(each)]) for each in numbers)
    )


def modules() -> Iterator[str]:
    """List every module with its docstring and its public names."""
    code_files = (ROOT / "coder_tui").rglob("*.py")
    paths = sorted(
        path for path in code_files if "sample_project" not in path.parts and path.stem != "__init__"
    )
    for folder, files in groupby(
        sorted(paths, key=lambda path: (path.parent, path)), lambda path: path.parent
    ):
        yield f"\n## {folder.relative_to(ROOT)}/\n"
        for path in files:
            tree = ast.parse(path.read_text(encoding="utf-8"))
            about = " ".join((ast.get_docstring(tree) or "").split())
            names = ", ".join(code(name) for name in public_names(tree))
            yield f"- {code(path.name)}: {about}" + (f"\n  - defines {names}" if names else "")


def public_names(tree: ast.Module) -> Iterator[str]:
    """Yield the classes, functions and constants that a module defines for others."""
    for node in tree.body:
        match node:
            case ast.ClassDef(name=name) | ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                found = [name]
            case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
                found = [name]
            case _:
                found = []
        yield from (name for name in found if not name.startswith("_"))


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    for name, text in pages().items():
        (FOLDER / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
