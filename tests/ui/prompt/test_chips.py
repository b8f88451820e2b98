"""A long paste is a chip: sent in full, never broken, never lost."""

import struct
from pathlib import Path

import pytest
from textual import events

from coder_tui.ui.prompt.chips import Chips, is_long, pasted_picture
from tests.fakes.screens import Stage, stage

LONG = "".join(f"line {n}\n" for n in range(120))
CHIP = "[pasted 120 lines]"


def press(s: Stage, *keys: str | events.Paste) -> None:
    for key in keys:
        if isinstance(key, events.Paste):
            s.app.post_message(key)
        else:
            character = {"enter": "\r", "space": " "}.get(key, key if len(key) == 1 else None)
            s.app.post_message(events.Key("space" if key == " " else key, character))


def paste(text: str = LONG) -> events.Paste:
    return events.Paste(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [("x" * 800, False), ("x" * 801, True), ("1\n2\n3", False), ("1\n2\n3\n", False), ("1\n2\n3\n4", True)],
)
def test_a_paste_is_long_by_characters_or_lines(text: str, expected: bool) -> None:
    assert is_long(text) is expected


async def test_a_long_paste_shows_as_a_chip_and_is_sent_in_full() -> None:
    async with stage() as s:
        press(s, *"why ", paste(LONG.replace("\n", "\r")), *" ?")
        await s.until(lambda: s.draft == f"why {CHIP} ?")
        press(s, "enter")
        await s.until(lambda: s.session.submitted == [f"why {LONG} ?"])
        press(s, "escape", "up")
        await s.until(lambda: s.draft == f"why {CHIP} ?")


async def test_short_pastes_stay_text() -> None:
    async with stage() as s:
        press(s, paste("one\ntwo"))
        await s.until(lambda: s.draft == "one\ntwo")


async def test_a_chip_is_deleted_as_a_whole_and_restored_by_undo() -> None:
    async with stage() as s:
        press(s, "a", paste(), "b", "backspace", "backspace")
        await s.until(lambda: s.draft == "a")
        press(s, "ctrl+underscore")
        await s.until(lambda: s.draft == f"a{CHIP}b")
        press(s, "home", "right", "ctrl+d")
        await s.until(lambda: s.draft == "ab")


async def test_the_cursor_selects_a_chip_on_its_way_and_enter_expands_it() -> None:
    async with stage() as s:
        press(s, "a", paste(), "left")
        await s.until(lambda: s.screen.prompt.selected_text == CHIP)
        press(s, "left", "X", "right")
        await s.until(lambda: s.draft == f"aX{CHIP}" and s.screen.prompt.selected_text == CHIP)
        press(s, "enter")
        await s.until(lambda: s.draft == f"aX{LONG}")
        assert s.session.submitted == []


async def test_equal_sizes_keep_their_own_texts() -> None:
    other = LONG.replace("line", "word")
    async with stage() as s:
        press(s, paste(), paste(other), paste(), "enter")
        await s.until(lambda: s.session.submitted == [f"{LONG}{other}{CHIP}"])


async def test_a_long_text_that_returns_unsent_is_a_chip_again() -> None:
    async with stage() as s:
        press(s, *"go", "enter", paste(), "enter")
        await s.shows("queued")
        press(s, "escape")
        await s.until(lambda: s.draft == CHIP)


async def test_ten_megabytes_are_a_chip_that_says_why_it_is_not_sent() -> None:
    async with stage() as s:
        press(s, paste("x" * 10_000_000), "enter", "a")
        await s.until(lambda: s.draft == "[pasted 10.0 MB]a")
        await s.shows("too long for a message")
        assert s.session.submitted == []


def test_labels_stand_for_their_texts_once() -> None:
    chips = Chips()
    first, second = chips.add("one\n" * 9), chips.add("two\n" * 9)
    assert first != second
    assert chips.whole(f"{first} {second} {first}") == "one\n" * 9 + " " + "two\n" * 9 + f" {first}"
    assert chips.short(chips.whole(f"a {first} b")) == f"a {first} b"


def test_a_label_inside_of_a_paste_is_left_alone() -> None:
    chips = Chips()
    inner = chips.add("x" * 900)
    outer = chips.add(f"{inner}\n" * 5)
    assert chips.whole(outer) == f"{inner}\n" * 5


@pytest.fixture
def picture(tmp_path: Path) -> Path:
    path = tmp_path / "my shot.png"
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + b"\0\0\0\rIHDR" + struct.pack(">II", 640, 480))
    return path


def test_a_dropped_picture_is_found_however_the_terminal_writes_it(picture: Path) -> None:
    ways = [f"'{picture}'", str(picture).replace(" ", "\\ "), picture.as_uri(), f'"{picture}"\n']
    assert [pasted_picture(way) for way in ways] == [picture] * 4
    assert [pasted_picture(way) for way in ("see my shot.png", "/no/such.png", f"{picture} {picture}")] == [
        None
    ] * 3


async def test_a_pasted_picture_is_a_chip_and_named_when_sent(picture: Path) -> None:
    async with stage() as s:
        press(s, *"look: ", paste(f"'{picture}'"), "enter")
        await s.until(lambda: s.session.submitted == [f'look: @"{picture}"'])
        press(s, "escape", "up")
        await s.until(lambda: s.draft == "look: [image my shot.png 640×480, 24 B]")
