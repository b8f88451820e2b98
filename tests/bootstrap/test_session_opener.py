"""What the screen's core gets ready behind the first paint."""

from dataclasses import replace
from pathlib import Path

import pytest

from coder_tui.agent.diagnostics.lookup import CodeLookup
from coder_tui.agent.turn.model_request import ModelChoice
from coder_tui.bootstrap.invocation import Invocation
from coder_tui.bootstrap.session_factory import SessionFactory
from coder_tui.bootstrap.session_library import SessionOpener
from coder_tui.config.sources import find_sources
from coder_tui.protocol.access import Mode
from coder_tui.storage.store import Store
from tests.fakes.real_tools import setup_in
from tests.fakes.scripted_model import ScriptedModel


class Warmed(CodeLookup):
    """Counts how often servers were to start."""

    def __init__(self) -> None:
        self.count = 0

    async def warm(self) -> None:
        self.count += 1


@pytest.mark.parametrize(("is_scratch", "count"), [(False, 1), (True, 0)])
async def test_language_servers_start_with_a_session_in_a_users_own_folder(
    tmp_path: Path, is_scratch: bool, count: int
) -> None:
    project = tmp_path / "project"
    project.mkdir()
    setup = replace(setup_in(tmp_path, project, Mode.ASK), is_scratch=is_scratch)
    store = await Store.open(setup.directories.database)
    core = SessionFactory(setup, store, ScriptedModel(()), ModelChoice("scripted"))
    session = await core.new_session()
    session.lookup = warmed = Warmed()
    sources = find_sources(setup.directories, project, {}, {})
    screen = SessionOpener(Invocation(project, setup.directories, sources, None, ()), is_demo=False)
    await screen._describe(core, session)
    await session.close()
    await core.close()
    assert warmed.count == count
