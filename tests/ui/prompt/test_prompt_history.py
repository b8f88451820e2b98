"""Walking through what was sent, without losing what is being written."""

from coder_tui.ui.prompt.prompt import PromptHistory


def test_the_draft_comes_back_after_going_up_and_down() -> None:
    history = PromptHistory(["one", "two"])
    assert [history.older("draft"), history.older("two"), history.older("one")] == ["two", "one", None]
    assert [history.newer("one"), history.newer("two"), history.newer("draft")] == ["two", "draft", None]


def test_an_edited_entry_is_kept_until_something_is_sent() -> None:
    history = PromptHistory(["one", "two"])
    history.older("")
    history.older("two, edited")
    assert history.newer("one") == "two, edited"
    history.add("three")
    assert [history.older(""), history.older("three")] == ["three", "two"]


def test_each_entry_is_kept_once_and_the_newest_place_wins() -> None:
    history = PromptHistory(["one", "two", "one"])
    history.add("two")
    history.add("  ")
    assert history.entries == ("one", "two")


def test_earlier_messages_go_before_those_of_this_run() -> None:
    history = PromptHistory()
    history.add("now")
    history.seed(["before", "now"])
    assert history.entries == ("before", "now")


def test_the_position_stays_when_earlier_entries_are_added() -> None:
    history = PromptHistory(["one", "two"])
    history.older("draft")
    history.older("two, edited")
    history.seed(["zero", "two"])
    assert history.entries == ("zero", "one", "two")
    assert [history.newer("one"), history.newer("two, edited")] == ["two, edited", "draft"]
