"""`coder-tui sessions` on a store of its own."""

import asyncio
import json
import os
from pathlib import Path

import pytest

from coder_tui.cli.sessions import main
from coder_tui.config.paths import CACHE_VARIABLE, CONFIG_VARIABLE, DATA_VARIABLE, find_directories
from coder_tui.protocol.access import Mode
from coder_tui.protocol.errors import StorageError, UsageError
from coder_tui.protocol.messages import AssistantMessage, UserMessage
from coder_tui.storage.store import Store

Output = pytest.CaptureFixture[str]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for variable in (CONFIG_VARIABLE, DATA_VARIABLE, CACHE_VARIABLE):
        monkeypatch.setenv(variable, str(tmp_path / variable))
    project = tmp_path / "project"
    project.mkdir()
    monkeypatch.chdir(project)
    return project


def kept(directory: Path, title: str, *texts: str) -> str:
    """Store a session; returns its id."""

    async def work() -> str:
        directories = find_directories(os.environ)
        store = await Store.open(directories.database)
        info = await store.create_session(str(directory), "openai/x", Mode.ASK)
        await store.rename(info.id, title)
        for place, text in enumerate(texts):
            said = UserMessage(f"u{place}", text) if place % 2 == 0 else AssistantMessage(f"a{place}", text)
            await store.add_message(info.id, said)
        await store.close()
        return info.id

    return asyncio.run(work())


def lines(output: Output) -> list[str]:
    return output.readouterr().out.splitlines()


def test_words_find_sessions_of_all_folders(folder: Path, capsys: Output) -> None:
    here = kept(folder, "prices", "round them", "With Decimal, rounding is exact.")
    there = kept(folder.parent, "elsewhere", "round the corner")
    assert main(["search", "round"]) == 0
    told = lines(capsys)
    assert [line.split()[0] for line in told[::2]] == [there, here]
    assert told[3].endswith("project: With Decimal, rounding is exact.")
    assert main(["search", "round", "--here", "--json"]) == 0
    (hit,) = json.loads(capsys.readouterr().out)
    assert (hit["id"], hit["excerpt"], hit["passages"]) == (here, "With Decimal, rounding is exact.", 2)
    assert main(["search", "NOT", '"']) == 0
    assert lines(capsys) == ['Nothing was found for NOT ".']


def test_a_deleted_session_is_listed_apart_and_brought_back(folder: Path, capsys: Output) -> None:
    session_id = kept(folder, "prices", "round them")
    main(["delete", session_id[:13]])
    assert lines(capsys) == [
        f"Deleted {session_id} “prices”.",
        f"To bring it back: coder-tui sessions restore {session_id}"
        "  (for 30 days, or what undo.keep_days says)",
    ]
    main(["list"])
    assert lines(capsys) == ["No sessions here yet."]
    main(["list", "--deleted"])
    told = lines(capsys)
    assert told[0].startswith(session_id) and "(deleted 2" in told[0]
    main(["restore", session_id])
    assert lines(capsys) == [f"{session_id} “prices” is back."]
    main(["list"])
    assert [line.split()[0] for line in lines(capsys)] == [session_id]


def test_a_session_can_be_deleted_for_good_from_the_trash_too(folder: Path, capsys: Output) -> None:
    first, second = kept(folder, "one", "a"), kept(folder, "two", "b")
    main(["delete", first])
    main(["delete", first, "--for-good"])
    main(["delete", second, "--for-good"])
    assert lines(capsys)[2:] == [f"Deleted {first} “one” for good.", f"Deleted {second} “two” for good."]
    with pytest.raises(StorageError, match="no deleted session"):
        main(["restore", first])


def test_a_session_gets_another_title(folder: Path, capsys: Output) -> None:
    session_id = kept(folder, "prices", "round them")
    main(["rename", session_id, "rounded", "prices"])
    assert lines(capsys) == [f"{session_id} is called “rounded prices” now."]
    with pytest.raises(UsageError, match="title is empty"):
        main(["rename", session_id, " "])


def test_an_export_replaces_a_file_only_when_told_to(folder: Path, capsys: Output) -> None:
    session_id = kept(folder, "prices", "round them")
    (folder / "out.md").write_text("mine")
    with pytest.raises(UsageError, match=r"out\.md exists already; choose another name, or add --force"):
        main(["export", session_id, "-o", "out.md"])
    assert (folder / "out.md").read_text() == "mine"
    main(["export", session_id, "-o", "out.md", "--force"])
    assert (folder / "out.md").read_text().startswith("# prices\n")
    assert lines(capsys) == ["Wrote out.md"]


def test_sessions_without_a_word_are_not_listed(folder: Path, capsys: Output) -> None:
    kept(folder, "")
    main(["list", "--json"])
    assert json.loads(capsys.readouterr().out) == []
