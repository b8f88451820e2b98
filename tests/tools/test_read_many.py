"""`read_many` reads several files, and declares each of them."""

from pathlib import Path

import pytest
from pydantic import ValidationError

from coder_tui.protocol.access import Target, TargetKind
from coder_tui.protocol.display import TextBlock
from coder_tui.protocol.errors import ErrorType, ToolError
from tests.tools.calling import Bench


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path / "ws")


async def test_files_and_patterns_are_read_in_one_call(bench: Bench) -> None:
    bench.put("b.txt", "b1\nb2\n")
    bench.put("src/a.py", "a\n")
    bench.put("src/deep/c.py", "c\n")

    result = await bench.result("read_many", paths=["b.txt", "src/**/*.py", "src/a.py"], limit=1)

    assert result.for_model == {
        "ok": True,
        "files": [
            {"path": "b.txt", "content": "b1", "has_more": True},
            {"path": "src/a.py", "content": "a", "has_more": False},
            {"path": "src/deep/c.py", "content": "c", "has_more": False},
        ],
        "skipped": [],
    }
    assert result.for_user == TextBlock("── b.txt\nb1\n\n── src/a.py\na\n\n── src/deep/c.py\nc")
    assert result.summary == "3 files"


async def test_every_file_is_declared_after_patterns_are_expanded(bench: Bench, tmp_path: Path) -> None:
    bench.put("a.py")
    bench.put("b.py")
    bench.put(".env", "A=1")

    access = await bench.access("read_many", paths=["../out.txt", ".env", "*.py", "./a.py"])

    assert access.targets == tuple(
        Target(TargetKind.PATH, str(path))
        for path in (
            tmp_path / "out.txt",
            bench.root / ".env",
            bench.root / "a.py",
            bench.root / "b.py",
        )
    )


async def test_a_pattern_leaves_out_what_is_ignored_or_secret(bench: Bench) -> None:
    for name in (".env", ".git/config", "a.log", "a.txt"):
        bench.put(name, "x")
    bench.put(".gitignore", "*.log\n")

    files = (await bench.call("read_many", paths=["**/*"]))["files"]

    assert [file["path"] for file in files] == [".gitignore", "a.txt"]


async def test_one_failing_file_does_not_spoil_the_others(bench: Bench) -> None:
    bench.put("a.txt", "a")
    bench.put("b.bin", b"\0")

    result = await bench.call("read_many", paths=["gone.txt", "a.txt", "b.bin", "*.rs"])

    assert result == {
        "ok": True,
        "files": [
            {
                "path": "gone.txt",
                "error": {
                    "type": "file_not_found",
                    "message": "No file or folder at gone.txt.",
                    "hint": "Find it with list or glob.",
                },
            },
            {"path": "a.txt", "content": "a", "has_more": False},
            {
                "path": "b.bin",
                "error": {
                    "type": "binary_file",
                    "message": "b.bin is not text: binary data.",
                    "hint": "Inspect it with a program, through bash.",
                },
            },
        ],
        "skipped": [{"path": "*.rs", "reason": "no file matches"}],
    }


async def test_nothing_read_is_a_failure(bench: Bench) -> None:
    with pytest.raises(ToolError, match="None of the files could be read") as caught:
        await bench.call("read_many", paths=["gone.txt"])
    assert caught.value.type is ErrorType.FILE_NOT_FOUND
    assert caught.value.fields["skipped"] == []

    assert (await bench.failure("read_many", paths=["*.rs"]))[0] is ErrorType.FILE_NOT_FOUND


async def test_a_name_with_pattern_characters_is_a_name_where_it_exists(bench: Bench) -> None:
    bench.put("app/[id]/page.tsx", "page")
    bench.put("app/i/page.tsx", "other")

    files = (await bench.call("read_many", paths=["app/[id]/page.tsx"]))["files"]

    assert files == [{"path": "app/[id]/page.tsx", "content": "page", "has_more": False}]


@pytest.mark.parametrize("pattern", ["/etc/*", "../*.txt", "~/*", "[z-a]"])
async def test_a_pattern_that_leads_away_is_refused(bench: Bench, pattern: str) -> None:
    kind, message = await bench.failure("read_many", paths=[pattern])

    assert kind is ErrorType.INVALID_TOOL_PARAMS
    assert message.startswith("invalid args: paths: ")


async def test_the_result_stays_within_bounds_and_names_what_is_left_out(bench: Bench) -> None:
    for number in range(120):
        bench.put(f"{number:03}.txt", ("x" * 99 + "\n") * 60)

    result = await bench.call("read_many", paths=["*.txt"])

    # 40 KB are eight pages of fifty such lines and a part of the ninth.
    assert [(file["path"], file["has_more"]) for file in result["files"]] == [
        (f"{number:03}.txt", True) for number in range(9)
    ]
    assert sum(len(file["content"]) for file in result["files"]) <= 40 * 1024
    assert result["skipped"][0] == {"path": "*.txt", "reason": "more than 100 files in one call"}
    assert result["skipped"][1] == {"path": "009.txt", "reason": "no room left in this result"}
    assert len(result["skipped"]) == 92


async def test_what_was_read_may_be_overwritten(bench: Bench) -> None:
    bench.put("a.txt", "1\n")

    await bench.call("read_many", paths=["a.txt"])

    assert (await bench.call("write", path="a.txt", content="2\n"))["operation"] == "overwrite"


async def test_a_file_that_appears_after_approval_is_not_read(bench: Bench) -> None:
    bench.put("a.py", "a")
    access = await bench.access("read_many", paths=["*.py"])
    bench.put("b.py", "b")

    files = (await bench.run("read_many", access, paths=["*.py"])).for_model["files"]

    assert [(file["path"], "content" in file) for file in files] == [("a.py", True), ("b.py", False)]


@pytest.mark.parametrize("paths", [[], ["a"] * 101])
async def test_the_number_of_paths_is_bounded(bench: Bench, paths: list[str]) -> None:
    with pytest.raises(ValidationError):
        await bench.call("read_many", paths=paths)
