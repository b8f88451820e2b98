"""The trust dialog at the start: what it lists, and what each key does."""

import hashlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from textual import events

from coder_tui.config.inventory import FileState, ItemKind, ProjectInventory, ProjectItem
from coder_tui.config.project import ANY_CONTENT
from coder_tui.protocol.errors import StorageError
from coder_tui.ui.app import CoderApp
from coder_tui.ui.lists.help import HelpScreen
from coder_tui.ui.requests.trust import TrustScreen, file_texts
from tests.fakes.fake_session import FakeSession
from tests.fakes.screens import Stage, launch_for
from tests.fakes.trusting import Trusting

CONFIG = ".coder-tui/config.toml"
ITEMS = (
    ProjectItem(ItemKind.RULE, CONFIG, 4, 'lets "rm *" run without asking'),
    ProjectItem(ItemKind.RULE, CONFIG, 5, 'lets "[@click=app.quit]\u202e\x1b[2J" run without asking'),
    ProjectItem(ItemKind.MCP, ".mcp.json", 3, "starts npx -y docs-server"),
    ProjectItem(ItemKind.GIT, ".git/config", 8, "core.fsmonitor is never run", needs_trust=False),
)


def inventory(items: tuple[ProjectItem, ...] = ITEMS, workspace: str = "/srv/project") -> ProjectInventory:
    return ProjectInventory(workspace, (FileState(CONFIG, "0", is_trusted=False),), items)


@asynccontextmanager
async def asked(trusting: Trusting, size: tuple[int, int] = (100, 30)) -> AsyncIterator[Stage]:
    session = FakeSession(Path("/srv/project"))
    app = CoderApp(replace(launch_for(session), trust=trusting))
    async with app.run_test(size=size) as pilot:
        yield Stage(app, pilot, session)


async def ready(s: Stage) -> None:
    await s.until(lambda: isinstance(s.app.screen, TrustScreen) and s.app.screen.is_ready)
    await s.pilot.pause()


def is_open(s: Stage) -> bool:
    """Whether the session has been opened."""
    return s.screen.widgets.sender.session is not None


@pytest.mark.parametrize(
    ("key", "answers"), [("ctrl+y", ["accept"]), ("n", ["refuse"]), ("escape", []), ("ctrl+c", [])]
)
async def test_one_key_answers_and_only_then_the_session_opens(key: str, answers: list[str]) -> None:
    trusting = Trusting(inventory())
    async with asked(trusting) as s:
        await ready(s)
        assert not is_open(s)
        await s.pilot.press(key)
        await s.until(lambda: is_open(s))
        assert (trusting.answers, s.draft) == (answers, "")
        assert s.app.screen is s.screen


async def test_every_item_is_listed_with_its_file_and_line_and_none_is_used() -> None:
    async with asked(Trusting(inventory()), size=(120, 40)) as s:
        await ready(s)
        drawn = s.drawn()
        for words in (
            "Trust this project?  /srv/project",
            'allow rule       lets "rm *" run without asking',
            'lets "[@click=app.quit]<U+202E>␛[2J" run without asking',
            "line 5",
            ".mcp.json",
            "mcp server       starts npx -y docs-server  line 3",
            "git              core.fsmonitor is never run  line 8",
        ):
            assert words in drawn
        assert not {"\x1b", "\u202e"} & set(drawn)


async def test_typing_trusts_nothing_and_the_question_returns_when_the_draft_is_gone() -> None:
    trusting = Trusting(inventory())
    async with asked(trusting) as s:
        await ready(s)
        for character in "yes, no":
            s.app.post_message(events.Key("x" if character != " " else "space", character))
        await s.until(lambda: s.draft == "yes, no" and "needs your trust" in s.drawn())
        assert (trusting.answers, is_open(s), s.app.screen) == ([], False, s.screen)
        await s.pilot.press("enter")
        await ready(s)
        await s.pilot.press("n")
        await s.until(lambda: s.session.submitted == ["yes, no"])
        assert trusting.answers == ["refuse"]


async def test_the_question_closes_if_the_terminal_gets_too_small() -> None:
    trusting = Trusting(inventory())
    async with asked(trusting) as s:
        await ready(s)
        await s.pilot.resize_terminal(20, 5)
        await s.until(lambda: is_open(s))
        assert trusting.answers == []


