"""Copying: a program that confirms it, else a request to the terminal, and honest words about both."""

import base64
from pathlib import Path

import pytest

from coder_tui.ui.clipboard import LONGEST_SEQUENCE, Clipboard, native_commands, osc52

pytestmark = pytest.mark.real_time


def program(folder: Path, name: str, script: str) -> None:
    folder.mkdir(exist_ok=True)
    path = folder / name
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)


def encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


async def copied(tmp_path: Path, text: str, **environ: str) -> tuple[str, list[str]]:
    written: list[str] = []
    path = f"{tmp_path / 'bin'}:/usr/bin:/bin"
    clipboard = Clipboard(tmp_path / "work", {"PATH": path, **environ}, "linux")
    return await clipboard.copy(text, written.append), written


async def test_a_program_of_the_desktop_is_used_first_and_its_success_is_reported(tmp_path: Path) -> None:
    program(tmp_path / "bin", "wl-copy", f"exec /bin/cat > {tmp_path / 'got'}")
    words, written = await copied(tmp_path, "one\ntwo\n", WAYLAND_DISPLAY="wayland-0")
    assert (words, written) == ("Copied 2 lines.", [])
    assert (tmp_path / "got").read_text() == "one\ntwo\n"


async def test_a_program_that_fails_leaves_it_to_the_terminal(tmp_path: Path) -> None:
    program(tmp_path / "bin", "xclip", "exit 1")
    words, written = await copied(tmp_path, "word", DISPLAY=":0")
    assert words == "Sent 4 characters to the clipboard."
    assert written == [f"\x1b]52;c;{encoded('word')}\a"]


async def test_no_program_of_the_workspace_is_run(tmp_path: Path) -> None:
    program(tmp_path / "work", "wl-copy", f"touch {tmp_path / 'ran'}")
    path = f"{tmp_path / 'work'}:work:."
    words, written = await copied(tmp_path, "word", WAYLAND_DISPLAY="w", PATH=path)
    assert words.startswith("Sent")
    assert len(written) == 1
    assert not (tmp_path / "ran").exists()


def test_inside_of_tmux_it_is_also_handed_through() -> None:
    plain = f"\x1b]52;c;{encoded('x')}\a"
    assert osc52("x", {"TMUX": "/tmp/t,1,0"}) == f"{plain}\x1bPtmux;\x1b{plain}\x1b\\"


async def test_a_text_that_terminals_would_cut_is_not_reported_as_copied(tmp_path: Path) -> None:
    words, _ = await copied(tmp_path, "x" * (LONGEST_SEQUENCE + 1))
    assert words == "Sent 100,001 characters to the clipboard; the terminal may cut off so much."


def test_over_ssh_the_far_machines_clipboard_is_not_used() -> None:
    remote = {"SSH_CONNECTION": "1", "WAYLAND_DISPLAY": "w"}
    assert list(native_commands(remote, "darwin")) == []
    assert [command[0] for command in native_commands({}, "darwin")] == ["pbcopy"]
    assert [command[0] for command in native_commands({"DISPLAY": ":0"}, "linux")] == ["xclip", "xsel"]
