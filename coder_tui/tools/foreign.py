"""What tools that others bring have in common: a schema of their own, and a name that is nobody else's."""

import hashlib
import re
from collections.abc import Mapping
from typing import Any, ClassVar, Self

from pydantic import ConfigDict, GetJsonSchemaHandler, model_validator
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from coder_tui.tools.base import JsonObject, Params

LONGEST_NAME = 64
"""Characters that every provider takes."""
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
    """What was given as a schema is none; the sentence says why."""


class ForeignParams(Params):
    """Arguments as the tool's own schema wants them; fields are not known to us."""

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
    """A params model that shows this schema and holds calls to it; `SchemaError` where it is none."""
    checked = checked_schema(schema)

    class GivenParams(ForeignParams):
        schema_given: ClassVar[JsonObject] = checked

    return GivenParams


def checked_schema(schema: object) -> JsonObject:
    """As an object's schema, which is what providers take; nothing given means that nothing is wanted."""
    if schema is None:
        return {"type": "object", "properties": {}}
    if not isinstance(schema, Mapping):
        raise SchemaError(f"its schema is no object but {type(schema).__name__}")
    lowered: JsonObject = _checked(schema, 0)
    if lowered.setdefault("type", "object") != "object":
        raise SchemaError(f'its schema has the type {str(lowered["type"])[:40]!r}, not "object"')
    lowered.setdefault("properties", {})
    return lowered


def fitting_name(prefix: str, name: str) -> str:
    """A name that every provider takes; where that changed it, a hash keeps it apart from others."""
    fit = f"{prefix}{_UNFIT.sub('_', name)}"
    if fit == f"{prefix}{name}" and len(fit) <= LONGEST_NAME:
        return fit
    mark = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:_HASH]
    return f"{fit[: LONGEST_NAME - _HASH - 1]}_{mark}"


def _checked(node: Mapping[Any, Any], depth: int) -> JsonObject:
    """A schema with its types in small letters: some write `STRING`, `OBJECT`."""
    if depth > _DEEPEST:
        raise SchemaError("its schema is nested too deep")
    made = {str(key): value for key, value in node.items()}
    if "type" in made:
        made["type"] = _type(made["type"])
    if "properties" in made:
        made["properties"] = _properties(made["properties"], depth)
    if isinstance(made.get("items"), Mapping):
        made["items"] = _checked(made["items"], depth + 1)
    required = made.get("required", [])
    if not isinstance(required, list) or not all(isinstance(name, str) for name in required):
        raise SchemaError("its schema has a `required` that is no list of names")
    return made


def _type(value: object) -> str | list[str]:
    names = value if isinstance(value, list) else [value]
    if not names or not all(isinstance(name, str) and name.lower() in _TYPES for name in names):
        raise SchemaError(f"its schema has the type {str(value)[:40]!r}, which there is not")
    lowered = [str(name).lower() for name in names]
    return lowered if isinstance(value, list) else lowered[0]


def _properties(value: object, depth: int) -> JsonObject:
    if not isinstance(value, Mapping):
        raise SchemaError("its schema has `properties` that are no object")
    found: JsonObject = {}
    for name, each in value.items():
        if not isinstance(each, Mapping | bool):
            raise SchemaError(f"its schema says nothing usable of {str(name)[:40]!r}")
        found[str(name)] = _checked(each, depth + 1) if isinstance(each, Mapping) else each
    return found


def _complaints(schema: JsonObject, arguments: JsonObject) -> list[str]:
    """What is plainly wrong; the rest is for the tool's owner to say, who checks the call as well."""
    known: JsonObject = schema["properties"]
    found = [f"{name}: Field required" for name in schema.get("required", []) if name not in arguments]
    if schema.get("additionalProperties") is False:
        found += [f"{name}: there is no such argument" for name in arguments if name not in known]
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
