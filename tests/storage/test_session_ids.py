"""Names of sessions."""

import re

from coder_tui.storage.index import new_session_id


def test_ids_are_short_unlike_and_sort_by_age() -> None:
    early = {new_session_id() for _ in range(1000)}
    assert len(early) == 1000
    assert all(re.fullmatch("[0-9a-hjkmnp-tv-z]{14}", id_) for id_ in early)
    # Sortable by the millisecond: chance decides only inside one.
    assert max(id_[:9] for id_ in early) <= new_session_id()[:9]
