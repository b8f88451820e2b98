"""Pictures of browsing: every state of a call, Markdown, a search, and a block read in full."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Protocol

import pytest
from textual.pilot import Pilot

from coder_tui.protocol.display import DiffBlock, TerminalBlock, TextBlock
from coder_tui.protocol.events import Event, MessageFinished, ToolFinished, UserMessageAdded
from coder_tui.protocol.outcomes import Outcome
from coder_tui.ui.app import CoderApp
from tests.fakes.fake_session import FakeSession
from tests.fakes.screens import Stage, launch_for

REPLY = """# Safe division

I will guard the **divisor**, see [the docs](https://docs.python.org/3/), then run `pytest`:

1. change `div()`
   - raise an error
   - keep the message
2. run the suite

> Division by zero should be an error.

```python
def div(a: float, b: float) -> float:
    if b == 0:
        raise ZeroDivisionError("zero")  # guarded
    return a / b
```

| tool | calls |  time |
|:-----|:-----:|------:|
| edit |   2   |  0.1s |
| bash |   1   | 13.1s |
"""
DIFF = "--- a/calc.py\n+++ b/calc.py\n@@ -1,2 +1,2 @@\n def div(a, b):\n-    return a/b\n+    return a / b\n"
OUTPUT = "\n".join(
    [*(f"test_{n} ok" for n in range(20)), "E   assert 1 == 2", *(f"more {n}" for n in range(12))]
)
EARLIER: tuple[Event, ...] = (
    UserMessageAdded("u1", "make div() safe and add a test"),
    MessageFinished("m1", REPLY, "The divisor may be zero; look at the callers first."),
    ToolFinished("c1", "read", Outcome.OK, "calc.py", TextBlock("a\nb"), 12),
    ToolFinished("c2", "edit", Outcome.OK, "calc.py +1 -1", DiffBlock("calc.py", DIFF, 1, 1), 104),
    ToolFinished("c3", "bash", Outcome.FAILED, "pytest -q", TerminalBlock("pytest -q", OUTPUT, 1), 2900),
    ToolFinished("c4", "bash", Outcome.OK, "pytest -q", TerminalBlock("pytest -q", "31 passed", 0), 3100),
    ToolFinished(
        "c5", "bash", Outcome.DENIED, "rm -rf build", TextBlock("the person refused this call: use make"), 0
    ),
    ToolFinished(
        "c6", "bash", Outcome.CANCELLED, "npm run dev", TextBlock("the person stopped this call"), 41_000
    ),
)


class SnapCompare(Protocol):
    def __call__(
        self,
        app: CoderApp,
        *,
        terminal_size: tuple[int, int],
        run_before: Callable[[Pilot[int]], Awaitable[None]],
    ) -> bool: ...


def prepared(*keys: str, shows: str) -> tuple[CoderApp, Callable[[Pilot[int]], Awaitable[None]]]:
    session = FakeSession(Path("/srv/project"), EARLIER)
    app = CoderApp(launch_for(session))

    async def ready(pilot: Pilot[int]) -> None:
        s = Stage(app, pilot, session)
        await s.until(lambda: app.session_screen.conversation.session is not None)
        await pilot.press(*keys)
        await s.until(lambda: shows in s.drawn())

    return app, ready


@pytest.mark.parametrize("size", [(80, 24), (140, 40)], ids=["80x24", "140x40"])
def test_a_block_read_in_full_looks_right(snap_compare: SnapCompare, size: tuple[int, int]) -> None:
    app, ready = prepared("tab", "g", "j", "j", "v", "slash", *"div", "enter", shows="1 of 6")
    assert snap_compare(app, terminal_size=size, run_before=ready)


def test_calls_in_all_states_look_right(snap_compare: SnapCompare) -> None:
    app, ready = prepared("tab", "k", shows="stopped by you")
    assert snap_compare(app, terminal_size=(80, 24), run_before=ready)


def test_a_search_looks_right(snap_compare: SnapCompare) -> None:
    app, ready = prepared("tab", "g", "slash", *"div", shows="/div_")
    assert snap_compare(app, terminal_size=(80, 24), run_before=ready)
