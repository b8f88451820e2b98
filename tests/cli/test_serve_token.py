"""The token of `coder-tui serve`: from a file or a pipe, never from an argument."""

import io
from pathlib import Path

import pytest

from coder_tui.cli.arguments import serve_parser
from coder_tui.cli.main import run_command
from coder_tui.cli.serve import _token

TOKEN = "a-token-of-some-length"


def given(*words: str) -> str:
    return _token(serve_parser().parse_args(list(words)))


def test_a_token_comes_out_of_a_file_or_a_pipe_or_is_new(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "token"
    file.write_text(f"{TOKEN}\n")
    file.chmod(0o600)
    monkeypatch.setattr("sys.stdin", io.StringIO(f"{TOKEN}\n"))
    assert (given("--token-file", str(file)), given("--token-file", "-")) == (TOKEN, TOKEN)
    assert given() != given()


@pytest.mark.parametrize(
    ("content", "mode", "words"),
    [
        (b"short", 0o600, "at least 16 characters"),
        (TOKEN.encode(), 0o644, "other users can read"),
        (b"a token\nof several lines", 0o600, "one line of printable ASCII characters"),
        (b"\xff" * 20, 0o600, "it is not text"),
        (None, 0o600, "No such file"),
    ],
    ids=["short", "open", "lines", "binary", "missing"],
)
def test_an_invalid_token_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], content: bytes | None, mode: int, words: str
) -> None:
    file = tmp_path / "token"
    if content is not None:
        file.write_bytes(content)
        file.chmod(mode)
    assert run_command(["serve", "--token-file", str(file)]) == 2
    assert words in capsys.readouterr().err


def test_a_token_is_no_argument(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        run_command(["serve", "--token", TOKEN])
    assert "did you mean --token-file?" in capsys.readouterr().err
