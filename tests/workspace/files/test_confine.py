"""Paths are where they really lead."""

import os
from pathlib import Path

import pytest

from coder_tui.protocol.errors import ErrorType, ToolError
from coder_tui.workspace.files import confine
from coder_tui.workspace.files.confine import (
    Located,
    Workspace,
    folder_or_file,
    open_folder,
    open_listing,
    open_regular,
)


@pytest.fixture(params=["one call", "step by step"], autouse=True)
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Systems without that call open step by step; both must work."""
    if request.param == "step by step":
        monkeypatch.setattr(confine, "has_openat2", lambda: False)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "ws"
    root.mkdir()
    return root


def names_in(folder: int) -> list[str]:
    with os.scandir(folder) as entries:
        return [entry.name for entry in entries]


def place(path: Path, shown: str, *, inside: bool = False, by_link: bool = False) -> Located:
    return Located(path, shown, is_inside=inside, escapes_by_link=by_link)


@pytest.mark.parametrize("path", ["a/b.txt", "./a/b.txt", "a/../a/b.txt", "a//b.txt"])
def test_a_relative_path_is_from_the_root(root: Path, path: str) -> None:
    assert Workspace(root).locate(path) == place(root / "a/b.txt", "a/b.txt", inside=True)


def test_the_root_is_shown_as_a_dot(root: Path) -> None:
    assert Workspace(root).locate(".") == place(root, ".", inside=True)


def test_an_absolute_path_inside_is_shown_relative(root: Path) -> None:
    assert Workspace(root).locate(f"{root}/x") == place(root / "x", "x", inside=True)


def test_a_twin_of_the_root_is_outside(root: Path) -> None:
    twin = f"{root}-evil/x"

    assert Workspace(root).locate(twin) == place(Path(twin), twin)
    assert Workspace(root).locate("../ws-evil/x") == place(Path(twin), twin)


def test_a_way_up_is_outside_and_no_link(root: Path, tmp_path: Path) -> None:
    assert Workspace(root).locate("../x") == place(tmp_path / "x", str(tmp_path / "x"))


def test_home_is_expanded(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/me")

    assert Workspace(root).locate("~/.bashrc") == place(Path("/home/me/.bashrc"), "/home/me/.bashrc")


def test_a_name_that_begins_with_a_tilde_is_a_name(root: Path) -> None:
    assert Workspace(root).locate("~x") == place(root / "~x", "~x", inside=True)


def test_an_extra_root_is_inside_and_shown_whole(root: Path, tmp_path: Path) -> None:
    extra = tmp_path / "extra"

    located = Workspace(root, (extra,)).locate("../extra/a")

    assert located == place(extra / "a", str(extra / "a"), inside=True)


def test_links_are_followed_as_the_system_does(root: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (root / "out").symlink_to(outside)
    (root / "real").mkdir()
    (root / "in").symlink_to("real")
    workspace = Workspace(root)

    assert workspace.locate("in/new") == place(root / "real/new", "real/new", inside=True)
    assert workspace.locate("out/new") == place(outside / "new", f"{outside}/new", by_link=True)
    assert workspace.locate("out/../x") == place(tmp_path / "x", f"{tmp_path}/x", by_link=True)


def test_links_in_a_circle_end(root: Path) -> None:
    (root / "a").symlink_to("b")
    (root / "b").symlink_to("a")

    with pytest.raises(ToolError) as caught:
        folder_or_file(Workspace(root).locate("a"))

    assert caught.value.type is ErrorType.NOT_A_FILE


def test_a_root_that_is_a_link_is_the_folder_it_leads_to(root: Path, tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(root)
    workspace = Workspace(link)

    assert workspace.locate("x") == place(root / "x", "x", inside=True)
    assert workspace.locate(f"{link}/x") == place(root / "x", "x", inside=True)


@pytest.mark.parametrize("path", ["", "a\0b", "\ud800"])
def test_a_path_that_cannot_be_is_invalid(root: Path, path: str) -> None:
    with pytest.raises(ToolError, match=r"^invalid args: path: ") as caught:
        Workspace(root).locate(path)

    assert caught.value.type is ErrorType.INVALID_TOOL_PARAMS


def test_a_name_that_is_not_text_is_found(root: Path) -> None:
    name = os.fsdecode(b"caf\xe9")
    (root / name).write_text("x")

    located = Workspace(root).locate(name)

    assert (located.path.read_text(), located.shown) == ("x", "caf\ufffd")


def test_writing_where_a_link_leads_out_is_denied(root: Path, tmp_path: Path) -> None:
    (root / "out").symlink_to(tmp_path)
    workspace = Workspace(root)

    workspace.check_write(workspace.locate("../plainly-outside"))
    with pytest.raises(ToolError) as caught:
        workspace.check_write(workspace.locate("out/x"))

    assert caught.value.type is ErrorType.PERMISSION_DENIED


def test_a_file_that_became_a_link_is_not_opened(root: Path, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("x")
    (root / "a").write_text("y")
    located = Workspace(root).locate("a")
    (root / "a").unlink()
    (root / "a").symlink_to(tmp_path / "secret")

    with pytest.raises(ToolError) as caught:
        open_regular(located)

    assert caught.value.type is ErrorType.PERMISSION_DENIED


def test_a_folder_that_became_a_link_is_not_entered(root: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "a").write_text("x")
    (root / "sub").mkdir()
    (root / "sub" / "a").write_text("y")
    located = Workspace(root).locate("sub/a")
    (root / "sub").rename(root / "was")
    (root / "sub").symlink_to(tmp_path / "elsewhere")

    with pytest.raises(ToolError) as caught:
        open_regular(located)

    assert caught.value.type is ErrorType.PERMISSION_DENIED


def test_a_descriptor_is_of_the_file(root: Path) -> None:
    (root / "a").write_text("text")

    descriptor = open_regular(Workspace(root).locate("a"))

    with os.fdopen(descriptor) as file:
        assert file.read() == "text"


def test_folders_on_the_way_are_made_when_asked(root: Path) -> None:
    os.close(open_folder(root / "a/b", create=True))

    assert (root / "a/b").is_dir()


def test_folders_are_not_made_through_a_link(root: Path, tmp_path: Path) -> None:
    (root / "out").symlink_to(tmp_path)

    with pytest.raises(OSError, match="symbolic links"):
        open_folder(root / "out/a", create=True)

    assert not (tmp_path / "a").exists()


def test_a_way_longer_than_one_call_takes_is_walked(root: Path) -> None:
    parts = ["d" * 200] * 30
    folder = os.open(root, os.O_RDONLY)
    for part in parts:
        os.mkdir(part, dir_fd=folder)
        folder = os.open(part, os.O_RDONLY, dir_fd=folder)
    os.close(os.open("a", os.O_CREAT | os.O_WRONLY, dir_fd=folder))

    opened = open_folder(root.joinpath(*parts))

    assert names_in(os.open(".", os.O_RDONLY, dir_fd=opened)) == ["a"]


def test_a_path_through_a_file_is_reported_as_such(root: Path) -> None:
    (root / "file").write_text("x")

    with pytest.raises(ToolError, match="is not a folder") as caught:
        open_regular(Workspace(root).locate("file/a"))

    assert caught.value.type is ErrorType.FILE_NOT_FOUND


@pytest.mark.parametrize("path", ["/proc/self/environ", "/proc/1/environ", "/sys/kernel/notes"])
def test_the_state_of_the_system_is_denied(root: Path, path: str) -> None:
    with pytest.raises(ToolError) as caught:
        open_regular(Workspace(root).locate(path))

    assert caught.value.type is ErrorType.PERMISSION_DENIED


def test_a_pipe_is_refused_without_waiting(root: Path) -> None:
    os.mkfifo(root / "pipe")

    with pytest.raises(ToolError, match="named pipe") as caught:
        open_regular(Workspace(root).locate("pipe"))

    assert caught.value.type is ErrorType.NOT_A_FILE


def test_a_listing_is_of_the_folder_that_was_located(root: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (root / "sub").mkdir()
    (root / "sub" / "a").touch()
    located = Workspace(root).locate("sub")

    descriptor = open_listing(located)
    (root / "sub").rename(root / "was")
    (root / "sub").symlink_to(tmp_path / "elsewhere")

    assert names_in(descriptor) == ["a"]
    with pytest.raises(ToolError) as caught:
        open_listing(located)
    assert caught.value.type is ErrorType.PERMISSION_DENIED
