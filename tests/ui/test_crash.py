"""A screen that fails tells what happened, and nothing that is secret."""

from pathlib import Path

import pytest
from textual.worker import WorkerFailed

from coder_tui.agent.session import Session
from coder_tui.ui.app import CoderApp
from coder_tui.ui.launch import Launch

SECRET = "sk-ant-abcdefgh0123456789"
KNOWN = "no shape at all 7"


async def test_a_crash_is_reported_without_secrets(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SOME_API_KEY", KNOWN)

    async def broken() -> Session:
        held = f"{KNOWN} {SECRET}"
        raise RuntimeError(f"said \x1b]52;c;aGk=\x07 {held}")

    app = CoderApp(Launch(Path("/srv"), "coder-dark", False, broken))
    with pytest.raises(WorkerFailed):
        async with app.run_test() as pilot:
            while app._exception is None:
                await pilot.pause(0.01)
    report = capsys.readouterr().err
    assert "RuntimeError: said ␛]52;c;aGk=␇ [redacted] [redacted]" in report
    assert (KNOWN in report, SECRET in report, "\x1b" in report) == (False, False, False)
