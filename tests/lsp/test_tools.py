"""What a model gets from the tools that ask language servers, with a server and without."""

import contextlib
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from coder_tui.agent.calls.results import failure_json
from coder_tui.lsp.servers import Catalog
from coder_tui.protocol.errors import ToolError
from coder_tui.tools.aliases import canonical_name
from coder_tui.tools.base import ToolContext
from coder_tui.tools.catalog import language_tools
from coder_tui.workspace.files.confine import Workspace
from tests.fakes.lsp_inside import hosted_inside
from tests.fakes.lsp_pools import faked, only, pool_in

__all__ = ["hosted_inside"]
pytestmark = pytest.mark.usefixtures("hosted_inside")
JsonObject = dict[str, Any]
HINT = (
    "bash-language-server not installed, run: npm i -g bash-language-server && apt install shellcheck. "
    "Without a server: {}."
)


class Bench:
    def __init__(self, root: Path, catalog: Catalog, path: str | None) -> None:
        self.root = root
        self.pool = pool_in(root, catalog, path=path)
        self._tools = {tool.name: tool for tool in language_tools(Workspace(root), self.pool)}

    async def call(self, tool: str, **arguments: object) -> JsonObject:
        made = self._tools[tool]
        params = made.params.model_validate(arguments)
        context = ToolContext("s", "c", self.root)
        try:
            await made.access(params, context)
            return (await made.run(params, context)).for_model
        except ToolError as error:
            return failure_json(error)


@contextlib.asynccontextmanager
async def bench_in(tmp_path: Path, catalog: Catalog, path: str | None = None) -> AsyncIterator[Bench]:
    bench = Bench(tmp_path / "w", catalog, path)
    try:
        yield bench
    finally:
        await bench.pool.close()


@pytest.fixture(autouse=True)
def files(tmp_path: Path) -> None:
    root = tmp_path / "w"
    root.mkdir()
    (root / "a.py").write_text("first = 1\nx = first  # bad\n")
    (root / "a.sh").write_text("echo $x\n")
    (root / "a.xyz").write_text("what\n")


async def test_with_a_server_every_tool_answers(tmp_path: Path) -> None:
    uri = (tmp_path / "w" / "a.py").as_uri()
    start = {"line": 0, "character": 0}
    async with bench_in(tmp_path, faked()) as b:
        assert await b.call("lsp_diagnostics", path="a.py") == {
            "ok": True,
            "path": "a.py",
            "diagnostics": [
                {
                    "severity": "error",
                    "line": 1,
                    "character": 13,
                    "message": "bad word",
                    "code": "W",
                    "source": "fake",
                }
            ],
            "count": 1,
            "server_status": "fresh",
        }
        place = {"line": 1, "character": 4}
        assert await b.call("lsp_definition", path="a.py", **place) == {
            "ok": True,
            "location": {
                "uri": uri,
                "range": {"start": place, "end": place},
                "path": "a.py",
                "text": "x = first  # bad",
            },
            "asked_line": "x = first  # bad",
            "server_status": "fresh",
        }
        # A symbol in place of a position: the first that stands there as a whole word.
        named = await b.call("lsp_definition", path="a.py", symbol="first")
        assert named["location"]["range"]["start"] == start
        on_line = await b.call("lsp_definition", path="a.py", symbol="mod.first", line=1)
        assert on_line["location"]["range"]["start"] == place
        assert await b.call("lsp_hover", path="a.py", symbol="x") == {
            "ok": True,
            "contents": "```python\nx: int\n```\n\nA word.",
            "asked_line": "x = first  # bad",
            "server_status": "fresh",
        }


async def test_with_a_server_uses_and_symbols_are_found(tmp_path: Path) -> None:
    start = {"line": 0, "character": 0}
    async with bench_in(tmp_path, faked()) as b:
        references = await b.call("lsp_references", path="a.py", line=0, character=0)
        assert [place["path"] for place in references["locations"]] == ["a.py", "/etc/hostname"]
        symbols = await b.call("lsp_symbols", path="a.py", query="INN")
        assert symbols["symbols"] == [
            {"name": "inner", "kind": "function", "container": "Outer", "path": "a.py", **start}
        ]
        named = await b.call("lsp_symbols", query="thing")
        assert (named["count"], named["symbols"][0]["name"]) == (1, "thing")


