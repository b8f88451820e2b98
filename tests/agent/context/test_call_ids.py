"""An id that a call had is known; others are not."""

from coder_tui.agent.context.conversation import CallIds


def test_what_was_added_is_there_and_nothing_else() -> None:
    ids = CallIds(f"call_{number}" for number in range(0, 2_000, 2))
    for number in range(2_000, 3_000, 2):
        ids.add(f"call_{number}")
        ids.add(f"call_{number}")
    assert len(ids) == 1_500
    assert [number for number in range(3_000) if f"call_{number}" in ids] == list(range(0, 3_000, 2))
