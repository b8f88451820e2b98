"""Walking through what was sent, without losing what is being written."""

from coder_tui.ui.prompt.prompt import PromptHistory, keep_in_memory


def test_the_draft_comes_back_after_walking_up_and_down() -> None:
    history = PromptHistory(["one", "two"], keep_in_memory)
    assert [history.older("draft"), history.older("two"), history.older("one")] == ["two", "one", None]
    assert [history.newer("one"), history.newer("two"), history.newer("draft")] == ["two", "draft", None]


def test_an_edited_entry_is_kept_until_something_is_sent() -> None:
    history = PromptHistory(["one", "two"], keep_in_memory)
    history.older("")
    history.older("two, edited")
    assert history.newer("one") == "two, edited"
    history.add("three")
    assert [history.older(""), history.older("three")] == ["three", "two"]


def test_each_entry_is_kept_once_and_the_newest_place_wins() -> None:
    kept: list[str] = []
    history = PromptHistory(["one", "two", "one"], kept.append)
    history.add("two")
    history.add("  ")
    assert history.entries == ("one", "two")
    assert kept == ["two"]


def test_earlier_messages_go_before_those_of_this_run() -> None:
    history = PromptHistory((), keep_in_memory)
    history.add("now")
    history.seed(["before", "now"])
    assert history.entries == ("before", "now")


def test_who_walks_among_entries_stays_there_when_earlier_ones_come() -> None:
    history = PromptHistory(["one", "two"], keep_in_memory)
    history.older("draft")
    history.older("two, edited")
    history.seed(["zero", "two"])
    assert history.entries == ("zero", "one", "two")
    assert [history.newer("one"), history.newer("two, edited")] == ["two, edited", "draft"]
