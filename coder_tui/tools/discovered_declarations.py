"""Reads what a discovering command printed: function declarations, in any of the forms that are about."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from coder_tui.text.safe_text import safe_line, safe_text
from coder_tui.tools.foreign import ForeignParams, SchemaError, fitting_name, foreign_params

PREFIX = "discovered_tool_"
MOST_TOOLS = 100
LONGEST_DESCRIPTION = 4_000
_WRAPPERS = ("function_declarations", "functionDeclarations")
_SCHEMAS = ("parametersJsonSchema", "parameters", "inputSchema", "input_schema")


@dataclass(frozen=True, slots=True)
class Declaration:
    """`own_name` is what the calling command is told; `name` is what models and rules call it."""

    name: str
    own_name: str
    description: str
    params: type[ForeignParams]


@dataclass(frozen=True, slots=True)
class Declared:
    """`problems` are sentences on what could not be used."""

    declarations: tuple[Declaration, ...] = ()
    problems: tuple[str, ...] = ()


def read_declarations(text: str) -> Declared:
    """Never raises: what cannot be used is told, and the rest is used."""
    try:
        given = json.loads(text)
    except (ValueError, RecursionError) as error:
        return Declared(problems=(f"it printed no JSON ({str(error)[:100]})",))
    if not isinstance(given, list | Mapping):
        return Declared(problems=("it printed no list of tools",))
    found: dict[str, Declaration] = {}
    problems: list[str] = []
    for place, each in enumerate(_unwrapped(given), 1):
        try:
            declaration = _declaration(each)
        except SchemaError as error:
            problems.append(f"tool {place}: {error}")
            continue
        if declaration.name in found:
            problems.append(f"tool {place}: the name {safe_line(declaration.own_name)} is taken")
        elif len(found) == MOST_TOOLS:
            problems.append(f"there are more than {MOST_TOOLS} tools; the rest is left out")
            break
        else:
            found[declaration.name] = declaration
    return Declared(tuple(found.values()), tuple(problems))


def _unwrapped(given: object) -> Iterator[object]:
    if isinstance(given, Mapping) and (key := next((key for key in _WRAPPERS if key in given), "")):
        inner = given[key]
        yield from inner if isinstance(inner, list) else (inner,)
    elif isinstance(given, Mapping) and isinstance(given.get("function"), Mapping):
        yield given["function"]
    elif isinstance(given, list):
        for each in given:
            # Not a list within a list: that is no declaration, and is said to be none.
            yield from _unwrapped(each) if isinstance(each, Mapping) else (each,)
    else:
        yield given


def _declaration(given: object) -> Declaration:
    if not isinstance(given, Mapping):
        raise SchemaError("it is no declaration")
    name = given.get("name")
    if not isinstance(name, str) or not name.strip() or "\0" in name:
        raise SchemaError("it has no name")
    try:
        params = foreign_params(next((given[key] for key in _SCHEMAS if given.get(key) is not None), None))
    except SchemaError as error:
        raise SchemaError(f"{safe_line(name)[:60]}: {error}") from error
    description = given.get("description")
    told = safe_text(description)[:LONGEST_DESCRIPTION] if isinstance(description, str) else ""
    return Declaration(fitting_name(PREFIX, name), name, told or f"The tool {name}.", params)
