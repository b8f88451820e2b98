import pytest

from coder_tui.llm.traits import traits_of
from coder_tui.protocol.access import ToolKind
from coder_tui.protocol.display import TextBlock
from coder_tui.protocol.errors import ErrorType, ToolError
from coder_tui.tools.aliases import canonical_arguments
from coder_tui.tools.base import Access, Audience, Params, Tool, ToolContext, ToolResult
from coder_tui.tools.registry import Origin, Registry


class Nothing(Params):
    pass


def tool(name_: str) -> Tool[Nothing]:
    class Named(Tool[Nothing]):
        name = name_
        kind = ToolKind.OTHER
        display_name = name_
        params = Nothing
        permission = name_

        def summary(self, params: Nothing) -> str:
            return ""

        async def access(self, params: Nothing, ctx: ToolContext) -> Access | None:
            return None

        async def run(self, params: Nothing, ctx: ToolContext) -> ToolResult:
            return ToolResult({"ok": True}, TextBlock(""))

    return Named()


def names(registry: Registry, model: str, audience: Audience = Audience.MAIN) -> list[str]:
    return [found.name for found in registry.offered(traits_of(model), audience)]


def test_a_clash_of_names_is_an_error() -> None:
    with pytest.raises(ValueError, match="'read' is registered already"):
        Registry([tool("read"), tool("read")])


def test_an_unknown_tool_names_the_nearest() -> None:
    with pytest.raises(ToolError, match=r"^unknown tool: raed$") as caught:
        Registry([tool("read"), tool("bash")]).get("raed")
    assert caught.value.type is ErrorType.UNKNOWN_TOOL
    assert "read" in caught.value.hint


def test_a_typo_is_nearer_than_a_longer_name_that_contains_it() -> None:
    many = Registry([tool(name) for name in ("create_file", "read", "read_around", "read_many", "bash")])
    with pytest.raises(ToolError) as slip:
        many.get("rea")
    assert slip.value.hint.startswith("The nearest are: read, ")
    with pytest.raises(ToolError) as part:
        Registry([tool("bash"), tool("glob"), tool("discovered_tool_hello")]).get("hello")
    assert part.value.hint.startswith("The nearest are: discovered_tool_hello, ")


@pytest.mark.parametrize("name", ["", "__class__", "a" * 10_000])
def test_strange_names_are_unknown(name: str) -> None:
    with pytest.raises(ToolError, match="unknown tool"):
        Registry([tool("read")]).get(name)


def test_aliases_lead_to_the_canonical_tool() -> None:
    registry = Registry([tool("read"), tool("bash"), tool("todowrite")])
    found = [registry.get(name).name for name in ("read_file", "run_shell_command", "write_todos", "Read")]
    assert found == ["read", "bash", "todowrite", "read"]


def test_parameter_aliases_are_renamed_where_the_tool_has_the_field() -> None:
    assert canonical_arguments({"file_path": "a", "limit": 1}, frozenset({"path", "limit"})) == {
        "path": "a",
        "limit": 1,
    }
    both = {"path": "a", "file_path": "b"}
    assert canonical_arguments(both, frozenset({"path"})) == both


def test_audiences_have_their_own_words() -> None:
    registry = Registry()
    registry.register(tool("task"), Audience.MAIN)
    registry.register(tool("task_finish"), Audience.SUB)
    with pytest.raises(ToolError, match=r"^Tool 'task' is not available for Sub-Agents\.$"):
        registry.get("task", Audience.SUB)
    with pytest.raises(ToolError, match=r"^Tool 'task_finish' is only available for Sub-Agents\.$"):
        registry.get("task_finish")
    assert names(registry, "x") == ["task"]
    assert names(registry, "x", Audience.SUB) == ["task_finish"]


def test_gpt_models_patch_and_all_others_edit() -> None:
    registry = Registry([tool(name) for name in ("read", "write", "edit", "patch", "apply_patch")])
    assert names(registry, "openai/gpt-5") == ["read", "apply_patch"]
    for model in ("openai/gpt-4o", "groq/openai/gpt-oss-120b", "anthropic/claude-x"):
        assert names(registry, model) == ["read", "write", "edit", "patch"]


def test_a_model_that_patches_still_edits_where_there_is_no_patch_tool() -> None:
    assert names(Registry([tool("edit")]), "openai/gpt-5") == ["edit"]


def test_flagged_tools_need_their_flag() -> None:
    flagged = [tool(name) for name in ("websearch", "batch", "plan_exit")]
    assert names(Registry(flagged), "x") == []
    assert names(Registry(flagged, frozenset({"websearch", "plan_mode"})), "x") == ["websearch", "plan_exit"]


def test_listings_go_by_origin_then_server() -> None:
    registry = Registry()
    registry.register(tool("mcp__b__x"), origin=Origin.MCP, server="b")
    registry.register(tool("mcp__a__x"), origin=Origin.MCP, server="a")
    registry.register(tool("found"), origin=Origin.DISCOVERED)
    registry.register(tool("read"))
    assert [entry.tool.name for entry in registry.entries()] == ["read", "found", "mcp__a__x", "mcp__b__x"]
    assert [found.name for found in registry.by_server("a")] == ["mcp__a__x"]