@pytest.mark.parametrize(
    ("tool", "fallback"),
    [
        ("lsp_diagnostics", "run the project's own checks with bash, or grep"),
        ("lsp_definition", "grep the symbol"),
        ("lsp_hover", "read the source"),
        ("lsp_references", "grep the symbol"),
        ("lsp_symbols", "outline, or grep the symbol"),
    ],
)
async def test_without_a_server_every_tool_has_the_hint_and_the_fallback(
    tmp_path: Path, tool: str, fallback: str
) -> None:
    place = {} if tool in {"lsp_diagnostics", "lsp_symbols"} else {"line": 0, "character": 0}
    async with bench_in(tmp_path, only("bash-language-server"), path="") as b:
        assert await b.call(tool, path="a.sh", **place) == {
            "ok": False,
            "error": {
                "type": "not_installed",
                "message": "There is no language server for a.sh.",
                "hint": HINT.format(fallback),
            },
            "server_status": "not_installed",
            "fallback": fallback,
        }


@pytest.mark.parametrize(
    ("arguments", "type", "message"),
    [
        (
            {"line": 9, "character": 0},
            "invalid_tool_params",
            "invalid args: line: a.py has lines 0 to 2, counted from 0",
        ),
        (
            {"line": 0, "character": 99},
            "invalid_tool_params",
            "invalid args: character: line 0 has characters 0 to 9, counted from 0",
        ),
        ({"symbol": "nobody"}, "no_match", "nobody does not occur in the file."),
        ({"symbol": "x", "line": 0}, "no_match", "x does not occur in line 0."),
    ],
)
async def test_a_place_that_is_not_there_is_named(
    tmp_path: Path, arguments: JsonObject, type: str, message: str
) -> None:
    async with bench_in(tmp_path, faked()) as b:
        reported = await b.call("lsp_hover", path="a.py", **arguments)
    assert (reported["error"]["type"], reported["error"]["message"]) == (type, message)


@pytest.mark.parametrize("arguments", [{}, {"line": 0}, {"line": -1, "character": 0}, {"symbol": ""}])
async def test_a_place_must_be_given(tmp_path: Path, arguments: JsonObject) -> None:
    async with bench_in(tmp_path, faked()) as b:
        with pytest.raises(ValidationError):
            await b.call("lsp_definition", path="a.py", **arguments)


async def test_files_without_a_server_are_refused_with_a_reason(tmp_path: Path) -> None:
    root = tmp_path / "w"
    (root / "big.py").write_text("x = 1\n" * 850_000)
    (root / "picture.py").write_bytes(b"\x89PNG\r\n\x1a\n\0\0")
    async with bench_in(tmp_path, faked()) as b:
        types = {
            name: (await b.call("lsp_diagnostics", path=name))["error"]["type"]
            for name in ("a.xyz", "big.py", "picture.py", "none.py")
        }
    assert types == {
        "a.xyz": "not_installed",
        "big.py": "too_large",
        "picture.py": "binary_file",
        "none.py": "file_not_found",
    }


@pytest.mark.parametrize("behaviour", ["never", "broken"])
async def test_a_server_that_does_not_answer_never_means_clean(
    tmp_path: Path, behaviour: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("coder_tui.lsp.pool.LspPool.diagnostics.__defaults__", (2.0,))
    async with bench_in(tmp_path, faked(behaviour)) as b:
        reported = await b.call("lsp_diagnostics", path="a.py")
    assert reported["ok"] is False
    assert "diagnostics" not in reported
    assert (reported["error"]["type"], reported["server_status"]) in {
        ("timeout", "starting"),
        ("execution_failed", "crashed"),
    }


async def test_a_query_before_any_server_runs_says_what_starts_one(tmp_path: Path) -> None:
    async with bench_in(tmp_path, faked()) as b:
        reported = await b.call("lsp_symbols", query="x")
    assert reported["error"]["hint"].startswith("No language server is running yet")


def test_the_other_programs_name_is_understood() -> None:
    assert canonical_name("get_warning_error", frozenset({"lsp_diagnostics"})) == "lsp_diagnostics"
