"""Opens text and files in the user's editor; the screen hands the terminal over while it runs."""

import asyncio
import os
import shlex
import shutil
import signal
import tempfile
from collections.abc import Coroutine, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any, TypeVar

from textual.app import App, SuspendNotSupported

from coder_tui.protocol.requests import Editable
from coder_tui.text.safe_text import safe_line

FALLBACKS = ("nano", "vi")
GRACE = 2.0
"""Seconds that an editor has to end when it is stopped."""
_PREFIX = "edit-"


@dataclass(frozen=True, slots=True)
class Edited:
    text: str


@dataclass(frozen=True, slots=True)
class NotEdited:
    """`reason` is a sentence for the user."""

    reason: str


@dataclass(frozen=True, slots=True)
class NoEditor:
    """No editor can be run here; the text has to be changed in another way."""

    reason: str


Outcome = Edited | NotEdited | NoEditor
ResultT = TypeVar("ResultT", bound=Outcome)


WINDOWED = frozenset({"code", "code-insiders", "codium", "cursor", "subl", "zed", "gedit", "kate"})
"""Editors that return at once unless an option makes them wait."""
WAITING = "code --wait"
GOTO = frozenset({"code", "code-insiders", "codium", "cursor"})
SUFFIXED = frozenset({"subl", "zed", "hx", "helix"})
"""Editors that take a place as part of the file's name."""
UNCHANGED = NotEdited("Nothing was changed.")


class ExternalEditor:
    """`folder` holds the file while it is edited, `workspace` is where no program is run from."""

    def __init__(self, environ: Mapping[str, str], folder: Path | None, workspace: Path) -> None:
        self._environ = environ
        self._folder = folder
        self._workspace = workspace

    def command(self) -> list[str] | NoEditor:
        """Return `$VISUAL`, else `$EDITOR`, else what most systems have; the program by its absolute path."""
        for name in ("VISUAL", "EDITOR"):
            if value := self._environ.get(name, "").strip():
                return self._configured(name, value)
        for program in FALLBACKS:
            if path := self._find(program):
                return [path]
        return NoEditor("No editor found: set $EDITOR to use yours.")

    async def edit(self, app: App[Any], editable: Editable) -> Outcome:
        command = self.command()
        if isinstance(command, NoEditor):
            return command
        return await self._with_terminal(app, self._edited(command, editable))

    async def open_at(self, app: App[Any], file: Path, line: int, column: int) -> str:
        """Open a file at a place; return a sentence if that failed, else nothing."""
        command = self.command()
        if isinstance(command, NoEditor):
            return command.reason
        if not await asyncio.to_thread(file.is_file):
            return f"{safe_line(file.name)} is no longer there."
        opened = self._opened([*command, *place_words(command[0], file, line, column)])
        return (await self._with_terminal(app, opened)).reason

    async def _opened(self, command: list[str]) -> NotEdited:
        try:
            # From home: an editor must not take settings from the workspace because it is run there.
            code = await _run_editor(command, Path.home(), self._environ)
        except OSError as error:
            return NotEdited(f"The editor cannot be run: {error.strerror or error}.")
        return NotEdited(f"The editor ended with code {code}." if code else "")

    async def _with_terminal(
        self, app: App[Any], work: Coroutine[None, None, ResultT]
    ) -> ResultT | NotEdited | NoEditor:
        cancelled: asyncio.CancelledError | None = None
        outcome: ResultT | NotEdited = NotEdited("The editor was stopped.")
        try:
            # Without painting: the loop goes on, so that other agents and the model's stream do not stall.
            with app.batch_update(), _ignoring_interrupts(), app.suspend():
                try:
                    outcome = await work
                except asyncio.CancelledError as error:
                    cancelled = error  # Textual does not resume the terminal after an exception
        except SuspendNotSupported:
            work.close()
            return NoEditor("This terminal cannot be given to an editor.")
        if cancelled is not None:
            raise cancelled
        return outcome

    def _configured(self, name: str, value: str) -> list[str] | NoEditor:
        try:
            words = shlex.split(value)
        except ValueError:
            return NoEditor(f"${name} cannot be read: a quote is not closed.")
        path = self._find(words[0]) if words else None
        return [path, *words[1:]] if path else NoEditor(f"${name} names a program that is not there.")

    def _find(self, program: str) -> str | None:
        workspace = self._workspace.resolve()
        folders = [
            folder
            for folder in self._environ.get("PATH", os.defpath).split(os.pathsep)
            if Path(folder).is_absolute() and not Path(folder).resolve().is_relative_to(workspace)
        ]
        name = str(Path(program).expanduser()) if program.startswith("~") else program
        found = shutil.which(name, path=os.pathsep.join(folders))
        return found if found and Path(found).is_absolute() else None

    async def _edited(self, command: list[str], editable: Editable) -> Outcome:
        try:
            with _private_file(editable, self._folder) as file:
                # In the private folder: an editor must not find settings of the workspace next to the file.
                code = await _run_editor([*command, str(file)], file.parent, self._environ)
                outcome = _outcome(editable.text, code, file)
                if outcome == UNCHANGED and Path(command[0]).name in WINDOWED:
                    return NotEdited(f"{UNCHANGED.reason} (Does $EDITOR wait? Try {WAITING}.)")
                return outcome
        except OSError as error:
            return NotEdited(f"The editor cannot be run: {error.strerror or error}.")


