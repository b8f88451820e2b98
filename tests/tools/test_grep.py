"""`grep` finds lines and reports where they are."""

from pathlib import Path

import pytest

from coder_tui.protocol.display import TextBlock
from coder_tui.protocol.errors import ErrorType
from tests.tools.calling import Bench


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path / "ws")


async def test_matches_have_path_line_column_and_text(bench: Bench) -> None:
    bench.put("src/a.py", "import os\ndef main():\n    main()\n")

    result = await bench.result("grep", pattern=r"main\(")

    assert result.for_model == {
        "ok": True,
        "count": 2,
        "matches": [
            {"path": "src/a.py", "line": 2, "column": 5, "text": "def main():"},
            {"path": "src/a.py", "line": 3, "column": 5, "text": "    main()"},
        ],
        "truncated": False,
    }
    assert result.for_user == TextBlock("src/a.py:2: def main():\nsrc/a.py:3:     main()")
    assert result.summary == r"main\(: 2 matches in 1 file"


async def test_context_is_before_and_after(bench: Bench) -> None:
    bench.put("a.txt", "1\nhit\n3\n")

    assert (await bench.call("grep", pattern="hit", context=1))["matches"] == [
        {"path": "a.txt", "line": 2, "column": 1, "text": "hit", "before": ["1"], "after": ["3"]}
    ]


@pytest.mark.parametrize(
    ("glob", "paths"),
    [
        ("*.py", ["a.py", "src/b.py"]),
        ("src/**", ["src/b.py", "src/c.js"]),
        ("!*.js", ["a.py", "src/b.py"]),
        ("*.{js,ts}", ["src/c.js"]),
        ("*.log", []),
    ],
)
async def test_a_glob_narrows_the_files_and_lifts_no_rule(bench: Bench, glob: str, paths: list[str]) -> None:
    bench.put(".gitignore", "*.log\n")
    for name in ("a.py", "src/b.py", "src/c.js", "d.log"):
        bench.put(name, "hit\n")

    matches = (await bench.call("grep", pattern="hit", glob=glob))["matches"]

    assert [match["path"] for match in matches] == paths


async def test_one_file_can_be_searched(bench: Bench) -> None:
    bench.put("src/a.py", "hit\n")
    bench.put("src/b.py", "hit\n")

    matches = (await bench.call("grep", pattern="hit", path="src/b.py"))["matches"]

    assert [match["path"] for match in matches] == ["src/b.py"]


async def test_a_secret_is_searched_only_when_it_is_named(bench: Bench) -> None:
    bench.put(".env", "TOKEN=1\n")

    assert (await bench.call("grep", pattern="TOKEN"))["count"] == 0
    assert (await bench.call("grep", pattern="TOKEN", glob=".env"))["count"] == 0
    assert (await bench.call("grep", pattern="TOKEN", path=".env"))["count"] == 1
    assert [target.value for target in (await bench.access("grep", pattern="x", path=".env")).targets] == [
        str(bench.root / ".env")
    ]


async def test_too_many_matches_are_cut_and_say_so(bench: Bench) -> None:
    bench.put("a.txt", "hit\n" * 300)

    default = await bench.call("grep", pattern="hit")
    few = await bench.call("grep", pattern="hit", max_matches=3)

    assert (default["count"], default["truncated"]) == (200, True)
    assert ([match["line"] for match in few["matches"]], few["truncated"]) == ([1, 2, 3], True)


async def test_a_wrong_pattern_is_the_callers_mistake(bench: Bench) -> None:
    kind, message = await bench.failure("grep", pattern="(")

    assert kind is ErrorType.INVALID_TOOL_PARAMS
    assert message.startswith("invalid args: pattern: ")


async def test_a_missing_place_is_said(bench: Bench) -> None:
    assert (await bench.failure("grep", pattern="x", path="no"))[0] is ErrorType.FILE_NOT_FOUND
