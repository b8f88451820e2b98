"""`glob` finds files by pattern, and stays below its folder."""

from pathlib import Path

import pytest

from coder_tui.protocol.display import TextBlock
from coder_tui.protocol.errors import ErrorType
from tests.tools.calling import Bench

FILES = ("a.py", "b.txt", "src/c.py", "src/deep/d.py", "src/deep/e.ts", "src/deep/f.tsx", ".hidden/g.py")


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    bench = Bench(tmp_path / "ws")
    for name in FILES:
        bench.put(name)
    return bench


@pytest.mark.parametrize(
    ("pattern", "matches"),
    [
        ("*.py", [".hidden/g.py", "a.py", "src/c.py", "src/deep/d.py"]),
        ("**/*.py", [".hidden/g.py", "a.py", "src/c.py", "src/deep/d.py"]),
        ("src/*.py", ["src/c.py"]),
        ("./src/*.py", ["src/c.py"]),
        ("src/**/*.py", ["src/c.py", "src/deep/d.py"]),
        ("src/**", ["src/c.py", "src/deep/d.py", "src/deep/e.ts", "src/deep/f.tsx"]),
        ("**/deep/*.{ts,tsx}", ["src/deep/e.ts", "src/deep/f.tsx"]),
        ("?.txt", ["b.txt"]),
        ("[!b].py", [".hidden/g.py", "a.py", "src/c.py", "src/deep/d.py"]),
        ("**/**/**/f*", ["src/deep/f.tsx"]),
        ("nothing", []),
    ],
)
async def test_patterns_choose_files(bench: Bench, pattern: str, matches: list[str]) -> None:
    assert await bench.call("glob", pattern=pattern) == {"ok": True, "matches": matches, "truncated": False}


async def test_a_pattern_is_relative_to_its_folder(bench: Bench) -> None:
    assert (await bench.call("glob", pattern="deep/*.py", path="src"))["matches"] == ["src/deep/d.py"]


@pytest.mark.parametrize("pattern", ["/etc/*", "../*", "src/../../*", "~/x", "", "[z-a]", "{a,b}" * 7])
async def test_an_escaping_or_invalid_pattern_is_refused(bench: Bench, pattern: str) -> None:
    kind, message = await bench.failure("glob", pattern=pattern)

    assert kind is ErrorType.INVALID_TOOL_PARAMS
    assert message.startswith("invalid args: pattern: ")


async def test_an_explosive_pattern_ends(bench: Bench) -> None:
    bench.put("a" * 200)

    assert (await bench.call("glob", pattern="*a" * 40 + "*b"))["matches"] == []


async def test_secrets_git_and_ignored_files_are_left_out(bench: Bench) -> None:
    for name in (".env", ".env.local", ".git/a.py", "tls/server.pem", "gen/x.py"):
        bench.put(name)
    bench.put(".gitignore", "gen/\n")

    assert (await bench.call("glob", pattern="**/*"))["matches"] == [
        ".gitignore",
        ".hidden/g.py",
        "a.py",
        "b.txt",
        "src/c.py",
        "src/deep/d.py",
        "src/deep/e.ts",
        "src/deep/f.tsx",
    ]


async def test_many_matches_are_cut_and_say_so(bench: Bench) -> None:
    for number in range(1_001):
        bench.put(f"many/{number:04}")

    result = await bench.result("glob", pattern="many/*")

    assert (len(result.for_model["matches"]), result.for_model["truncated"]) == (1_000, True)
    assert result.summary == "many/*: 1000+ files"


async def test_the_user_sees_the_paths(bench: Bench) -> None:
    result = await bench.result("glob", pattern="src/*.py")

    assert (result.for_user, result.summary) == (TextBlock("src/c.py"), "src/*.py: 1 file")
