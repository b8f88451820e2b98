"""The prompt keeps what is typed, and sends it only on Enter."""

import pytest
from textual import events
from textual.app import App, ComposeResult

from coder_tui.ui.prompt.prompt import Prompt, PromptHistory


class PromptApp(App[None]):
    def __init__(self, *sent: str) -> None:
        super().__init__()
        self.submitted: list[str] = []
        self.prompt = Prompt(PromptHistory(sent), self.submitted.append)
        self.ends = 0

    def get_theme_variable_defaults(self) -> dict[str, str]:
        return {"text-dim": "#888888"}

    def compose(self) -> ComposeResult:
        yield self.prompt

    def on_mount(self) -> None:
        self.prompt.focus()

    def on_prompt_ended(self) -> None:
        self.ends += 1


async def test_enter_sends_and_empties_the_prompt() -> None:
    app = PromptApp()
    async with app.run_test() as pilot:
        await pilot.press(*"hi", "enter", *"next")
        assert (app.submitted, app.prompt.text) == (["hi"], "next")


async def test_enter_on_blanks_sends_nothing_and_keeps_them() -> None:
    app = PromptApp()
    async with app.run_test() as pilot:
        await pilot.press("space", "enter")
        assert (app.submitted, app.prompt.text) == ([], " ")


@pytest.mark.parametrize("keys", [["ctrl+j"], ["shift+enter"], ["\\", "enter"]])
async def test_a_new_line_can_be_typed(keys: list[str]) -> None:
    app = PromptApp()
    async with app.run_test() as pilot:
        await pilot.press("a", *keys, "b", "enter")
        assert app.submitted == ["a\nb"]


async def test_a_paste_never_submits_and_cannot_steer_the_terminal() -> None:
    app = PromptApp()
    async with app.run_test() as pilot:
        app.prompt.post_message(events.Paste("one\r\ntwo\x1b[2J\u202e \u200c\n"))
        await pilot.pause()
        assert app.submitted == []
        assert app.prompt.text == "one\ntwo␛[2J<U+202E> \u200c\n"


async def test_up_at_the_first_line_goes_back_and_down_returns_to_the_draft() -> None:
    app = PromptApp("first", "second\nmore")
    async with app.run_test() as pilot:
        await pilot.press(*"draft")
        seen = []
        for key in ("up", "up", "down", "down"):
            await pilot.press(key)
            seen.append(app.prompt.text)
        assert seen == ["second\nmore", "first", "second\nmore", "draft"]


async def test_the_cursor_moves_inside_several_lines_before_the_history_does() -> None:
    app = PromptApp("sent")
    async with app.run_test() as pilot:
        await pilot.press("a", "ctrl+j", "b", "up")
        assert app.prompt.text == "a\nb"
        await pilot.press("up")
        assert app.prompt.text == "sent"


async def test_up_restores_a_stashed_draft() -> None:
    app = PromptApp()
    async with app.run_test() as pilot:
        await pilot.press(*"idea")
        app.prompt.stash()
        assert app.prompt.is_empty
        await pilot.press("up")
        assert app.prompt.text == "idea"


async def test_ctrl_d_ends_only_when_the_prompt_is_empty() -> None:
    app = PromptApp()
    async with app.run_test() as pilot:
        await pilot.press(*"ab", "home", "ctrl+d")
        assert (app.prompt.text, app.ends) == ("b", 0)
        await pilot.press("ctrl+d", "ctrl+d")
        assert app.ends == 1


async def test_texts_that_were_not_sent_come_before_the_draft() -> None:
    app = PromptApp()
    async with app.run_test() as pilot:
        await pilot.press(*"draft")
        app.prompt.put_back(("one", "two"))
        assert app.prompt.text == "one\ntwo\ndraft"


async def test_the_prompt_grows_with_its_text_up_to_ten_rows() -> None:
    app = PromptApp()
    heights = []
    async with app.run_test(size=(40, 24)) as pilot:
        for text in ("one", "1\n2\n3", "\n" * 30):
            app.prompt.show_draft(text)
            await pilot.pause()
            heights.append(app.prompt.size.height)
    assert heights == [1, 3, 10]


async def test_undo_empties_a_prompt_that_had_a_scrollbar() -> None:
    app = PromptApp()
    async with app.run_test() as pilot:
        await pilot.press(*["a", "ctrl+j"] * 15)
        typed = app.prompt.text
        await pilot.press(*["ctrl+underscore"] * 30)
        undone = app.prompt.text
        await pilot.press(*["ctrl+y"] * 30)
        assert (undone, app.prompt.text) == ("", typed)


async def test_undo_of_several_edits_leaves_no_rows_of_deleted_lines() -> None:
    app = PromptApp()
    async with app.run_test() as pilot:
        app.prompt.show_draft("1\n2\n3\n4")
        app.prompt.move_cursor((1, 1))
        await pilot.press("ctrl+j", "a", "ctrl+underscore", "b", "ctrl+underscore")
        assert (app.prompt.text, app.prompt.wrapped_document.height) == ("1\n2\n3\n4", 4)
