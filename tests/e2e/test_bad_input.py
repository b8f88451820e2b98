"""Bad input ends in one clear sentence and the right exit code, never in a traceback."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from tests.fakes.program import Program


@pytest.fixture
def program(tmp_path: Path) -> Program:
    return Program.in_folder(tmp_path)


def sentence(program: Program, *arguments: str, code: int, stdin: str = "", **environment: str) -> str:
    done = program.run(*arguments, stdin=stdin, **environment)
    assert done.returncode == code, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    return done.stderr.strip()


def test_an_unknown_flag(program: Program) -> None:
    assert sentence(program, "--modle", "x", code=2) == (
        "coder-tui: unrecognized arguments: --modle (did you mean --model?); see 'coder-tui --help'"
    )


def test_a_missing_folder(program: Program) -> None:
    assert sentence(program, "./nowhere", code=2) == "coder-tui: no folder at ./nowhere"


def test_a_file_in_place_of_a_folder(program: Program) -> None:
    (program.project / "f").write_text("")
    assert sentence(program, "f", code=2) == "coder-tui: f is not a folder"


def test_no_terminal(program: Program) -> None:
    assert (
        sentence(program, code=2)
        == "coder-tui: the full screen needs a terminal; without one, use --plain or 'coder-tui run'"
    )


def test_wrong_toml(program: Program) -> None:
    file = program.home / "c.toml"
    file.write_text("[model]\nname = \n")
    message = sentence(program, "run", "-p", "x", "--config", str(file), code=2)
    assert message.startswith((f"coder-tui: {file}:2", "coder-tui: ~/c.toml:2"))


def test_a_wrong_key_names_the_line_and_the_nearest(program: Program) -> None:
    file = program.home / "c.toml"
    file.write_text("[bash]\ntimeout = 3\n")
    message = sentence(program, "run", "-p", "x", "--config", str(file), code=2)
    assert "c.toml:2" in message
    assert "timeout_ms" in message


def test_a_config_file_that_is_not_there(program: Program) -> None:
    assert "does not exist" in sentence(program, "run", "-p", "x", "--config", "/nope.toml", code=2)


def test_a_data_directory_that_cannot_be_made(program: Program) -> None:
    message = sentence(program, "run", "-p", "x", "--model", "demo", code=1, CODER_TUI_DATA_DIR="/proc/nope")
    assert message.startswith("coder-tui: cannot use the data directory /proc/nope")
    assert "CODER_TUI_DATA_DIR" in message


def test_an_empty_prompt(program: Program) -> None:
    said = "coder-tui: the prompt is empty; pass one with -p TEXT or on standard input"
    assert sentence(program, "run", "-p", "  ", code=2) == said


def test_no_model(program: Program) -> None:
    message = sentence(program, "run", "-p", "x", code=1, OPENAI_API_KEY="", ANTHROPIC_API_KEY="")
    assert message.startswith("coder-tui: no model: set a key")


def test_nothing_to_continue(program: Program) -> None:
    message = sentence(program, "run", "-p", "x", "--model", "demo", "--continue", code=1)
    assert message.startswith("coder-tui: no session in")


def test_an_unknown_session(program: Program) -> None:
    message = sentence(program, "run", "-p", "x", "--model", "demo", "--resume", "nope", code=1)
    assert "sessions list" in message


def test_a_session_of_another_folder(program: Program) -> None:
    """However it is asked for: its model would work on files that it has never seen."""
    program.run("run", "-p", "x", "--model", "demo")
    (info,) = json.loads(program.run("sessions", "list", "--json").stdout)
    way = f"--resume {info['id']}"
    other = program.home / "other"
    other.mkdir()
    elsewhere = replace(program, project=other)
    belongs = (
        f"coder-tui: session {info['id']} belongs to {program.project}, not to ~/other; to go on with it:"
    )

    run = sentence(elsewhere, "run", "-p", "x", "--model", "demo", "--resume", info["id"][:8], code=2)
    assert run == f"{belongs} coder-tui run {way} --directory {program.project}"
    fork = sentence(
        program, "run", "-p", "x", "--model", "demo", "-C", str(other), *way.split(), "--fork", code=2
    )
    assert fork == run
    plain = sentence(program, "--plain", "--model", "openai/x", *way.split(), str(other), code=2)
    assert plain == f"{belongs} coder-tui {way} {program.project}"
    assert list(other.iterdir()) == []

    program.project.rmdir()
    gone = sentence(elsewhere, "run", "-p", "x", "--model", "demo", *way.split(), code=2)
    assert "which is gone; " in gone


def test_tool_lines_that_are_not_json(program: Program) -> None:
    done = program.run("tool", "call", "--stdin", stdin='nonsense\n{"tool": "list", "args": {}}\n[1]\n')
    first, second, third = done.stdout.splitlines()
    assert '"type": "invalid_tool_params"' in first
    assert '"ok": true' in second
    assert '"type": "invalid_tool_params"' in third


def test_a_reader_that_goes_away(program: Program) -> None:
    process = program.start("tool", "list", "--json")
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    assert process.wait(60) in (0, 1)
    assert "Traceback" not in process.stderr.read()
    process.stderr.close()