async def test_the_chord_waits_for_a_pause_and_the_end_of_a_long_list() -> None:
    many = tuple(replace(ITEMS[0], line=number, sentence=f"lets {number} run") for number in range(1, 80))
    trusting = Trusting(inventory(many))
    async with asked(trusting, size=(80, 24)) as s:
        await s.until(lambda: isinstance(s.app.screen, TrustScreen))
        s.app.post_message(events.Key("ctrl+y", None))
        await ready(s)
        await s.pilot.press("ctrl+y")
        await s.shows("Scroll to the end first")
        await s.pilot.press("v")
        await s.shows("changed since it was listed")
        await s.pilot.press("escape", "end")
        await s.until(lambda: "lets 79 run" in s.drawn() and "Scroll to" not in s.drawn())
        assert trusting.answers == []
        await s.pilot.press("ctrl+y")
        await s.until(lambda: trusting.answers == ["accept"])


async def test_an_answer_that_cannot_be_saved_is_reported_and_the_session_still_opens() -> None:
    trusting = Trusting(inventory(), problem=StorageError("cannot write trust.json: disk full"))
    async with asked(trusting) as s:
        await ready(s)
        await s.pilot.press("ctrl+y")
        await s.until(lambda: is_open(s) and "disk full" in s.drawn())


async def test_nothing_is_asked_without_anything_to_trust_or_without_room() -> None:
    for trusting, size in ((Trusting(None), (80, 24)), (Trusting(inventory()), (20, 5))):
        async with asked(trusting, size) as s:
            await s.until(lambda: is_open(s))
            assert trusting.answers == []


async def test_an_ascii_terminal_gets_ascii_symbols() -> None:
    session = FakeSession(Path("/srv/project"))
    launch = replace(launch_for(session, use_ascii=True), trust=Trusting(inventory(ITEMS[:1])))
    app = CoderApp(launch)
    async with app.run_test(size=(80, 24)) as pilot:
        s = Stage(app, pilot, session)
        await ready(s)
        assert s.drawn().isascii()


async def test_f1_explains_the_keys_and_comes_back() -> None:
    async with asked(Trusting(inventory())) as s:
        await ready(s)
        await s.pilot.press("f1")
        await s.until(lambda: isinstance(s.app.screen, HelpScreen) and "Keys" in s.drawn())
        await s.shows("Do not trust it, and do not ask again")
        await s.pilot.press("escape")
        await ready(s)


def test_files_are_shown_as_they_were_listed_or_not_at_all(tmp_path: Path) -> None:
    def state(name: str, data: bytes | None, *, is_trusted: bool = False) -> FileState:
        if data is not None:
            (tmp_path / name).write_bytes(data)
        return FileState(name, hashlib.sha256(data or b"").hexdigest(), is_trusted)

    files = (
        state("a.toml", b"x = 1\n"),
        state("gone.toml", None),
        state("big.toml", b"#" * 300_000),
        state("known.toml", b"y = 2\n", is_trusted=True),
        state("latin.toml", b"# \xe9\n"),
    )
    changed = replace(state("b.toml", b"new"), sha256="0")
    assert file_texts(ProjectInventory(str(tmp_path), (*files, changed))) == (
        ("a.toml", "x = 1\n"),
        ("gone.toml", "(changed since it was listed, so it is not trusted)"),
        ("big.toml", "(300000 bytes, too large to show here)"),
        ("latin.toml", "# \ufffd\n"),
        ("b.toml", "(changed since it was listed, so it is not trusted)"),
    )


def test_instructions_of_parent_folders_are_shown_too(tmp_path: Path) -> None:
    inner = tmp_path / "inner"
    inner.mkdir()
    (tmp_path / "AGENTS.md").write_text("Use tabs.\n")
    (inner / "CLAUDE.md").write_text("Be brief.\n")
    files = tuple(FileState(name, ANY_CONTENT, is_trusted=False) for name in ("../AGENTS.md", "CLAUDE.md"))

    assert file_texts(ProjectInventory(str(inner), files)) == (
        ("../AGENTS.md", "Use tabs.\n"),
        ("CLAUDE.md", "Be brief.\n"),
    )
