"""`coder-tui sessions` with its own store."""

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
        info = await store.sessions.create(str(directory), "openai/x", Mode.ASK)
        await store.sessions.rename(info.id, title)
        for place, text in enumerate(texts):
            said = UserMessage(f"u{place}", text) if place % 2 == 0 else AssistantMessage(f"a{place}", text)
            await store.messages.add(info.id, said)
        await store.close()
        return info.id

    return asyncio.run(work())


def lines(output: Output) -> list[str]:
    return output.readouterr().out.splitlines()


def test_words_find_sessions_of_all_folders(folder: Path, capsys: Output) -> None:
    here = kept(folder, "prices", "round them", "With Decimal, rounding is exact.")
    there = kept(folder.parent, "elsewhere", "round the corner")
    assert main(["search", "round"]) == 0
    output = lines(capsys)
    assert [line.split()[0] for line in output[::2]] == [there, here]
    assert output[3].endswith("project: With Decimal, rounding is exact.")
    assert main(["search", "round", "--here", "--json"]) == 0
    (hit,) = json.loads(capsys.readouterr().out)
    assert (hit["id"], hit["excerpt"], hit["passages"]) == (here, "With Decimal, rounding is exact.", 2)
    assert main(["search", "NOT", '"']) == 0
    assert lines(capsys) == ['No session contains NOT ".']


def test_a_deleted_session_is_listed_separately_and_restored(folder: Path, capsys: Output) -> None:
    session_id = kept(folder, "prices", "round them")
    main(["delete", session_id[:13]])
    assert lines(capsys) == [
        f"Deleted {session_id} “prices”.",
        f"To restore it: coder-tui sessions restore {session_id}",
        "Deleted sessions are kept for 30 days, or as long as undo.keep_days says.",
    ]
    main(["list"])
    assert lines(capsys) == ["No sessions in this folder yet."]
    main(["list", "--deleted"])
    output = lines(capsys)
    assert output[0].startswith(session_id) and "(deleted 2" in output[0]
    main(["restore", session_id])
    assert lines(capsys) == [f"Restored {session_id} “prices”."]
    main(["list"])
    assert [line.split()[0] for line in lines(capsys)] == [session_id]


def test_a_session_can_be_deleted_permanently_also_from_the_trash(folder: Path, capsys: Output) -> None:
    first, second = kept(folder, "one", "a"), kept(folder, "two", "b")
    main(["delete", first])
    main(["delete", first, "--for-good"])
    main(["delete", second, "--for-good"])
    assert lines(capsys)[3:] == [
        f"Permanently deleted {first} “one”.",
        f"Permanently deleted {second} “two”.",
    ]
    with pytest.raises(StorageError, match="no deleted session"):
        main(["restore", first])


def test_a_session_gets_another_title(folder: Path, capsys: Output) -> None:
    session_id = kept(folder, "prices", "round them")
    main(["rename", session_id, "rounded", "prices"])
    assert lines(capsys) == [f"Renamed {session_id} to “rounded prices”."]
    with pytest.raises(UsageError, match="title is empty"):
        main(["rename", session_id, " "])


def test_an_export_overwrites_a_file_only_with_force(folder: Path, capsys: Output) -> None:
    session_id = kept(folder, "prices", "round them")
    (folder / "out.md").write_text("mine")
    with pytest.raises(UsageError, match=r"out\.md already exists; choose another name or add --force"):
        main(["export", session_id, "-o", "out.md"])
    assert (folder / "out.md").read_text() == "mine"
    main(["export", session_id, "-o", "out.md", "--force"])
    assert (folder / "out.md").read_text().startswith("# prices\n")
    assert lines(capsys) == ["Wrote out.md"]


def test_empty_sessions_are_not_listed(folder: Path, capsys: Output) -> None:
    kept(folder, "")
    main(["list", "--json"])
    assert json.loads(capsys.readouterr().out) == []
