"""Completion knows the files of the folder, not those that git ignores."""

import subprocess
from pathlib import Path

import pytest

from coder_tui.workspace.search.file_index import FileIndex
from coder_tui.workspace.search.search import Search, search_program


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    for name in ("src/app.py", "src/deep/app_test.py", "README.md", "build/app.o", ".env"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x")
    (tmp_path / ".gitignore").write_text("build/\n")
    return tmp_path


async def test_files_and_folders_are_suggested_but_nothing_ignored_or_secret(folder: Path) -> None:
    index = FileIndex(folder, Search(search_program()))

    paths = [suggestion.path for suggestion in await index.suggest("", 20)]

    assert paths == [".gitignore", "README.md", "src/", "src/app.py", "src/deep/", "src/deep/app_test.py"]


async def test_the_name_that_was_typed_comes_first(folder: Path) -> None:
    index = FileIndex(folder, Search(search_program()))

    suggestions = await index.suggest("app", 20)

    assert [suggestion.path for suggestion in suggestions] == ["src/app.py", "src/deep/app_test.py"]
    assert suggestions[0].positions == (4, 5, 6)


async def test_recently_used_files_come_first(folder: Path) -> None:
    index = FileIndex(folder, Search(search_program()))
    await index.suggest("", 20)

    index.use("src/deep/app_test.py")
    index.use("README.md")

    first = [suggestion.path for suggestion in await index.suggest("", 3)]
    assert first == ["README.md", "src/deep/app_test.py", ".gitignore"]


async def test_a_new_file_appears_once_the_list_grew_old(folder: Path) -> None:
    clock = Clock()
    index = FileIndex(folder, Search(search_program()), clock)
    await index.suggest("", 20)
    (folder / "new.txt").write_text("x")

    assert await index.suggest("new", 5) == []
    clock.now = 60
    await index.suggest("new", 5)
    await index.wait_until_listed()
    assert [suggestion.path for suggestion in await index.suggest("new", 5)] == ["new.txt"]


async def test_recently_used_matches_come_before_others(folder: Path) -> None:
    index = FileIndex(folder, Search(search_program()))
    index.use("src/deep/app_test.py")
    index.use("README.md")

    paths = [suggestion.path for suggestion in await index.suggest("app", 20)]

    assert paths == ["src/deep/app_test.py", "src/app.py"]


async def test_a_folder_that_cannot_be_listed_has_no_suggestions(tmp_path: Path) -> None:
    index = FileIndex(tmp_path / "gone", Search(search_program()))

    assert await index.suggest("app", 20) == []


async def test_closing_ends_a_list_that_is_being_made(folder: Path) -> None:
    index = FileIndex(folder, Search(search_program()))
    index._renew()

    await index.close()

    assert index._making is not None
    assert index._making.done()
