"""The user's editor: which one runs, on which file, and what happens to the result."""

import asyncio
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from textual.app import App, SuspendNotSupported

from coder_tui.protocol.requests import Editable
from coder_tui.ui.external_editor import Edited, ExternalEditor, NoEditor, NotEdited, Outcome
from tests.fakes.bell import wait_for_ring
from tests.fakes.python_program import write_program

pytestmark = pytest.mark.real_time

COMMAND = Editable("command", "rm -rf build", ".sh")


class FakeApp(App[None]):
    """Records when it hands the terminal over and gets it back."""

    def __init__(self, *, can_suspend: bool = True) -> None:
        super().__init__()
        self._can_suspend = can_suspend
        self.handovers: list[str] = []

    @contextmanager
    def suspend(self) -> Iterator[None]:
        if not self._can_suspend:
            raise SuspendNotSupported("no terminal here")
        self.handovers.append("given")
        yield  # as Textual does: an exception would leave the terminal with the editor
        self.handovers.append("back")

    @contextmanager
    def batch_update(self) -> Iterator[None]:
        yield


def script(folder: Path, body: str) -> str:
    """A program that edits the file it is given."""
    code = f"import os, pathlib, sys\nfile = pathlib.Path(sys.argv[-1])\n{body}"
    return str(write_program(folder / "editor", code))


async def edit(
    tmp_path: Path, body: str, editable: Editable = COMMAND, app: FakeApp | None = None
) -> Outcome:
    tools = tmp_path / "tools"
    tools.mkdir()
    editor = ExternalEditor({"EDITOR": script(tools, body)}, tmp_path / "edits", tmp_path / "project")
    outcome = await editor.edit(app or FakeApp(), editable)
    assert list((tmp_path / "edits").iterdir()) == []
    return outcome


async def test_what_was_saved_is_what_comes_back_without_the_editors_last_newline(tmp_path: Path) -> None:
    app = FakeApp()
    body = "file.write_text(file.read_text() + ' dist\\n')"
    assert await edit(tmp_path, body, app=app) == Edited("rm -rf build dist")
    assert app.handovers == ["given", "back"]


async def test_the_file_is_private_named_for_its_kind_and_alone_in_its_folder(tmp_path: Path) -> None:
    body = (
        "mode = [oct(path.stat().st_mode & 0o777) for path in (file, file.parent)]\n"
        "file.write_text(repr([file.name, mode, os.getcwd() == str(file.parent), os.listdir()]))"
    )
    expected = ["command.sh", ["0o600", "0o700"], True, ["command.sh"]]
    assert await edit(tmp_path, body) == Edited(repr(expected))
    assert stat.S_IMODE((tmp_path / "edits").stat().st_mode) == 0o700


@pytest.mark.parametrize("text", ["a\r\nb\r\n", "hidden \u200b\x1b[2J\u202e", "lone \ud800", "a\n", "\ttab"])
async def test_the_text_reaches_the_editor_unchanged(tmp_path: Path, text: str) -> None:
    body = "file.write_bytes(file.read_bytes() + b'|')"
    assert await edit(tmp_path, body, Editable("content", text)) == Edited(f"{text}|")


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("", "Nothing was changed."),
        ("file.write_text('\\n \\n')", "The text was emptied"),
        ("file.write_text('other'); sys.exit(1)", "The editor ended with code 1"),
        ("file.unlink()", "The editor deleted the file"),
        ("file.write_bytes(b'\\xff')", "not UTF-8"),
    ],
)
async def test_an_edit_that_came_to_nothing_says_why(tmp_path: Path, body: str, reason: str) -> None:
    outcome = await edit(tmp_path, body)
    assert isinstance(outcome, NotEdited)
    assert reason in outcome.reason


async def test_an_editor_with_a_window_that_did_not_wait_gets_a_hint(tmp_path: Path) -> None:
    code = tmp_path / "code"
    code.symlink_to("/bin/true")
    editor = ExternalEditor({"EDITOR": str(code)}, tmp_path / "edits", tmp_path / "project")
    assert await editor.edit(FakeApp(), COMMAND) == NotEdited(
        "Nothing was changed. (Does $EDITOR wait? Try code --wait.)"
    )


async def test_an_editor_that_cannot_run_gives_the_terminal_back(tmp_path: Path) -> None:
    broken = tmp_path / "broken"
    broken.write_text("#!/no/such/interpreter\n")
    broken.chmod(0o755)
    app = FakeApp()
    editor = ExternalEditor({"EDITOR": str(broken)}, tmp_path / "edits", tmp_path / "project")
    assert await editor.edit(app, COMMAND) == NotEdited(
        "The editor cannot be run: No such file or directory."
    )
    assert app.handovers == ["given", "back"]
    assert list((tmp_path / "edits").iterdir()) == []


