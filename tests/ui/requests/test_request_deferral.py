"""When a request may open automatically."""

import pytest

from coder_tui.ui.requests.presenter import QUIET_BEFORE_OPENING
from tests.fakes.screens import stage


async def test_a_request_waits_for_a_second_without_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    async with stage() as s:
        presenter = s.screen.widgets.presenter
        presenter.pressed(10.0)
        monkeypatch.setattr(presenter, "_clock", lambda: 10.4)
        assert presenter.seconds_to_wait() == pytest.approx(0.6)
        monkeypatch.setattr(presenter, "_clock", lambda: 10.0 + QUIET_BEFORE_OPENING)
        assert presenter.seconds_to_wait() == 0


@pytest.mark.parametrize("key", ["x", "f1"], ids=["draft", "dialog"])
async def test_a_request_waits_until_the_draft_or_another_dialog_is_gone(key: str) -> None:
    async with stage() as s:
        await s.pilot.press(key)
        await s.until(lambda: s.draft == "x" or s.app.screen is not s.screen)
        assert s.screen.widgets.presenter.seconds_to_wait() is None
