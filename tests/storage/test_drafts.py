"""Text that was typed but not sent survives the program."""

import os
import time
from pathlib import Path

from coder_tui.storage.drafts import KEPT_DAYS, DraftStore, Place, UnsentInput

HERE, THERE = Path("/srv/here"), Path("/srv/there")
WORDS = UnsentInput(("first", "second"), "and \ud800\nmore")
NOBODY = frozenset[str]()


def test_a_session_gets_its_own_words_back_from_a_private_file(tmp_path: Path) -> None:
    files, place = DraftStore(tmp_path / "unsent"), Place("a", HERE, is_begun=True)
    files.save(place, WORDS)
    file = tmp_path / "unsent/a.json"
    assert (file.stat().st_mode & 0o777, file.parent.stat().st_mode & 0o777) == (0o600, 0o700)
    assert files.take(Place("b", HERE, is_begun=False), NOBODY) == UnsentInput()
    assert files.take(place, NOBODY) == WORDS
    files.save(place, UnsentInput(draft=" \n"))
    assert list(file.parent.iterdir()) == []


def test_a_new_session_gets_what_was_typed_in_its_folder_before_any_began(tmp_path: Path) -> None:
    files = DraftStore(tmp_path)
    files.save(Place("a", HERE, is_begun=False), UnsentInput(("first",), "one"))
    files.save(Place("b", HERE, is_begun=False), UnsentInput(draft="running"))
    files.save(Place("c", THERE, is_begun=False), UnsentInput(draft="there"))
    files.save(Place("d", HERE, is_begun=False), UnsentInput(draft="two"))
    for number, name in enumerate("abcd"):
        os.utime(tmp_path / f"{name}.json", (time.time() + number,) * 2)
    new = Place("e", HERE, is_begun=False)
    assert files.take(new, frozenset({"b"})) == UnsentInput(("first",), "one\ntwo")
    assert sorted(path.stem for path in tmp_path.iterdir()) == ["b", "c", "e"]
    assert files.take(new, frozenset({"b"})) == UnsentInput(("first",), "one\ntwo")


def test_broken_and_old_files_are_ignored(tmp_path: Path) -> None:
    files = DraftStore(tmp_path)
    (tmp_path / "broken.json").write_text("{")
    files.save(Place("old", HERE, is_begun=False), UnsentInput(draft="old"))
    os.utime(tmp_path / "old.json", (time.time() - KEPT_DAYS * 86_400 - 60,) * 2)
    assert files.take(Place("new", HERE, is_begun=False), NOBODY) == UnsentInput()
    assert [path.name for path in tmp_path.iterdir()] == ["broken.json"]
