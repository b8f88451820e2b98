"""Output that was cut is kept whole in a private file."""

from pathlib import Path

from coder_tui.shell.command import Spool
from coder_tui.text.redact import MASK, Redactor

KEY = "sk-ant-abcdefgh0123456789"
BLOCK = "-----BEGIN PRIVATE KEY-----\n" + "aB3dE5fG7hI9jK1l\n" * 30 + "-----END PRIVATE KEY-----\n"


def same(text: str) -> str:
    return text


def test_little_output_makes_no_file(tmp_path: Path) -> None:
    spool = Spool(tmp_path / "o" / "a.log", 10, same)

    spool.add(b"1234567890")
    spool.close()

    assert (spool.path, (tmp_path / "o").exists()) == (None, False)


def test_the_whole_output_is_kept_for_the_user_only(tmp_path: Path) -> None:
    spool = Spool(tmp_path / "o" / "a.log", 10, same)

    for _ in range(30_000):
        spool.add(b"line\n")
    spool.add(b"end \xff")
    spool.close()

    assert spool.path == tmp_path / "o" / "a.log"
    assert spool.path.read_bytes() == b"line\n" * 30_000 + b"end \xff"
    assert spool.path.stat().st_mode & 0o777 == 0o600


def test_the_file_is_bounded_and_says_so(tmp_path: Path) -> None:
    spool = Spool(tmp_path / "a.log", 10, same, most=100)

    for _ in range(50):
        spool.add(b"123456789\n")
    spool.close()

    kept = (tmp_path / "a.log").read_bytes()
    assert kept == b"123456789\n" * 10 + b"\n[output truncated: this file holds no more]\n"


def test_secrets_are_hidden_also_if_they_arrive_in_pieces(tmp_path: Path) -> None:
    spool = Spool(tmp_path / "a.log", 3, lambda text: text.replace("hunter2", "***"))

    for piece in (b"a hun", b"ter2\n", b"b\n"):
        spool.add(piece)
    spool.close()

    assert (tmp_path / "a.log").read_text() == "a ***\nb\n"


def test_a_folder_that_cannot_be_created_costs_only_the_file(tmp_path: Path) -> None:
    (tmp_path / "o").write_text("in the way")
    spool = Spool(tmp_path / "o" / "a.log", 3, same)

    spool.add(b"more than three\n")
    spool.close()

    assert spool.path is None


def test_reading_in_the_middle_of_a_secret_does_not_show_it(tmp_path: Path) -> None:
    spool = Spool(tmp_path / "a.log", 10, Redactor({}))
    whole = f"filler filler\nkey {KEY} end\n{BLOCK}last"

    seen = []
    for start in range(0, len(whole), 17):
        spool.add(whole[start : start + 17].encode())
        spool.flush()
        seen.append(spool.path.read_text() if spool.path else "")
    spool.close()

    assert (tmp_path / "a.log").read_text() == f"filler filler\nkey {MASK} end\n{MASK}\nlast"
    assert [text for text in seen if "sk-ant" in text or "aB3d" in text] == []


def test_a_file_that_is_not_needed_is_removed(tmp_path: Path) -> None:
    spool = Spool(tmp_path / "a.log", 3, same)
    spool.add(b"more than three\n")
    spool.close()

    spool.discard()

    assert (spool.path, list(tmp_path.iterdir())) == (None, [])
