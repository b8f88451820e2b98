"""What every tool must keep to, whoever wrote it: named, described, closed."""

import re
from typing import Any

from coder_tui.protocol.access import ToolKind
from coder_tui.tools.base import Audience, Params, Tool
from coder_tui.tools.descriptions import description_of

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,63}")
_TEXTS = ("name", "display_name", "permission")


def contract_problems(tool: Tool[Any]) -> tuple[str, ...]:
    """What keeps the tool from being used, each in a sentence; nothing where it may be."""
    missing = [name for name in _TEXTS if not isinstance(getattr(tool, name, None), str)]
    if missing:
        return (f"it has no {missing[0]}",)
    found = [] if _NAME.fullmatch(tool.name) else [f"{tool.name[:80]!r} is no name for a tool"]
    if not isinstance(getattr(tool, "kind", None), ToolKind):
        found.append(f"its kind is none of {', '.join(ToolKind)}")
    if not isinstance(tool.audience, Audience):
        found.append(f"its audience is none of {', '.join(Audience)}")
    return (*found, *_wrong_params(tool), *_wrong_description(tool))


def _wrong_params(tool: Tool[Any]) -> tuple[str, ...]:
    params = getattr(tool, "params", None)
    if not (isinstance(params, type) and issubclass(params, Params)):
        return ("its params are no subclass of Params",)
    found = [] if params.model_config.get("frozen") else ["its params are not frozen"]
    if params.model_json_schema().get("additionalProperties") is not False:
        found.append("its params take unknown keys")
    if tool.editable and tool.editable not in params.model_fields:
        found.append(f"its params have no {tool.editable}, which is to be editable")
    return tuple(found)


def _wrong_description(tool: Tool[Any]) -> tuple[str, ...]:
    try:
        text = description_of(tool)
    except OSError:
        return ("it has no description",)
    except (KeyError, ValueError) as error:
        return (f"its description has a place that is not filled: {error}",)
    if not text.strip():
        return ("its description is empty",)
    return ("its description has a place that is not filled",) if "${" in text else ()
