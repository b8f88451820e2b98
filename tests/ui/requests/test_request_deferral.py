"""When a request may open by itself."""

import pytest

from coder_tui.ui.requests.presenter import QUIET_BEFORE_OPENING, Deferral


def test_a_request_waits_for_a_second_without_keys() -> None:
    deferral = Deferral()
    deferral.pressed(10.0)
    assert deferral.wait(10.4, has_draft=False, is_covered=False) == pytest.approx(0.6)
    assert deferral.wait(10.0 + QUIET_BEFORE_OPENING, has_draft=False, is_covered=False) == 0


@pytest.mark.parametrize(("has_draft", "is_covered"), [(True, False), (False, True)])
def test_a_request_waits_for_a_draft_or_another_dialog_to_go(has_draft: bool, is_covered: bool) -> None:
    assert Deferral().wait(0.0, has_draft=has_draft, is_covered=is_covered) is None