async def test_no_editor_opens_if_the_terminal_cannot_be_suspended(tmp_path: Path) -> None:
    app = FakeApp(can_suspend=False)
    editor = ExternalEditor({"EDITOR": "/bin/cat"}, tmp_path / "edits", tmp_path / "project")
    assert await editor.edit(app, COMMAND) == NoEditor("This terminal cannot be given to an editor.")
    assert not (tmp_path / "edits").exists()


async def test_cancelling_gives_the_terminal_back_and_deletes_the_file(tmp_path: Path) -> None:
    tools = tmp_path / "tools"
    tools.mkdir()
    started = tmp_path / "started"
    os.mkfifo(started)
    body = f"open({str(started)!r}, 'w').write('x')\nimport signal; signal.pause()"
    app = FakeApp()
    editor = ExternalEditor({"EDITOR": script(tools, body)}, tmp_path / "edits", tmp_path / "project")
    task = asyncio.create_task(editor.edit(app, COMMAND))
    await wait_for_ring(started)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert app.handovers == ["given", "back"]
    assert list((tmp_path / "edits").iterdir()) == []


async def test_leftovers_of_a_killed_program_are_removed(tmp_path: Path) -> None:
    dead = await asyncio.create_subprocess_exec("true")
    await dead.wait()
    left = tmp_path / "edits" / f"edit-{dead.pid}-abc"
    left.mkdir(parents=True)
    (left / "command.sh").write_text("secret")
    await edit(tmp_path, "")


def test_visual_goes_before_editor_and_may_have_arguments(tmp_path: Path) -> None:
    environ = {"VISUAL": "/bin/cat -m 'my editor'", "EDITOR": "nano", "PATH": os.environ["PATH"]}
    editor = ExternalEditor(environ, None, tmp_path)
    assert editor.command() == ["/bin/cat", "-m", "my editor"]


def test_without_a_setting_a_usual_editor_is_used_and_none_from_the_workspace(tmp_path: Path) -> None:
    inside, outside = tmp_path / "project" / "bin", tmp_path / "bin"
    for folder in (inside, outside):
        folder.mkdir(parents=True)
        for name in ("vi", "nano") if folder is inside else ("vi",):
            (folder / name).write_text("")
            (folder / name).chmod(0o755)
    environ = {"PATH": f"{inside}:.::{outside}"}
    assert ExternalEditor(environ, None, tmp_path / "project").command() == [str(outside / "vi")]


@pytest.mark.parametrize(
    ("environ", "reason"),
    [
        ({}, "No editor found: set $EDITOR to use yours."),
        ({"EDITOR": "no-such-editor"}, "$EDITOR names a program that is not there."),
        ({"VISUAL": "vim 'oops"}, "$VISUAL cannot be read: a quote is not closed."),
    ],
)
def test_a_missing_editor_is_named(tmp_path: Path, environ: dict[str, str], reason: str) -> None:
    editor = ExternalEditor({**environ, "PATH": str(tmp_path)}, None, tmp_path / "project")
    assert editor.command() == NoEditor(reason)


async def open_at(tmp_path: Path, body: str, name: str, app: FakeApp) -> str:
    tools, project = tmp_path / "tools", tmp_path / "project"
    tools.mkdir()
    project.mkdir()
    (project / "calc.py").write_text("x = 1\n")
    editor = ExternalEditor({"EDITOR": script(tools, body)}, tmp_path / "edits", project)
    return await editor.open_at(app, project / name, 7, 3)


async def test_a_file_is_opened_itself_at_its_line_and_not_from_its_own_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = FakeApp()
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    body = "file.write_text(repr([sys.argv[1], file.name, os.getcwd()]))"
    assert await open_at(tmp_path, body, "calc.py", app) == ""
    assert (tmp_path / "project" / "calc.py").read_text() == repr(["+7", "calc.py", str(home)])
    assert app.handovers == ["given", "back"]


@pytest.mark.parametrize(
    ("body", "name", "can_suspend", "expected"),
    [
        ("", "gone.py", True, "gone.py is no longer there."),
        ("sys.exit(3)", "calc.py", True, "The editor ended with code 3."),
        ("", "calc.py", False, "This terminal cannot be given to an editor."),
    ],
)
async def test_a_place_that_could_not_be_opened_is_reported(
    tmp_path: Path, body: str, name: str, can_suspend: bool, expected: str
) -> None:
    assert await open_at(tmp_path, body, name, FakeApp(can_suspend=can_suspend)) == expected
