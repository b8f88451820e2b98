"""`mkdir` creates folders and nothing else."""

from pathlib import Path

import pytest

from coder_tui.protocol.access import Target, TargetKind
from coder_tui.protocol.errors import ErrorType
from tests.tools.calling import Bench


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path / "ws")


async def test_a_folder_is_made_with_those_on_the_way(bench: Bench) -> None:
    first = await bench.call("mkdir", path="a/b/c")
    again = await bench.call("mkdir", path="a/b/c/")

    assert first == {"ok": True, "path": "a/b/c", "created": True}
    assert again == {"ok": True, "path": "a/b/c", "created": False}
    assert (bench.root / "a/b/c").is_dir()


async def test_the_place_is_declared_as_written(bench: Bench) -> None:
    access = await bench.access("mkdir", path="new")

    assert access.targets == (Target(TargetKind.PATH, str(bench.root / "new"), writes=True),)
    assert not (bench.root / "new").exists()


async def test_a_file_in_its_place_or_on_its_way_is_an_error(bench: Bench) -> None:
    bench.put("a", "x")

    assert await bench.failure("mkdir", path="a") == (
        ErrorType.ALREADY_EXISTS,
        "a exists and is not a folder.",
    )
    assert (await bench.failure("mkdir", path="a/b"))[0] is ErrorType.FILE_NOT_FOUND


async def test_a_link_that_leads_out_is_denied(bench: Bench, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (bench.root / "link").symlink_to(outside)

    assert (await bench.failure("mkdir", path="link/new"))[0] is ErrorType.PERMISSION_DENIED
    assert list(outside.iterdir()) == []


async def test_a_link_swapped_in_after_approval_is_not_followed(bench: Bench, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (bench.root / "a").mkdir()
    access = await bench.access("mkdir", path="a/new")
    (bench.root / "a").rmdir()
    (bench.root / "a").symlink_to(outside)

    with pytest.raises(Exception, match="led elsewhere when it was approved"):
        await bench.run("mkdir", access, path="a/new")

    assert list(outside.iterdir()) == []
