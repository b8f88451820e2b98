"""Searching gives the same answers with and without ripgrep."""

from pathlib import Path

import pytest

from coder_tui.protocol.errors import ErrorType, ToolError
from coder_tui.workspace.search.records import GrepQuery, LineMatch
from coder_tui.workspace.search.search import Found, Grepped, Scope, Search, python_program, search_program

PROGRAMS = {"ripgrep": search_program(), "python": python_program()}


@pytest.fixture(params=PROGRAMS)
def search(request: pytest.FixtureRequest) -> Search:
    return Search(PROGRAMS[request.param])


def plant(root: Path, files: dict[str, str | bytes]) -> Path:
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return root


def everything(path: str) -> bool:
    return True


async def grep(search: Search, root: Path, pattern: str, **options: int) -> list[tuple[str, int, int, str]]:
    query = GrepQuery(pattern, options.get("most", 200), ignore_case=bool(options.get("ignore_case")))
    found = await search.grep(Scope(root), query)
    return [(match.path, match.line, match.column, match.text) for match in found.matches]


def test_the_bundled_ripgrep_is_found() -> None:
    assert search_program()[0].endswith("rg")


async def test_files_are_sorted_name_by_name(tmp_path: Path, search: Search) -> None:
    plant(tmp_path, {"b.py": "", "a/z.py": "", "a.py": "", "a/b/c.py": "", "ä.py": "", "B.py": ""})

    found = await search.files(Scope(tmp_path), everything, 100)

    assert found == Found(("B.py", "a/b/c.py", "a/z.py", "a.py", "b.py", "ä.py"), truncated=False)


async def test_files_are_cut_at_the_same_place_each_time(tmp_path: Path, search: Search) -> None:
    plant(tmp_path, {f"d{n % 7}/f{n:03}": "" for n in range(60)})
    whole = await search.files(Scope(tmp_path), everything, 100)

    assert await search.files(Scope(tmp_path), everything, 9) == Found(whole.paths[:9], truncated=True)


async def test_a_tree_too_big_to_sort_gives_its_first_files(tmp_path: Path, search: Search) -> None:
    for folder in range(11):
        (tmp_path / f"d{folder}").mkdir()
        for number in range(1_000):
            (tmp_path / f"d{folder}" / f"{number:04}").touch()

    assert await search.files(Scope(tmp_path), everything, 2) == Found(("d0/0000", "d0/0001"), truncated=True)


async def test_ignored_files_git_and_secrets_are_passed_over(tmp_path: Path, search: Search) -> None:
    plant(
        tmp_path,
        {
            ".gitignore": "*.log\n/build/\nnested/*\n!nested/keep.txt\n# note\n",
            "a.log": "needle",
            "build/out.txt": "needle",
            "sub/build/in.txt": "needle",
            "nested/gone.txt": "needle",
            "nested/keep.txt": "needle",
            "sub/.gitignore": "!b.log\n",
            "sub/b.log": "needle",
            ".git/config": "needle",
            ".env": "needle",
            ".env.example": "needle",
            "id_rsa": "needle",
            "tls/server.key": "needle",
            ".github/flow.yml": "needle",
        },
    )
    expected = (".env.example", ".github/flow.yml", "nested/keep.txt", "sub/b.log", "sub/build/in.txt")

    found = await search.grep(Scope(tmp_path), GrepQuery("needle", 200))
    listed = await search.files(Scope(tmp_path), lambda path: ".gitignore" not in path, 200)

    assert tuple(match.path for match in found.matches) == expected
    assert listed.paths == expected


async def test_rules_of_outer_folders_apply_up_to_the_repository(tmp_path: Path, search: Search) -> None:
    plant(
        tmp_path,
        {
            ".gitignore": "*.tmp\n",
            "repo/.git/HEAD": "",
            "repo/.gitignore": "/src/gen/\n",
            "repo/src/gen/a.py": "",
            "repo/src/a.tmp": "",
            "repo/src/a.py": "",
        },
    )

    assert (await search.files(Scope(tmp_path / "repo" / "src"), everything, 9)).paths == ("a.py", "a.tmp")


async def test_a_repository_within_a_repository_has_its_own_rules(tmp_path: Path, search: Search) -> None:
    plant(
        tmp_path, {".git/HEAD": "", ".gitignore": "*.tmp\n", "in/.git/HEAD": "", "in/a.tmp": "", "b.tmp": ""}
    )

    assert (await search.files(Scope(tmp_path), everything, 9)).paths == (".gitignore", "in/a.tmp")


async def test_an_ignored_folder_that_is_named_is_searched(tmp_path: Path, search: Search) -> None:
    plant(tmp_path, {".gitignore": "build/\n", "build/a.txt": "needle"})

    assert await grep(search, tmp_path / "build", "needle") == [("a.txt", 1, 1, "needle")]


async def test_a_secret_file_that_is_named_is_searched(tmp_path: Path, search: Search) -> None:
    plant(tmp_path, {".env": "A=1\n"})

    found = await search.grep(Scope(tmp_path, ".env"), GrepQuery("A", 200))

    assert found == Grepped((LineMatch(".env", 1, 1, "A=1"),), truncated=False)


