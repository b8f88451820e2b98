"""However quickly keys come, they mean the same: with suggestions, chips, commands and the shell between."""

import random
from pathlib import Path

import pytest
from textual import events

from tests.fakes.fake_session import FakeSession
from tests.fakes.screens import Stage, stage

PASTE = "[paste]"
KEYS = [
    *"@@@cap.y/ !ax",
    "tab",
    "tab",
    "enter",
    "escape",
    "up",
    "down",
    "backspace",
    "left",
    "right",
    "ctrl+r",
]
SEEN = ("see @calc.py", "earlier words")


def post(s: Stage, key: str) -> None:
    if key == PASTE:
        s.app.post_message(events.Paste("long line\n" * 9))
    else:
        character = {"enter": "\r"}.get(key, key if len(key) == 1 else None)
        s.app.post_message(events.Key("space" if key == " " else key, character))


def scene(seed: int) -> list[str]:
    chance = random.Random(seed)
    keys = chance.choices([*KEYS, PASTE], k=60)
    # So that the end can be seen, whatever state they led to.
    return [*keys, "escape", "escape", "escape"]


async def outcome(folder: Path, keys: list[str], *, at_once: bool) -> tuple[object, ...]:
    session = FakeSession(folder)
    session.report.sent = SEEN
    async with stage(session, size=(80, 24)) as s:
        await s.until(lambda: s.screen.prompt.sent.entries == SEEN)
        for key in keys:
            post(s, key)
            if not at_once:
                await s.pilot.pause()
                await s.until(lambda: s.screen.widgets.composing.completer.is_settled)
        post(s, "f2")
        post(s, "Z")
        await s.until(lambda: "Z" in s.draft)
        return s.draft, session.submitted, session.shell.ran, s.screen.prompt.sent.entries


@pytest.mark.parametrize("seed", [1, 3, 5])
async def test_a_burst_means_what_the_same_keys_mean_one_by_one(tmp_path: Path, seed: int) -> None:
    for name in ("calc.py", "src/cap.py", "pax.txt"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("x")
    keys = scene(seed)

    assert await outcome(tmp_path, keys, at_once=True) == await outcome(tmp_path, keys, at_once=False)
