"""What foreign tools (MCP and discovered) share: their own schema, and a unique valid name."""

import hashlib
import re
from collections.abc import Mapping
from typing import Any, ClassVar, Self

from pydantic import ConfigDict, GetJsonSchemaHandler, model_validator
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from coder_tui.tools.base import JsonObject, Params

LONGEST_NAME = 64
"""The length in characters that every provider accepts."""
MOST_COMPLAINTS = 5
_HASH = 8
_DEEPEST = 64
_UNFIT = re.compile(r"[^A-Za-z0-9_-]")
_TYPES: Mapping[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "number": (int, float),
    "integer": (int,),
    "boolean": (bool,),
    "null": (type(None),),
}


class SchemaError(Exception):
    """The given schema is not one; the message says why."""


class ForeignParams(Params):
    """Arguments that follow the tool's own schema; we do not know their fields."""

    model_config = ConfigDict(extra="allow", frozen=True)
    schema_given: ClassVar[JsonObject] = {"type": "object", "properties": {}}

    @property
    def arguments(self) -> JsonObject:
        return dict(self.model_extra or {})

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if complaints := _complaints(self.schema_given, self.arguments):
            raise ValueError("\n".join(complaints))
        return self

    @classmethod
    def __get_pydantic_json_schema__(
        cls, core_schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        return dict(cls.schema_given)


def foreign_params(schema: object) -> type[ForeignParams]:
    """Return a params model with this schema that checks calls; raise `SchemaError` if it is invalid."""
    checked = checked_schema(schema)

    class GivenParams(ForeignParams):
        schema_given: ClassVar[JsonObject] = checked

    return GivenParams


def checked_schema(schema: object) -> JsonObject:
    """Return the schema of an object, as providers expect; None means no arguments."""
    if schema is None:
        return {"type": "object", "properties": {}}
    if not isinstance(schema, Mapping):
        raise SchemaError(f"its schema is not an object but {type(schema).__name__}")
    lowered: JsonObject = _checked(schema, 0)
    if lowered.setdefault("type", "object") != "object":
        raise SchemaError(f'its schema has the type {str(lowered["type"])[:40]!r}, not "object"')
    lowered.setdefault("properties", {})
    return lowered


def valid_name(prefix: str, name: str) -> str:
    """Return a name that every provider accepts; a hash keeps it unique if it had to change."""
    fit = f"{prefix}{_UNFIT.sub('_', name)}"
    if fit == f"{prefix}{name}" and len(fit) <= LONGEST_NAME:
        return fit
    mark = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:_HASH]
    return f"{fit[: LONGEST_NAME - _HASH - 1]}_{mark}"


def _checked(node: Mapping[Any, Any], depth: int) -> JsonObject:
    """Return the schema with types in lower case: some write `STRING`, `OBJECT`."""
    if depth > _DEEPEST:
        raise SchemaError("its schema is nested too deeply")
    made = {str(key): value for key, value in node.items()}
    if "type" in made:
        made["type"] = _type(made["type"])
    if "properties" in made:
        made["properties"] = _properties(made["properties"], depth)
    if isinstance(made.get("items"), Mapping):
        made["items"] = _checked(made["items"], depth + 1)
    required = made.get("required", [])
    if not isinstance(required, list) or not all(isinstance(name, str) for name in required):
        raise SchemaError("its schema has a `required` that is not a list of names")
    return made


def _type(value: object) -> str | list[str]:
    names = value if isinstance(value, list) else [value]
    if not names or not all(isinstance(name, str) and name.lower() in _TYPES for name in names):
        raise SchemaError(f"its schema has the type {str(value)[:40]!r}, which does not exist")
    lowered = [str(name).lower() for name in names]
    return lowered if isinstance(value, list) else lowered[0]


def _properties(value: object, depth: int) -> JsonObject:
    if not isinstance(value, Mapping):
        raise SchemaError("its schema has `properties` that are not an object")
    found: JsonObject = {}
    for name, each in value.items():
        if not isinstance(each, Mapping | bool):
            raise SchemaError(f"its schema has an invalid property {str(name)[:40]!r}")
        found[str(name)] = _checked(each, depth + 1) if isinstance(each, Mapping) else each
    return found


def _complaints(schema: JsonObject, arguments: JsonObject) -> list[str]:
    """Return what is clearly wrong; the tool's owner checks the rest."""
    known: JsonObject = schema["properties"]
    found = [f"{name}: Field required" for name in schema.get("required", []) if name not in arguments]
    if schema.get("additionalProperties") is False:
        found += [f"{name}: no such argument" for name in arguments if name not in known]
    for name, value in arguments.items():
        wanted = known.get(name)
        if isinstance(wanted, Mapping) and not _fits_type(value, wanted.get("type")):
            found.append(f"{name}: must be of type {wanted['type']}")
        elif isinstance(wanted, Mapping) and value not in _choices(wanted, value):
            found.append(f"{name}: must be one of {str(wanted['enum'])[:200]}")
    return found[:MOST_COMPLAINTS]


def _choices(wanted: Mapping[str, object], value: object) -> list[object]:
    given = wanted.get("enum")
    return given if isinstance(given, list) else [value]


def _fits_type(value: object, wanted: str | list[str] | None) -> bool:
    if wanted is None:
        return True
    names = wanted if isinstance(wanted, list) else [wanted]
    if isinstance(value, bool):
        return "boolean" in names
    if isinstance(value, float) and value.is_integer() and "integer" in names:
        return True
    return any(isinstance(value, _TYPES[name]) for name in names)
