"""`outline` shows the structure of a file, and what a project uses most."""

from pathlib import Path

import pytest

from coder_tui.protocol.access import Target, TargetKind
from coder_tui.protocol.errors import ErrorType, ToolError
from coder_tui.workspace.outline.client import Outliner
from tests.tools.calling import Bench

SHAPES = "class Shape:\n    def area(self):\n        def deep(): ...\n\ndef make_shape(): pass\n"


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path / "ws")


async def test_a_file_gives_its_symbols_with_lines(bench: Bench) -> None:
    bench.put("shapes.py", SHAPES)

    result = await bench.result("outline", path="shapes.py")

    assert result.for_model == {
        "ok": True,
        "path": "shapes.py",
        "outline": "1: class Shape\n  2: def area(self)\n    3: def deep()\n5: def make_shape()",
    }


@pytest.mark.parametrize(
    ("depth", "lines"),
    [(1, ["1", "5"]), (2, ["1", "2", "5"]), (0, ["1", "2", "3", "5"]), (9, ["1", "2", "3", "5"])],
)
async def test_depth_bounds_how_far_a_file_is_shown(bench: Bench, depth: int, lines: list[str]) -> None:
    bench.put("shapes.py", SHAPES)

    outline = (await bench.call("outline", path="shapes.py", depth=depth))["outline"]

    assert [line.strip().partition(":")[0] for line in outline.split("\n")] == lines


async def test_a_folder_gives_a_map_of_what_is_used_most(bench: Bench) -> None:
    bench.put("src/shapes.py", SHAPES)
    bench.put("src/app.py", "from shapes import make_shape\nmake_shape()\ndef start_app(): pass\n")
    bench.put("src/deep/more.py", "make_shape()\n")
    bench.put(".gitignore", "gen/\n")
    bench.put("gen/out.py", "def generated_code(): pass\n")
    bench.put("notes.md", "# Notes\n")

    whole = (await bench.call("outline"))["outline"].split("\n")
    near = (await bench.call("outline", path="src", depth=1))["outline"].split("\n")

    assert whole == [
        "src/shapes.py",
        "  1: class Shape",
        "    2: def area(self)",
        "  5: def make_shape()",
        "src/app.py",
        "  3: def start_app()",
        "src/deep/more.py",
    ]
    assert [line for line in near if not line.startswith(" ")] == ["src/shapes.py", "src/app.py"]


async def test_secrets_and_links_out_of_the_workspace_are_not_mapped(bench: Bench, tmp_path: Path) -> None:
    (tmp_path / "outside.py").write_text("def outside_code(): pass\n")
    (bench.root / "link.py").symlink_to(tmp_path / "outside.py")
    bench.put(".aws/setup.py", "def secret_code(): pass\n")
    bench.put("a.py", "def own_code(): pass\n")

    assert (await bench.call("outline"))["outline"] == "a.py\n  1: def own_code()"


async def test_a_folder_without_code_gives_its_files(bench: Bench) -> None:
    bench.put("docs/b.md", "# B\n")
    bench.put("docs/a.txt", "")

    assert (await bench.call("outline", path="docs"))["outline"] == "docs/a.txt\ndocs/b.md"


async def test_a_file_without_structure_says_so(bench: Bench) -> None:
    bench.put("a.txt", "just words\n")

    assert (await bench.call("outline", path="a.txt"))["outline"] == "(no structure found)"


async def test_any_encoding_is_read(bench: Bench) -> None:
    bench.put("a.py", "def grün(): pass\r\nx = 'é'\r\n".encode("utf-16"))

    assert (await bench.call("outline", path="a.py"))["outline"] == "1: def grün()\n2: x = 'é'"


async def test_the_place_is_declared(bench: Bench) -> None:
    bench.put("src/a.py")

    assert (await bench.access("outline", path="src")).targets == (
        Target(TargetKind.PATH, str(bench.root / "src")),
    )


async def test_bad_places_are_said(bench: Bench) -> None:
    bench.put("a.bin", b"\0")
    bench.put("big.json", "[" + "1," * 1_100_000 + "1]")

    assert (await bench.failure("outline", path="gone"))[0] is ErrorType.FILE_NOT_FOUND
    assert (await bench.failure("outline", path="a.bin"))[0] is ErrorType.BINARY_FILE
    assert (await bench.failure("outline", path="big.json"))[0] is ErrorType.TOO_LARGE


async def test_an_outline_that_takes_too_long_is_stopped(tmp_path: Path) -> None:
    with pytest.raises(ToolError) as caught:
        await Outliner(tmp_path / "c.db", seconds=0.001).outline_file("a.py", "x = 1\n", None)

    assert caught.value.type is ErrorType.TIMEOUT
