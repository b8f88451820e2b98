"""The command line reports unknown flags and flags that do not go together."""

from pathlib import Path

import pytest

from coder_tui.bootstrap.session_library import NOT_KEPT, SessionOpener
from coder_tui.cli.arguments import Parser, read_invocation, session_parser, tool_parser
from coder_tui.cli.replay import replay_parser
from coder_tui.protocol.errors import UserError


@pytest.mark.parametrize(
    ("flag", "hint"),
    [("--modle", " (did you mean --model?)"), ("--mode", " (did you mean --model?)"), ("--bogus", "")],
)
def test_a_flag_is_never_mistaken_for_another_but_a_similar_one_is_suggested(
    capsys: pytest.CaptureFixture[str], flag: str, hint: str
) -> None:
    parser = Parser(prog="it")
    parser.add_argument("--model")
    parser.add_argument("--host")

    with pytest.raises(SystemExit):
        parser.parse_args([flag, "plan"])

    assert capsys.readouterr().err == f"it: unrecognized arguments: {flag} plan{hint}; see 'it --help'\n"


@pytest.mark.parametrize(
    ("word", "hint"), [("sesions", "did you mean 'sessions'?"), ("bogus", "see 'coder-tui --help'")]
)
def test_a_word_that_is_neither_folder_nor_command_says_so(word: str, hint: str) -> None:
    arguments = session_parser().parse_args([word])
    with pytest.raises(UserError) as caught:
        read_invocation(arguments, arguments.path)
    assert str(caught.value) == f"there is no folder or command named {word}; {hint}"


@pytest.mark.parametrize(("word", "hint"), [("lst", " (did you mean list?)"), ("bogus", "")])
def test_a_similar_action_is_suggested(capsys: pytest.CaptureFixture[str], word: str, hint: str) -> None:
    with pytest.raises(SystemExit):
        tool_parser().parse_args([word])
    assert capsys.readouterr().err.endswith(
        f"(choose from 'list', 'call'){hint}; see 'coder-tui tool --help'\n"
    )


def test_a_speed_that_is_no_number_is_reported(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        replay_parser().parse_args(["--speed", "fast", "x"])

    assert "argument --speed: fast is not a number;" in capsys.readouterr().err


async def test_the_demo_cannot_continue_a_session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("DATA", "CONFIG", "CACHE"):
        monkeypatch.setenv(f"CODER_TUI_{name}_DIR", str(tmp_path / name.lower()))
    arguments = session_parser().parse_args(["--model", "demo", "--continue", str(tmp_path)])

    with pytest.raises(UserError) as refused:
        await SessionOpener(read_invocation(arguments, arguments.path), is_demo=False).open()

    assert str(refused.value) == NOT_KEPT
