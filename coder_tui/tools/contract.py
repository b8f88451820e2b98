"""Check that a tool is complete and well formed, and load tools that users write in Python."""

import ast
import hashlib
import inspect
import re
import sys
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import EntryPoint
from pathlib import Path
from types import ModuleType
from typing import Any

from coder_tui.policy.rules import CUSTOM, FOREIGN
from coder_tui.protocol.access import ToolKind
from coder_tui.text.safe_text import safe_line
from coder_tui.tools.aliases import TOOL_ALIASES
from coder_tui.tools.base import Audience, Params, Tool
from coder_tui.tools.registry import AnyTool, Origin, Registry, description_of

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,63}")
_TEXTS = ("name", "display_name", "permission")


def contract_problems(tool: Tool[Any]) -> tuple[str, ...]:
    """Return the problems that keep a tool from being used, one sentence each."""
    missing = [name for name in _TEXTS if not isinstance(getattr(tool, name, None), str)]
    if missing:
        return (f"it has no {missing[0]}",)
    found = [] if _NAME.fullmatch(tool.name) else [f"{tool.name[:80]!r} is not a valid tool name"]
    if not isinstance(getattr(tool, "kind", None), ToolKind):
        found.append(f"its kind is not one of {', '.join(ToolKind)}")
    if not isinstance(tool.audience, Audience):
        found.append(f"its audience is not one of {', '.join(Audience)}")
    return (*found, *_wrong_params(tool), *_wrong_description(tool))


def _wrong_params(tool: Tool[Any]) -> tuple[str, ...]:
    params = getattr(tool, "params", None)
    if not (isinstance(params, type) and issubclass(params, Params)):
        return ("its params are not a subclass of Params",)
    found = [] if params.model_config.get("frozen") else ["its params are not frozen"]
    if params.model_json_schema().get("additionalProperties") is not False:
        found.append("its params accept unknown keys")
    if tool.editable and tool.editable not in params.model_fields:
        found.append(f"its params have no {tool.editable}, which should be editable")
    return tuple(found)


def _wrong_description(tool: Tool[Any]) -> tuple[str, ...]:
    try:
        text = description_of(tool)
    except OSError:
        return ("it has no description",)
    except (KeyError, ValueError) as error:
        return (f"its description has an unknown placeholder: {error}",)
    if not text.strip():
        return ("its description is empty",)
    return ("its description has an unknown placeholder",) if "${" in text else ()


GROUP = "coder_tui.tools"
"""The entry points through which installed packages add tools."""
_MODULE = "coder_tui_custom_"


class CustomToolError(Exception):
    """A tool cannot be used; the message says why, and where."""


@dataclass(frozen=True, slots=True)
class CustomFile:
    """A Python file that was read once, so that what was trusted is what runs. `label` is its shown name."""

    path: Path
    data: bytes
    label: str
    origin: Origin


def load_tools(file: CustomFile) -> tuple[AnyTool, ...]:
    """Run the file and create each tool that it defines. Blocks for as long as the file runs."""
    module = _run(file)
    classes = [each for each in vars(module).values() if _is_tool(each, module.__name__)]
    if not classes:
        raise CustomToolError(f"{file.label}: it defines no subclass of Tool")
    named = [node for node in ast.walk(ast.parse(file.data)) if isinstance(node, ast.ClassDef)]
    lines = {node.name: node.lineno for node in named}
    return tuple(
        _create(each, f"{file.label}:{lines.get(each.__name__, 0)}", file.origin) for each in classes
    )


def load_entry_point(entry: EntryPoint) -> tuple[AnyTool, ...]:
    """Load the tool of an installed package. Blocks."""
    label = f"entry point {entry.name} ({entry.value})"
    try:
        found = entry.load()
    except (Exception, SystemExit) as error:
        # Whatever the module raises, it must not end the session.
        raise CustomToolError(f"{label}: {_describe(error)}") from error
    if not _is_tool(found, getattr(found, "__module__", "")):
        raise CustomToolError(f"{label}: it is not a subclass of Tool")
    return (_create(found, label, Origin.CUSTOM),)


def load_guarded(label: str, make: Callable[[], tuple[AnyTool, ...]]) -> tuple[AnyTool, ...]:
    """Turn every failure into a `CustomToolError`: it happens in a thread that nobody waits for."""
    try:
        return make()
    except CustomToolError:
        raise
    except (Exception, SystemExit) as error:
        raise CustomToolError(f"{label}: {_describe(error)}") from error


def add_custom(registry: Registry, tool: AnyTool, origin: Origin, label: str) -> None:
    """Register a tool unless its name is taken or is an alias."""
    if tool.name in registry.names or tool.name.lower() in TOOL_ALIASES or tool.name.startswith(FOREIGN):
        raise CustomToolError(f"{label}: the name {tool.name} is taken")
    registry.register(tool, origin=origin)


def _run(file: CustomFile) -> ModuleType:
    # Named after its content, so that another project's file does not replace it.
    module = ModuleType(_MODULE + hashlib.sha256(bytes(file.path) + file.data).hexdigest()[:16])
    module.__file__ = str(file.path)
    sys.modules[module.__name__] = module
    try:
        exec(compile(file.data, str(file.path), "exec"), module.__dict__)
    except SyntaxError as error:
        raise CustomToolError(f"{file.label}:{error.lineno or 0}: {_describe(error)}") from error
    except (Exception, SystemExit) as error:
        # Whatever the user's file raises, it must not end the session.
        raise CustomToolError(f"{_place(file, error)}: {_describe(error)}") from error
    return module


def _place(file: CustomFile, error: BaseException) -> str:
    own = [
        frame.lineno
        for frame in traceback.extract_tb(error.__traceback__)
        if frame.filename == str(file.path)
    ]
    return f"{file.label}:{own[-1]}" if own else file.label


def _describe(error: BaseException) -> str:
    return f"{type(error).__name__}: {safe_line(str(error))[:300]}".rstrip(": ")


def _is_tool(found: object, module: str) -> bool:
    return (
        isinstance(found, type)
        and issubclass(found, Tool)
        and found.__module__ == module
        and not inspect.isabstract(found)
    )


def _create(found: type[Tool[Any]], label: str, origin: Origin) -> AnyTool:
    name = getattr(found, "name", None)
    if not isinstance(name, str):
        raise CustomToolError(f"{label}: it has no name")
    found.display_name = getattr(found, "display_name", name)
    # A project's tool must not choose its own permission key, or it could fall under a rule for others.
    is_own = origin is not Origin.PROJECT
    found.permission = getattr(found, "permission", f"{CUSTOM}{name}") if is_own else f"{CUSTOM}{name}"
    if found.description is Tool.description and not _has_text(found, name):
        found.described = found.described or inspect.cleandoc(found.__doc__ or "")
    try:
        tool = found()
        problems = contract_problems(tool)
    except (Exception, SystemExit) as error:
        raise CustomToolError(f"{label}: {_describe(error)}") from error
    if problems:
        raise CustomToolError(f"{label}: {safe_line('; '.join(problems))}")
    return tool


def _has_text(found: type[Tool[Any]], name: str) -> bool:
    module = sys.modules[found.__module__]
    return Path(str(module.__file__)).with_name(f"{name}.txt").is_file()
