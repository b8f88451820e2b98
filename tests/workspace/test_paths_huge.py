"""Huge files and endless folders are read in pieces, or not at all."""

import os
import subprocess
import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import pytest

from coder_tui.protocol.access import Mode
from coder_tui.tools.base import JsonObject
from tests.fakes.real_tools import RealTools, setup_in

MEGABYTE = 1024 * 1024
DEPTH = 2_000


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    base = tmp_path_factory.mktemp("huge")
    (base / "ws").mkdir()
    yield base
    # Neither is left for the next runs, and Python's own remover does not go that deep.
    subprocess.run(["rm", "-rf", str(base / "ws")], check=True)


@pytest.fixture
def tools(base: Path) -> RealTools:
    return RealTools(setup_in(base, base / "ws", Mode.EDITS))


@pytest.fixture(scope="module")
def sparse(base: Path) -> Path:
    """Create ten gigabytes that take no room on disk: some text, then nothing."""
    path = base / "ws/sparse.log"
    path.write_text("".join(f"line {number}\n" for number in range(20_000)))
    os.truncate(path, 10 * 1024 * MEGABYTE)
    return path


@pytest.fixture(scope="module")
def one_line(base: Path) -> Path:
    path = base / "ws/one_line.json"
    with path.open("wb") as file:
        for _ in range(500):
            file.write(b"x" * MEGABYTE)
    return path


async def measured(tools: RealTools, tool: str, **arguments: object) -> JsonObject:
    """Return the result of a call that must work with little memory."""
    tracemalloc.start()
    try:
        result = await tools.call(tool, **arguments)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 50 * MEGABYTE
    return result


@pytest.mark.usefixtures("sparse")
async def test_ten_gigabytes_are_paged(tools: RealTools) -> None:
    page = await measured(tools, "read", path="sparse.log", offset=19_000, limit=2)

    assert (page["content"], page["has_more"]) == ("line 18999\nline 19000", True)


@pytest.mark.parametrize(
    ("tool", "more"),
    [("edit", {"old_string": "line 1\n", "new_string": "x"}), ("write", {"content": "x"})],
)
async def test_a_file_too_large_to_load_is_not_changed(
    tools: RealTools, sparse: Path, tool: str, more: dict[str, str]
) -> None:
    before = identity(sparse)

    result = await measured(tools, tool, path="sparse.log", **more)

    assert (result["error"]["type"], identity(sparse)) == ("too_large", before)


def identity(path: Path) -> tuple[int, int, int]:
    status = path.stat()
    return status.st_ino, status.st_size, status.st_mtime_ns


@pytest.mark.usefixtures("one_line")
async def test_a_line_of_500_megabytes_is_cut(tools: RealTools) -> None:
    page = await measured(tools, "read", path="one_line.json")
    changed = await measured(tools, "edit", path="one_line.json", old_string="x", new_string="y")

    assert (page["content"], page["has_more"]) == ("x" * 2_000 + " […]", False)
    assert changed["error"]["type"] == "too_large"


@pytest.fixture(scope="module")
def deep(base: Path) -> Path:
    """Create a folder so deep that no single path can name its end."""
    path = base / "ws/deep"
    path.mkdir()
    folder = os.open(path, os.O_RDONLY)
    for _ in range(DEPTH):
        os.mkdir("dir", dir_fd=folder)
        deeper = os.open("dir", os.O_RDONLY, dir_fd=folder)
        os.close(folder)
        folder = deeper
    file = os.open("end.txt", os.O_CREAT | os.O_WRONLY, dir_fd=folder)
    os.write(file, b"the end\n")
    os.close(file)
    os.close(folder)
    return path


@pytest.mark.usefixtures("deep")
@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("list", {"path": "deep/dir/dir"}),
        ("glob", {"path": "deep", "pattern": "**/*.txt"}),
        ("glob", {"path": "deep", "pattern": "**/**/**/*"}),
        ("grep", {"path": "deep", "pattern": "the end"}),
    ],
)
async def test_a_tree_without_end_is_searched_to_an_end(
    tools: RealTools, tool: str, arguments: dict[str, str]
) -> None:
    assert (await measured(tools, tool, **arguments))["ok"]


@pytest.mark.usefixtures("deep")
async def test_a_file_at_the_end_of_a_long_way_is_read_and_changed(tools: RealTools) -> None:
    path = "deep/" + "dir/" * DEPTH + "end.txt"

    read = await tools.call("read", path=path)
    changed = await tools.call("edit", path=path, old_string="the end", new_string="really the end")
    again = await tools.call("read", path=path)

    assert (read.get("content"), changed["ok"], again.get("content")) == ("the end", True, "really the end")
