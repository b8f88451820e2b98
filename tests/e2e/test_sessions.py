"""Sessions in real terminals and processes: forks, search, deletion, and two programs at once."""

import asyncio
from pathlib import Path

import pytest

from coder_tui.storage.store import Store, StoredSession
from tests.fakes.openai_server import OpenAIServer
from tests.fakes.program import PROGRAM, Program
from tests.fakes.script import Reply
from tests.fakes.tmux import Tmux, needs_tmux


@pytest.fixture
def program(tmp_path: Path) -> Program:
    return Program.in_folder(tmp_path)


def say(tmux: Tmux, text: str) -> None:
    tmux.type(text)
    tmux.keys("Enter")


def stored(program: Program) -> list[StoredSession]:
    """All sessions, the one used last first."""

    async def load() -> list[StoredSession]:
        store = await Store.open(program.database)
        found = [await store.load(info.id) for info in await store.sessions.list(only_used=True)]
        await store.close()
        return found

    return asyncio.run(load())


def titles(program: Program) -> list[str]:
    return [session.info.title for session in stored(program)]


@needs_tmux
def test_an_edited_message_is_sent_in_a_fork_found_deleted_and_restored(program: Program) -> None:
    script = [
        Reply(text="A heron is grey."),
        Reply(text="An egret is white."),
        Reply(text="A crane is tall."),
    ]
    with OpenAIServer(script) as server:
        command = f"{PROGRAM} --model openai/x --api-base {server.url}"
        with Tmux(command, program.project, program.environment, 80, 24) as tmux:
            tmux.shows(r"ASK  (openai/)?x")
            say(tmux, "describe herons")
            tmux.shows("A heron is grey.")
            say(tmux, "describe egrets")
            tmux.finishes("An egret is white.")
            tmux.keys("Tab", "K")
            tmux.shows(r"j k block")
            tmux.keys("u")
            tmux.shows(r"Enter sends this in a fork[\s\S]*❯ describe egrets")
            tmux.keys("C-w")
            say(tmux, "cranes")
            tmux.shows(r"This is “fork of describe herons”[\s\S]*describe cranes[\s\S]*A crane is tall\.")
            assert "egret" not in tmux.screen()
            say(tmux, "/search egret")
            tmux.shows(r"1 of 2")
            tmux.keys("Enter")
            tmux.shows(r"◆ An egret is white\.")
            say(tmux, "/sessions")
            tmux.shows(r"─ Sessions ─[\s\S]*fork of describe herons[\s\S]*u undelete")
            tmux.keys("d", "d")
            tmux.shows(r"“fork of describe herons” was deleted. Press u to restore it.")
            assert titles(program) == ["describe herons"]
            tmux.keys("u")
            tmux.shows(r"“fork of describe herons” was restored")
            tmux.keys("Escape")
            # Sent together, terminals take the two for one key with Alt.
            tmux.shows(r"An egret is white\.\s+▌ ❯")
            say(tmux, "/fork")
            tmux.shows(r"This is “fork 2 of describe herons”")
            tmux.keys("C-d")
            tmux.shows("exit code 0")
    assert titles(program) == ["fork 2 of describe herons", "fork of describe herons", "describe herons"]


@needs_tmux
def test_a_session_that_is_open_is_opened_as_a_fork_and_refused_to_a_run(program: Program) -> None:
    with OpenAIServer([Reply(text="A heron is grey."), Reply(text="An egret is white.")]) as server:
        flags = ("--model", "openai/x", "--api-base", server.url)
        command = f"{PROGRAM} {' '.join(flags)}"
        with Tmux(command, program.project, program.environment, 80, 24) as first:
            first.shows(r"ASK  (openai/)?x")
            say(first, "describe herons")
            first.shows("A heron is grey.")
            refused = program.run("run", "-p", "x", "--continue", *flags)
            assert (refused.returncode, refused.stdout) == (1, "")
            assert "is open in another coder-tui; close it there first, or add --fork" in refused.stderr
            with Tmux(f"{command} --continue", program.project, program.environment, 80, 24) as second:
                second.shows(r"A heron is grey\.[\s\S]*is open in another coder-tui")
                second.keys("C-d")
                second.shows("exit code 0")
                assert "--resume" not in second.screen()
            assert titles(program) == ["describe herons"]
            forked = program.run("run", "-p", "describe egrets", "--continue", "--fork", *flags)
            assert (forked.returncode, forked.stdout.strip()) == (0, "An egret is white.")
            first.keys("C-d")
            first.shows("exit code 0")
    assert titles(program) == ["fork of describe herons", "describe herons"]


def test_two_programs_in_one_folder_keep_their_sessions_apart(program: Program) -> None:
    birds = ("heron", "egret")
    replies = [Reply(text=" ".join(["word"] * 40), chunk_delay=0.01) for _ in birds]
    with OpenAIServer(replies) as server:
        flags = ("--model", "openai/x", "--api-base", server.url)
        runs = [program.start("run", "-p", f"describe the {bird}", *flags) for bird in birds]
        assert [run.wait(60) for run in runs] == [0, 0]
        for run in runs:
            run.communicate()
    found = {session.info.title: session.messages for session in stored(program)}
    assert sorted(found) == ["describe the egret", "describe the heron"]
    for title, messages in found.items():
        assert [(message.role, message.text) for message in messages if message.role != "tool"] == [
            ("user", title),
            ("assistant", " ".join(["word"] * 40)),
        ]
