"""Only what was approved is written; what is put in its place in between is left alone."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from coder_tui.protocol.access import Mode
from coder_tui.protocol.requests import ApprovalReply, ApprovalRequest
from tests.fakes.real_tools import ALLOW, RealTools, setup_in

EDIT = {"old_string": "old", "new_string": "new"}


@dataclass(frozen=True, slots=True)
class Place:
    """Return a workspace with `sub/a.txt` in it, and a folder outside that looks the same."""

    base: Path

    @property
    def root(self) -> Path:
        return self.base / "ws"

    @property
    def out(self) -> Path:
        return self.base / "out"

    @property
    def file(self) -> Path:
        return self.root / "sub/a.txt"

    def put_in_place(self, other: Path) -> None:
        other.rename(self.file)

    def outside(self) -> dict[str, str]:
        return {path.name: path.read_text() for path in sorted(self.out.iterdir())}


@pytest.fixture
def place(tmp_path: Path) -> Place:
    made = Place(tmp_path)
    for folder in (made.root / "sub", made.out):
        folder.mkdir(parents=True)
        (folder / "a.txt").write_text("old\n")
    return made


def like_it(place: Place) -> None:
    (place.root / "twin").write_text("old\n")
    place.put_in_place(place.root / "twin")


def other_content(place: Place) -> None:
    place.file.write_text("old, but theirs\n")


def link_to_outside(place: Place) -> None:
    place.file.unlink()
    place.file.symlink_to(place.out / "a.txt")


def link_inside(place: Place) -> None:
    place.file.rename(place.root / "moved.txt")
    place.file.symlink_to(place.root / "moved.txt")


def folder_to_outside(place: Place) -> None:
    (place.root / "sub").rename(place.root / "was")
    (place.root / "sub").symlink_to(place.out)


def root_to_outside(place: Place) -> None:
    place.root.rename(place.base / "was")
    (place.base / "twin/sub").mkdir(parents=True)
    (place.base / "twin/sub/a.txt").write_text("old\n")
    place.root.symlink_to(place.base / "twin")


def removed(place: Place) -> None:
    place.file.unlink()


def pipe(place: Place) -> None:
    place.file.unlink()
    os.mkfifo(place.file)


def folder(place: Place) -> None:
    place.file.unlink()
    place.file.mkdir()


def read_only(place: Place) -> None:
    place.file.chmod(0o444)


def hard_link_to_outside(place: Place) -> None:
    place.file.unlink()
    os.link(place.out / "a.txt", place.file)


SWAPS: list[tuple[Callable[[Place], None], str]] = [
    (like_it, "stale_file"),
    (other_content, "stale_file"),
    (hard_link_to_outside, "stale_file"),
    (link_to_outside, "permission_denied"),
    (link_inside, "permission_denied"),
    (folder_to_outside, "permission_denied"),
    (root_to_outside, "permission_denied"),
    (removed, "file_not_found"),
    (pipe, "not_a_file"),
    (folder, "not_a_file"),
    (read_only, "execution_failed"),
]


def swapping(place: Place, swap: Callable[[Place], None]) -> RealTools:
    """Allow everything, but let somebody act while the user decides."""

    def answer(request: ApprovalRequest) -> ApprovalReply:
        swap(place)
        return ALLOW

    return RealTools(setup_in(place.base, place.root, Mode.ASK), answer)


@pytest.mark.parametrize(("swap", "outcome"), SWAPS, ids=lambda item: getattr(item, "__name__", None))
async def test_an_edit_of_something_else_than_was_approved_is_not_made(
    place: Place, swap: Callable[[Place], None], outcome: str
) -> None:
    tools = swapping(place, swap)

    assert await tools.outcome("edit", path="sub/a.txt", **EDIT) == outcome

    assert place.outside() == {"a.txt": "old\n"}
    written = [path for path in place.base.rglob("a.txt") if path.is_file() and "new" in path.read_text()]
    assert (written, len(tools.asked)) == ([], 1)


def file_there(place: Place) -> None:
    (place.root / "new.txt").write_text("theirs")


def dangling_link_there(place: Place) -> None:
    (place.root / "new.txt").symlink_to(place.out / "new.txt")


def link_there(place: Place) -> None:
    (place.root / "new.txt").symlink_to(place.out / "a.txt")


@pytest.mark.parametrize(
    ("swap", "outcome"),
    [
        (file_there, "stale_file"),
        (dangling_link_there, "permission_denied"),
        (link_there, "permission_denied"),
    ],
    ids=lambda item: getattr(item, "__name__", None),
)
async def test_a_new_file_does_not_take_the_place_of_another(
    place: Place, swap: Callable[[Place], None], outcome: str
) -> None:
    tools = swapping(place, swap)

    assert await tools.outcome("write", path="new.txt", content="mine") == outcome

    new = place.root / "new.txt"
    assert place.outside() == {"a.txt": "old\n"}
    assert new.is_symlink() or new.read_text() == "theirs"


async def test_a_new_file_is_not_made_in_a_folder_that_leads_out_by_now(place: Place) -> None:
    tools = swapping(place, folder_to_outside)

    outcome = await tools.outcome("write", path="sub/deep/new.txt", content="mine")

    assert (outcome, place.outside()) == ("permission_denied", {"a.txt": "old\n"})


async def test_without_a_swap_the_edit_is_made(place: Place) -> None:
    tools = swapping(place, lambda place: None)

    assert await tools.outcome("edit", path="sub/a.txt", **EDIT) == "ok"

    assert (place.file.read_text(), place.outside()) == ("new\n", {"a.txt": "old\n"})
