"""The reference pages are what the code says."""

import pytest

from bench.reference import EVENTS, FOLDER, RENEW, SENTENCES, event_name, pages, setting_schemas
from coder_tui.headless import event_json
from coder_tui.protocol.access import Mode
from coder_tui.protocol.events import ModeChanged

PAGES = pages()


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_what_the_generator_writes(name: str) -> None:
    committed = (FOLDER / name).read_text(encoding="utf-8")
    assert committed == PAGES[name], f"docs/reference/{name} is out of date; renew it by: {RENEW}"


def test_there_is_no_other_page() -> None:
    assert {path.name for path in FOLDER.iterdir()} == set(PAGES)


def test_every_setting_is_described() -> None:
    assert set(SENTENCES["settings"]) == set(setting_schemas())


def test_every_event_is_described_by_its_name_in_the_stream() -> None:
    assert set(SENTENCES["events"]) == set(map(event_name, EVENTS))
    assert event_json(ModeChanged(Mode.PLAN))["type"] == event_name(ModeChanged)
