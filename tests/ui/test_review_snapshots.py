"""Pictures of a review half done, and of a change with a refused hunk; look at them when they change."""

from pathlib import Path

import pytest
from textual.pilot import Pilot

from coder_tui.protocol.events import RequestOpened
from coder_tui.ui.app import CoderApp
from coder_tui.ui.screens.review import ReviewScreen
from coder_tui.workspace.changed_files import ChangedFile
from tests.fakes.fake_session import FakeSession
from tests.fakes.screens import Stage, launch_for
from tests.ui.diff_app import NEW, OLD
from tests.ui.test_approval_hunks import EDIT
from tests.ui.test_snapshots import SnapCompare

ROOT = Path("/srv/project")
FILES = (
    ChangedFile(ROOT / "README.md", 1, b"# Calc\n\nIt adds.\n", b"# Calc\n\nIt adds and divides.\n"),
    ChangedFile(ROOT / "calc.py", 1, OLD.encode(), NEW.encode()),
    ChangedFile(ROOT / "tests/test_calc.py", 1, None, b"from calc import div\n"),
)
SIZES = pytest.mark.parametrize("size", [(80, 24), (140, 40)], ids=["80x24", "140x40"])


@SIZES
def test_a_review_looks_right(snap_compare: SnapCompare, size: tuple[int, int]) -> None:
    session = FakeSession(ROOT)
    session.files = FILES
    app = CoderApp(launch_for(session))

    async def ready(pilot: Pilot[int]) -> None:
        s = Stage(app, pilot, session)
        await s.until(lambda: app.session_screen.conversation.session is not None)
        app.session_screen.action_review()
        await s.until(lambda: isinstance(app.screen, ReviewScreen) and app.screen.is_loaded)
        await pilot.press("n", "y", "c", *"tabs?", "enter")
        review = app.screen
        assert isinstance(review, ReviewScreen)
        await s.until(lambda: "you: tabs?" in s.drawn() and not review.diff.is_colouring)

    assert snap_compare(app, terminal_size=size, run_before=ready)


@SIZES
def test_a_refused_hunk_looks_right(snap_compare: SnapCompare, size: tuple[int, int]) -> None:
    session = FakeSession(ROOT)
    app = CoderApp(launch_for(session))

    async def ready(pilot: Pilot[int]) -> None:
        s = Stage(app, pilot, session)
        await s.until(lambda: app.session_screen.conversation.session is not None)
        session.emit(RequestOpened(EDIT))
        await s.ready_dialog()
        await pilot.press("right_square_bracket", "x")
        await s.ready_dialog()
        await s.until(lambda: "hunks refused" in s.drawn() and "ready" in s.drawn())

    assert snap_compare(app, terminal_size=size, run_before=ready)
