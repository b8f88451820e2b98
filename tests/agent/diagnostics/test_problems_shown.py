"""What the problems pane gets when files change without edits, move or disappear."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from coder_tui.protocol.access import Mode
from coder_tui.protocol.events import DiagnosticsAwaited, DiagnosticsChanged, Event
from coder_tui.protocol.requests import ApprovalReply, Decision
from tests.fakes.family import DONE, Home, calls, home
from tests.fakes.lsp_settings import fake_server_settings, write_settings
from tests.fakes.scripted_model import Say

ALLOW = ApprovalReply(Decision.ALLOW_ONCE)
TURN: tuple[Any, ...] = (calls("edit", path="a.py", old_string="fine", new_string="bad"),)
RENAME = """\
*** Begin Patch
*** Update File: a.py
*** Move to: b.py
@@
-odd
+odd, still
*** End Patch
"""


class Pane:
    """The lines of the problems by file, as the screen has them; `awaited` are not known yet."""

    def __init__(self) -> None:
        self.lines: dict[str, list[int]] = {}
        self.awaited: tuple[str, ...] = ()
        self._changed = asyncio.Event()

    def hear(self, event: Event) -> None:
        if isinstance(event, DiagnosticsChanged):
            self.lines[event.path] = [item.line for item in event.diagnostics]
        elif isinstance(event, DiagnosticsAwaited):
            self.awaited = event.paths
        self._changed.set()

    async def until(self, **lines: Sequence[int]) -> None:
        """Until the modules of these names have problems there, and nothing is awaited."""
        wanted = {f"{name}.py": list(numbers) for name, numbers in lines.items()}
        while self.awaited or any(self.lines.get(name, []) != numbers for name, numbers in wanted.items()):
            self._changed.clear()
            await asyncio.wait_for(self._changed.wait(), 20)


@asynccontextmanager
async def shown(tmp_path: Path, behaviour: str, *says: Say) -> AsyncIterator[tuple[Home, Pane]]:
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "a.py").write_text("fine\nodd\n")
    write_settings(tmp_path / "config", fake_server_settings(behaviour))
    async with home(tmp_path, {"go": [*TURN, *says, DONE]}, mode=Mode.EDITS) as here:
        here.answers = [ALLOW] * len(says)
        pane = Pane()
        here.session.subscribe(pane.hear)
        await here.session.submit("go")
        yield here, pane


by_any_server = pytest.mark.parametrize("behaviour", ["", "pull"], ids=["pushed", "pulled"])


@by_any_server
async def test_an_undo_and_a_redo_are_shown(tmp_path: Path, behaviour: str) -> None:
    async with shown(tmp_path, behaviour) as (here, pane):
        await pane.until(a=(1, 2))
        await here.session.turns.undo()
        await pane.until(a=(2,))
        await here.session.turns.redo()
        await pane.until(a=(1, 2))


@by_any_server
async def test_what_a_command_breaks_or_fixes_is_shown(tmp_path: Path, behaviour: str) -> None:
    command = calls("bash", command="printf 'fine\\nfine\\nodd\\nbad\\n' > a.py")
    async with shown(tmp_path, behaviour, command) as (_, pane):
        await pane.until(a=(3, 4))


@by_any_server
async def test_a_file_that_a_command_deletes_leaves_the_pane(tmp_path: Path, behaviour: str) -> None:
    async with shown(tmp_path, behaviour, calls("bash", command="rm a.py")) as (_, pane):
        await pane.until(a=())


@by_any_server
async def test_a_command_that_moves_a_file_moves_its_problems(tmp_path: Path, behaviour: str) -> None:
    async with shown(tmp_path, behaviour, calls("bash", command="mv a.py b.py")) as (_, pane):
        await pane.until(a=(), b=(1, 2))


@by_any_server
async def test_a_patch_that_moves_a_file_moves_its_problems(tmp_path: Path, behaviour: str) -> None:
    async with shown(tmp_path, behaviour, calls("patch", patch=RENAME)) as (here, pane):
        await pane.until(a=(), b=(1, 2))
        await here.session.turns.undo()
        await pane.until(a=(2,), b=())
