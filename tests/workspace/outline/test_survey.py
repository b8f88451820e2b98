"""Files are parsed once for each content, and never wait for a broken cache."""

import sqlite3
from pathlib import Path

from coder_tui.workspace.outline.parse import FileSymbols, Symbol, to_wire
from coder_tui.workspace.outline.survey import LARGEST_FILE, OutlineCache, key_of, survey


def plant(root: Path, files: dict[str, bytes]) -> Path:
    root.mkdir(exist_ok=True)
    for name, content in files.items():
        (root / name).write_bytes(content)
    return root


def names(found: dict[str, FileSymbols]) -> dict[str, list[str]]:
    return {path: [symbol.name for symbol in file.symbols] for path, file in found.items()}


def test_files_are_parsed_and_kept_by_content(tmp_path: Path) -> None:
    root = plant(tmp_path / "ws", {"a.py": b"def one(): pass\n", "b.py": b"def two(): pass\n"})
    path = tmp_path / "cache" / "outlines.db"

    first = survey(root, ["a.py", "b.py", "gone.py"], OutlineCache(path), 10)
    planted = FileSymbols((Symbol("from_cache", "def from_cache()", 1, 0),))
    OutlineCache(path).save({key_of("a.py", b"def one(): pass\n"): to_wire(planted)})
    (root / "b.py").write_bytes(b"def three(): pass\n")
    second = survey(root, ["a.py", "b.py"], OutlineCache(path), 10)

    assert (names(first.files), first.is_partial) == ({"a.py": ["one"], "b.py": ["two"]}, False)
    assert names(second.files) == {"a.py": ["from_cache"], "b.py": ["three"]}


def test_many_files_are_parsed_side_by_side(tmp_path: Path) -> None:
    root = plant(tmp_path / "ws", {f"m{n:03}.py": f"def f{n}(): pass\n".encode() for n in range(150)})

    found = survey(root, [f"m{n:03}.py" for n in range(150)], OutlineCache(tmp_path / "c.db"), 60)

    assert names(found.files) == {f"m{n:03}.py": [f"f{n}"] for n in range(150)}


def test_when_the_time_is_up_the_rest_is_left(tmp_path: Path) -> None:
    root = plant(tmp_path / "ws", {"a.py": b"x = 1\n"})

    found = survey(root, ["a.py"], OutlineCache(tmp_path / "c.db"), -1)

    assert (found.files, found.is_partial) == ({}, True)


def test_large_binary_and_linked_files_are_passed_over(tmp_path: Path) -> None:
    root = plant(tmp_path / "ws", {"big.py": b"x\n" * LARGEST_FILE, "bin.py": b"\0", "real.py": b"x = 1\n"})
    (root / "link.py").symlink_to("real.py")

    found = survey(root, ["big.py", "bin.py", "link.py", "real.py"], OutlineCache(tmp_path / "c.db"), 10)

    assert names(found.files) == {"real.py": ["x"]}


def test_a_broken_cache_is_recreated(tmp_path: Path) -> None:
    root = plant(tmp_path / "ws", {"a.py": b"x = 1\n"})
    path = tmp_path / "c.db"
    path.write_bytes(b"not a database" * 100)

    assert names(survey(root, ["a.py"], OutlineCache(path), 10).files) == {"a.py": ["x"]}
    with sqlite3.connect(path) as database:
        assert database.execute("SELECT count(*) FROM outlines").fetchone() == (1,)


def test_a_cache_that_cannot_be_written_does_no_harm(tmp_path: Path) -> None:
    root = plant(tmp_path / "ws", {"a.py": b"x = 1\n"})
    (tmp_path / "file").write_text("")

    found = survey(root, ["a.py"], OutlineCache(tmp_path / "file" / "c.db"), 10)

    assert names(found.files) == {"a.py": ["x"]}
