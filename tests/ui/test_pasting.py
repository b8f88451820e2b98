"""Ctrl+V: a picture from the desktop's clipboard becomes a chip, text is pasted, nothing is said so."""

import struct
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from coder_tui.ui.clipboard import Clipboard, picture_commands, text_commands
from tests.fakes.fake_session import FakeSession
from tests.fakes.screens import Stage, launch_for, stage
from tests.ui.test_clipboard import program

pytestmark = pytest.mark.real_time

PNG = b"\x89PNG\r\n\x1a\n" + (13).to_bytes(4, "big") + b"IHDR" + struct.pack(">II", 640, 480) + bytes(2000)
ONLY_TEXT = 'case "$*" in *image*) exit 1;; esac; printf "from the clipboard"'


def reader(folder: Path, **environ: str) -> Clipboard:
    return Clipboard(folder / "work", {"PATH": f"{folder / 'bin'}:/usr/bin:/bin", **environ}, "linux")


async def test_the_picture_comes_whole(tmp_path: Path) -> None:
    (tmp_path / "picture").write_bytes(PNG)
    program(tmp_path / "bin", "wl-paste", f"exec /bin/cat {tmp_path / 'picture'}")
    assert await reader(tmp_path, WAYLAND_DISPLAY="w").picture() == PNG


async def test_a_clipboard_without_a_picture_has_text(tmp_path: Path) -> None:
    program(tmp_path / "bin", "xclip", ONLY_TEXT)
    clipboard = reader(tmp_path, DISPLAY=":0")
    assert (await clipboard.picture(), await clipboard.text()) == (b"", "from the clipboard")


async def test_a_program_that_prints_without_end_is_stopped(tmp_path: Path) -> None:
    program(tmp_path / "bin", "wl-paste", "exec /usr/bin/yes")
    assert await reader(tmp_path, WAYLAND_DISPLAY="w").text() == ""


async def test_a_text_that_is_too_long_for_a_message_still_comes_whole(tmp_path: Path) -> None:
    program(tmp_path / "bin", "wl-paste", "exec /usr/bin/head -c 10000000 /dev/zero")
    assert len(await reader(tmp_path, WAYLAND_DISPLAY="w").text()) == 10_000_000


async def test_no_program_of_the_workspace_is_run(tmp_path: Path) -> None:
    program(tmp_path / "work", "wl-paste", f"touch {tmp_path / 'ran'}")
    environ = {"PATH": f"{tmp_path / 'work'}:.", "WAYLAND_DISPLAY": "w"}
    assert await Clipboard(tmp_path / "work", environ, "linux").text() == ""
    assert not (tmp_path / "ran").exists()


def test_over_ssh_the_far_machines_clipboard_is_not_used() -> None:
    remote = {"SSH_TTY": "/dev/pts/1", "DISPLAY": ":0", "WAYLAND_DISPLAY": "w"}
    assert [*picture_commands(remote, "darwin"), *text_commands(remote, "darwin")] == []
    assert [command[0] for command in picture_commands({}, "darwin")] == ["pngpaste"]


@asynccontextmanager
async def desktop(folder: Path, monkeypatch: pytest.MonkeyPatch, model: str = "") -> AsyncIterator[Stage]:
    monkeypatch.setenv("PATH", f"{folder / 'bin'}:/usr/bin:/bin")
    monkeypatch.setenv("WAYLAND_DISPLAY", "w")
    for name in ("SSH_TTY", "SSH_CONNECTION", "DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    session = FakeSession(folder / "work")
    if model:
        session.model = model
    launch = replace(launch_for(session), pictures=folder / "pictures" / "1")
    async with stage(session, launch=launch) as s:
        yield s


async def test_a_picture_becomes_a_chip_that_names_it_when_sent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "picture").write_bytes(PNG)
    program(tmp_path / "bin", "wl-paste", f"exec /bin/cat {tmp_path / 'picture'}")
    async with desktop(tmp_path, monkeypatch, "anthropic/claude") as s:
        await s.pilot.press(*"see", "space", "ctrl+v", "!")
        await s.until(lambda: s.draft == "see [image pasted-1.png 640×480, 2.0 kB]!")
        await s.pilot.press("enter")
        kept = tmp_path / "pictures" / "1" / "pasted-1.png"
        await s.until(lambda: s.session.submitted == [f"see @{kept}!"])
        assert kept.read_bytes() == PNG


async def test_a_model_that_does_not_see_is_named_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "picture").write_bytes(PNG)
    program(tmp_path / "bin", "wl-paste", f"exec /bin/cat {tmp_path / 'picture'}")
    async with desktop(tmp_path, monkeypatch, "openai/gpt-3.5") as s:
        await s.pilot.press("ctrl+v")
        await s.shows("openai/gpt-3.5 does not see pictures.")


async def test_text_is_pasted_as_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program(tmp_path / "bin", "wl-paste", ONLY_TEXT)
    async with desktop(tmp_path, monkeypatch) as s:
        await s.pilot.press("ctrl+v", "!")
        await s.until(lambda: s.draft == "from the clipboard!")


async def test_an_empty_clipboard_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program(tmp_path / "bin", "wl-paste", "exit 1")
    async with desktop(tmp_path, monkeypatch) as s:
        await s.pilot.press("ctrl+v")
        await s.shows("Nothing to paste was found")
        assert s.draft == ""