def place_words(program: str, file: Path, line: int, column: int) -> list[str]:
    """Return the arguments that open a file at a place; most editors know `+line`."""
    name = Path(program).name
    if name in GOTO:
        return ["--goto", f"{file}:{line}:{column}"]
    if name in SUFFIXED:
        return [f"{file}:{line}:{column}"]
    return [f"+{line}", str(file)]


async def _run_editor(command: list[str], folder: Path, environ: Mapping[str, str]) -> int:
    process = await asyncio.create_subprocess_exec(*command, cwd=folder, env=dict(environ))
    try:
        return await process.wait()
    except asyncio.CancelledError:
        process.terminate()
        try:
            async with asyncio.timeout(GRACE):
                await process.wait()
        except TimeoutError:
            process.kill()
            await process.wait()
        raise


@contextmanager
def _private_file(editable: Editable, folder: Path | None) -> Iterator[Path]:
    """Provide a file that nobody else can read, then delete it, with leftovers of killed programs."""
    if folder is not None:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        _sweep(folder)
    private = Path(tempfile.mkdtemp(prefix=f"{_PREFIX}{os.getpid()}-", dir=folder))
    try:
        file = private / f"{editable.field}{editable.suffix}".replace(os.sep, "_")
        file.touch(mode=0o600)
        file.write_bytes(editable.text.encode("utf-8", "surrogatepass"))
        yield file
    finally:
        shutil.rmtree(private, ignore_errors=True)


def remove_own_edits(folder: Path) -> None:
    """Delete our own files if the program ends while an editor is open."""
    for own in folder.glob(f"{_PREFIX}{os.getpid()}-*"):
        shutil.rmtree(own, ignore_errors=True)


def _sweep(folder: Path) -> None:
    for left in folder.glob(f"{_PREFIX}*-*"):
        pid = left.name.removeprefix(_PREFIX).partition("-")[0]
        if pid.isdigit() and not is_alive(int(pid)):
            shutil.rmtree(left, ignore_errors=True)


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


@contextmanager
def _ignoring_interrupts() -> Iterator[None]:
    """Ctrl+C in the editor also reaches this process; a handler, unlike ignoring, is not inherited."""

    def nothing(number: int, frame: FrameType | None) -> None:
        return

    before = signal.signal(signal.SIGINT, nothing)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _outcome(before: str, code: int, file: Path) -> Outcome:
    if code:
        return NotEdited(f"The editor ended with code {code}: nothing is changed.")
    try:
        after = file.read_bytes().decode("utf-8", "surrogatepass")
    except FileNotFoundError:
        return NotEdited("The editor deleted the file: nothing is changed.")
    except UnicodeDecodeError:
        return NotEdited("What the editor saved is not UTF-8: nothing is changed.")
    if after.endswith("\n") and not before.endswith("\n"):
        after = after.removesuffix("\n")  # most editors end a file with one
    if after == before:
        return UNCHANGED
    if not after.strip():
        return NotEdited("The text was emptied: nothing is changed. To refuse the call, deny it.")
    return Edited(after)
