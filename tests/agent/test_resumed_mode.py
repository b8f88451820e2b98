"""Which mode a session goes on in."""

from dataclasses import replace
from pathlib import Path

import pytest

from coder_tui.agent.turn.model_request import ModelChoice
from coder_tui.bootstrap.session_factory import SessionFactory
from coder_tui.protocol.access import Mode
from coder_tui.protocol.events import Notice
from coder_tui.storage.store import Store
from tests.fakes.real_tools import setup_in
from tests.fakes.scripted_model import ScriptedModel


async def resumed(tmp_path: Path, before: Mode, given: Mode | None = None) -> tuple[Mode, list[str]]:
    """The mode and the notices of a session that was left in mode `before`."""
    project = tmp_path / "project"
    project.mkdir()
    setup = setup_in(tmp_path, project, before)
    store = await Store.open(setup.directories.database)
    core = SessionFactory(setup, store, ScriptedModel(()), ModelChoice("scripted"))
    left = await core.new_session()
    await left.close()
    later = replace(setup, mode=given or Mode.ASK, is_mode_given=given is not None)
    session = await replace(core, setup=later).resume(left.id)
    notices = [event.text for event in session.history() if isinstance(event, Notice)]
    mode = session.mode
    await session.close()
    await core.close()
    return mode, notices


@pytest.mark.parametrize("mode", [Mode.ASK, Mode.EDITS, Mode.PLAN])
async def test_a_session_goes_on_in_its_mode(tmp_path: Path, mode: Mode) -> None:
    assert await resumed(tmp_path, mode) == (mode, [])


async def test_mode_auto_is_not_taken_up_again_unasked(tmp_path: Path) -> None:
    mode, notices = await resumed(tmp_path, Mode.AUTO)
    assert (mode, notices) == (Mode.ASK, ["This session ran in mode auto; it resumes in mode ask."])


async def test_a_mode_that_is_given_holds(tmp_path: Path) -> None:
    assert await resumed(tmp_path, Mode.AUTO, Mode.AUTO) == (Mode.AUTO, [])
