"""Loads a tool's description, the `<name>.txt` beside its module."""

import sys
from functools import cache
from pathlib import Path
from string import Template
from typing import Any

from coder_tui.tools.base import Tool


def description_of(tool: Tool[Any]) -> str:
    """The text with its `${…}` places filled; a place without a value is a bug and raises KeyError."""
    if (text := tool.description()) is not None:
        return text
    module = sys.modules[type(tool).__module__]
    path = Path(str(module.__file__)).with_name(f"{tool.name}.txt")
    return _template(path).substitute(tool.variables())


@cache
def _template(path: Path) -> Template:
    """Read once: every agent that is started asks for it."""
    return Template(path.read_text(encoding="utf-8").strip())
