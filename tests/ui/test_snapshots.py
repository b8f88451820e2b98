"""Pictures of the main screens; look at them when they change."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Protocol

import pytest
from textual.pilot import Pilot

from coder_tui.protocol.access import ToolKind
from coder_tui.protocol.diagnostics import Diagnostic, Severity
from coder_tui.protocol.display import DiffBlock, TextBlock
from coder_tui.protocol.events import (
    DiagnosticsChanged,
    Event,
    FilesChanged,
    MessageFinished,
    ModelChanged,
    RequestOpened,
    TodosChanged,
    ToolFinished,
    UsageUpdated,
    UserMessageAdded,
)
from coder_tui.protocol.outcomes import Outcome
from coder_tui.protocol.requests import ApprovalRequest, Grant
from coder_tui.protocol.todos import TodoItem, TodoPriority, TodoStatus
from coder_tui.protocol.usage import Usage
from coder_tui.ui.app import CoderApp
from coder_tui.ui.panes import PaneName
from coder_tui.workspace.changed_files import ChangedFile
from tests.fakes.fake_session import FakeSession
from tests.fakes.screens import Stage, launch_for

DIFF = """--- a/calc.py
+++ b/calc.py
@@ -1,4 +1,6 @@
 import math

 def div(a, b):
-    return a / b
+    if b == 0:
+        raise ValueError("cannot divide by zero")
+    return a / b
"""
ANSWER = "I will guard the divisor, then run the tests.\n\n- first `calc.py`\n- then **the tests**\n"


def todo(number: int, content: str, status: TodoStatus) -> TodoItem:
    return TodoItem(str(number), content, status, TodoPriority.MEDIUM)


EARLIER: tuple[Event, ...] = (
    ModelChanged("anthropic/some-model-4", 200_000),
    UserMessageAdded("u1", "make div() safe and add a test"),
    MessageFinished("m1", ANSWER, ""),
    ToolFinished("c1", "read", Outcome.OK, "calc.py", TextBlock("import math\n"), 20),
    ToolFinished("c2", "edit", Outcome.OK, "calc.py +3 -1", DiffBlock("calc.py", DIFF, 3, 1), 100),
    ToolFinished("c3", "bash", Outcome.DENIED, "rm -rf build", TextBlock("use make clean"), 0),
    TodosChanged(
        (
            todo(1, "guard the divisor", TodoStatus.COMPLETED),
            todo(2, "add a test for zero, negative and Decimal divisors", TodoStatus.IN_PROGRESS),
            todo(3, "run the whole suite", TodoStatus.PENDING),
        )
    ),
    FilesChanged(("calc.py",)),
    DiagnosticsChanged(
        "calc.py",
        (
            Diagnostic("calc.py", 1, 8, Severity.WARNING, "math is imported but not used", "F401", "ruff"),
            Diagnostic("calc.py", 6, 15, Severity.ERROR, "Name c is not defined", "F821", "ruff", True),
        ),
    ),
    UsageUpdated(Usage(1000, 200), Usage(80_000, 2_200, cost=0.374), 144_000, 200_000),
)
BEFORE = b"import math\n\n\ndef div(a, b):\n    return a / b\n"
AFTER = b"import math\n\n\ndef div(a, b):\n    if b == 0:\n        raise ValueError(b)\n    return a / b\n"
FILES = (
    ChangedFile(Path("/srv/project/calc.py"), 1, BEFORE, AFTER),
    ChangedFile(Path("/srv/project/tests/test_calc.py"), 1, None, b"from calc import div\n"),
)
EDIT = ApprovalRequest(
    id="r1",
    call_id="c4",
    tool="edit",
    kind=ToolKind.EDIT,
    title="Allow edit?  calc.py  +3 -1",
    preview=DiffBlock("calc.py", DIFF, 3, 1),
    facts=("inside the workspace",),
    grants=(Grant("edit", ("calc.py",), "this file"), Grant("edit", ("*",), "every edit here")),
    is_undoable=True,
    rule="edit * = ask (defaults)",
)


class SnapCompare(Protocol):
    def __call__(
        self,
        app: CoderApp,
        *,
        terminal_size: tuple[int, int],
        run_before: Callable[[Pilot[int]], Awaitable[None]],
    ) -> bool: ...


def prepared(
    *requests: ApprovalRequest, keys: tuple[str, ...] = ()
) -> tuple[CoderApp, Callable[[Pilot[int]], Awaitable[None]]]:
    session = FakeSession(Path("/srv/project"), EARLIER)
    session.files = FILES
    app = CoderApp(launch_for(session))

    async def ready(pilot: Pilot[int]) -> None:
        s = Stage(app, pilot, session)
        await s.until(lambda: app.session_screen.conversation.session is not None)
        session.emit(*map(RequestOpened, requests))
        if requests:
            await s.ready_dialog()
            await s.until(lambda: "ready" in s.drawn())
        else:
            await s.until(
                lambda: "denied" in s.drawn() and bool(app.session_screen.dock.count(PaneName.CHANGES))
            )
            await pilot.press(*keys)
            await s.until(lambda: not app.session_screen.dock.changes.diff.is_colouring)

    return app, ready


@pytest.mark.parametrize("size", [(80, 24), (140, 40)], ids=["80x24", "140x40"])
def test_the_session_looks_right(snap_compare: SnapCompare, size: tuple[int, int]) -> None:
    app, ready = prepared()
    assert snap_compare(app, terminal_size=size, run_before=ready)


@pytest.mark.parametrize("key", ["f3", "f5"])
def test_a_narrow_pane_looks_right(snap_compare: SnapCompare, key: str) -> None:
    app, ready = prepared(keys=(key,))
    assert snap_compare(app, terminal_size=(80, 24), run_before=ready)


@pytest.mark.parametrize("size", [(80, 24), (140, 40)], ids=["80x24", "140x40"])
def test_an_approval_looks_right(snap_compare: SnapCompare, size: tuple[int, int]) -> None:
    app, ready = prepared(EDIT)
    assert snap_compare(app, terminal_size=size, run_before=ready)
