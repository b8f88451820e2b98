"""Tools that users write: what is loaded, and how each mistake is reported."""

from pathlib import Path

import pytest

from coder_tui.tools.contract import CustomFile, CustomToolError, add_custom, load_tools
from coder_tui.tools.registry import Origin, Registry, description_of
from tests.fakes.tools import LookTool

HEAD = "from coder_tui.tools.api import *\n\nclass P(Params):\n    text: str\n\n"
METHODS = """
    def summary(self, params): return params.text
    async def access(self, params, ctx): return None
    async def run(self, params, ctx): return ToolResult({"ok": True}, TextBlock("done"))
"""
GOOD = (
    f'{HEAD}class T(Tool[P]):\n    """Does it."""\n    name, kind, params = "mine", ToolKind.READ, P{METHODS}'
)


def file(text: str, origin: Origin = Origin.CUSTOM) -> CustomFile:
    return CustomFile(Path("/nowhere/mine.py"), text.encode(), "mine.py", origin)


def test_a_tool_gets_what_it_left_out() -> None:
    (tool,) = load_tools(file(GOOD))
    assert (tool.name, tool.display_name, tool.permission) == ("mine", "mine", "custom_mine")
    assert description_of(tool) == "Does it."


def test_a_projects_tool_does_not_choose_the_rules_it_is_under() -> None:
    claims = GOOD.replace("ToolKind.READ, P", 'ToolKind.READ, P\n    permission = "read"')
    own, projects = load_tools(file(claims)), load_tools(file(claims, Origin.PROJECT))
    assert (own[0].permission, projects[0].permission) == ("read", "custom_mine")
    registry = Registry()
    add_custom(registry, projects[0], Origin.PROJECT, "mine.py")
    assert registry.is_foreign("mine")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("x = (", "mine.py:1: SyntaxError: '(' was never closed"),
        ("x = 1\n\nraise ValueError('no')", "mine.py:3: ValueError: no"),
        ("import sys\nsys.exit(3)", "mine.py:2: SystemExit: 3"),
        ("x = 1", "mine.py: it defines no subclass of Tool"),
        (GOOD.replace('"mine"', '"my tool"'), "mine.py:6: 'my tool' is not a valid tool name"),
        (GOOD.replace("ToolKind.READ", '"read"'), "mine.py:6: its kind is not one of read, edit"),
        (GOOD.replace('    """Does it."""\n', ""), "mine.py:6: it has no description"),
        (GOOD.replace("class P(Params)", "class P"), "mine.py:6: its params are not a subclass of Params"),
        (
            GOOD.replace("    text: str", "    model_config = {'extra': 'allow'}"),
            "its params accept unknown keys",
        ),
        (GOOD.replace('name, kind, params = "mine", ', "kind, params = "), "it has no name"),
        (
            GOOD.replace("    def summary", "    def __init__(self): raise OSError('x')\n    def summary"),
            "OSError: x",
        ),
    ],
    ids=[
        *(
            "syntax",
            "raises",
            "exits",
            "empty",
            "name",
            "kind",
            "words",
            "params",
            "open",
            "nameless",
            "making",
        ),
    ],
)
def test_each_mistake_names_file_line_and_reason(text: str, problem: str) -> None:
    with pytest.raises(CustomToolError) as caught:
        load_tools(file(text))
    assert problem in str(caught.value)


@pytest.mark.parametrize("name", ["look", "ls", "run_shell_command", "mcp__x__y", "discovered_tool_x"])
def test_a_name_that_means_something_already_is_refused(name: str) -> None:
    registry = Registry([LookTool()])
    (tool,) = load_tools(file(GOOD.replace('"mine"', f'"{name}"')))
    with pytest.raises(CustomToolError, match=f"mine.py: the name {name} is taken"):
        add_custom(registry, tool, Origin.CUSTOM, "mine.py")