async def test_columns_count_characters_whatever_the_encoding(tmp_path: Path, search: Search) -> None:
    plant(
        tmp_path,
        {
            "bad.txt": b"\xff\xe9 foo\n",
            "bom.txt": b"\xef\xbb\xbffoo",
            "crlf.txt": b"a foo\r\nb\r\n",
            "utf16.txt": "héfoo\n".encode("utf-16"),
            "utf8.txt": "日本 foo\n",
        },
    )

    assert await grep(search, tmp_path, "foo$") == [
        ("bad.txt", 1, 4, "\ufffd\ufffd foo"),
        ("bom.txt", 1, 1, "foo"),
        ("crlf.txt", 1, 3, "a foo"),
        ("utf16.txt", 1, 3, "héfoo"),
        ("utf8.txt", 1, 4, "日本 foo"),
    ]


async def test_binary_files_are_passed_over(tmp_path: Path, search: Search) -> None:
    late = b"needle\n" + b"y\n" * 60_000 + b"needle\0\n"
    plant(tmp_path, {"a.bin": b"needle\0", "late.bin": late, "text.txt": "needle\n"})

    assert await grep(search, tmp_path, "needle") == [("text.txt", 1, 1, "needle")]


async def test_long_lines_are_cut(tmp_path: Path, search: Search) -> None:
    plant(tmp_path, {"a.txt": "é" * 400 + "x" * 400_000 + "\n"})

    assert await grep(search, tmp_path, "é") == [("a.txt", 1, 1, "é" * 400 + "x" * 100 + " […]")]


async def test_case_can_be_ignored(tmp_path: Path, search: Search) -> None:
    plant(tmp_path, {"a.txt": "Needle\n"})

    assert await grep(search, tmp_path, "needle") == []
    assert await grep(search, tmp_path, "needle", ignore_case=1) == [("a.txt", 1, 1, "Needle")]


async def test_matches_have_their_context(tmp_path: Path, search: Search) -> None:
    plant(tmp_path, {"a.txt": "1\n2\nhit\n3\nhit\n4\n5\n", "b-1-.txt": "x\nhit\n"})

    found = await search.grep(Scope(tmp_path), GrepQuery("hit", 200, context=2))

    assert found.matches == (
        LineMatch("a.txt", 3, 1, "hit", ("1", "2"), ("3", "hit")),
        LineMatch("a.txt", 5, 1, "hit", ("hit", "3"), ("4", "5")),
        LineMatch("b-1-.txt", 2, 1, "hit", ("x",), ()),
    )


async def test_the_first_matches_are_kept_whatever_their_number(tmp_path: Path, search: Search) -> None:
    plant(tmp_path, {f"f{n}.txt": "hit\n" * 900 for n in range(9)})

    found = await search.grep(Scope(tmp_path), GrepQuery("hit", 901))

    assert found.truncated
    assert [(match.path, match.line) for match in found.matches] == [
        *(("f0.txt", line) for line in range(1, 901)),
        ("f1.txt", 1),
    ]


async def test_unwanted_paths_do_not_count(tmp_path: Path, search: Search) -> None:
    plant(tmp_path, {"a.txt": "hit\n" * 9, "b.py": "hit\n"})

    found = await search.grep(Scope(tmp_path), GrepQuery("hit", 1, accepts=lambda path: path.endswith(".py")))

    assert found == Grepped((LineMatch("b.py", 1, 1, "hit"),), truncated=False)


async def test_links_are_not_followed(tmp_path: Path, search: Search) -> None:
    plant(tmp_path, {"in/a.txt": "hit\n", "out.txt": "hit\n"})
    (tmp_path / "in" / "loop").symlink_to(".")
    (tmp_path / "in" / "out").symlink_to("../out.txt")

    assert await grep(search, tmp_path / "in", "hit") == [("a.txt", 1, 1, "hit")]


@pytest.mark.parametrize("pattern", ["(", "a\nb"])
async def test_an_invalid_pattern_is_the_callers_mistake(
    tmp_path: Path, search: Search, pattern: str
) -> None:
    plant(tmp_path, {"a.txt": "hit\n"})

    with pytest.raises(ToolError, match=r"^invalid args: pattern: ") as caught:
        await grep(search, tmp_path, pattern)

    assert caught.value.type is ErrorType.INVALID_TOOL_PARAMS


async def test_a_pattern_that_begins_with_a_dash_is_a_pattern(tmp_path: Path, search: Search) -> None:
    plant(tmp_path, {"a.txt": "--files\n"})

    assert await grep(search, tmp_path, "--files") == [("a.txt", 1, 1, "--files")]


async def test_a_pattern_that_explodes_is_stopped(tmp_path: Path) -> None:
    plant(tmp_path, {"a.txt": "a" * 40 + "b\n"})

    with pytest.raises(ToolError) as caught:
        await grep(Search(python_program()), tmp_path, "(a+)+$")

    assert caught.value.type is ErrorType.TIMEOUT


async def test_a_search_that_takes_too_long_is_stopped(tmp_path: Path) -> None:
    program = ("/bin/sh", "-c", "exec sleep 60")

    with pytest.raises(ToolError) as caught:
        await Search(program, timeout=0.05).files(Scope(tmp_path), everything, 9)

    assert caught.value.type is ErrorType.TIMEOUT


async def test_a_module_of_the_workspace_is_never_imported(tmp_path: Path) -> None:
    trap = "open('sprung', 'w')\n"
    plant(tmp_path, {"argparse.py": trap, "re.py": trap, "coder_tui/__init__.py": trap})

    found = await Search(python_program()).files(Scope(tmp_path), everything, 9)

    assert found.paths == ("argparse.py", "coder_tui/__init__.py", "re.py")
