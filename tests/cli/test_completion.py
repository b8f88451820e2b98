"""The completion scripts, run in the shells themselves."""

import asyncio
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from coder_tui.cli.arguments import COMMANDS
from coder_tui.cli.completion import completion_points, main, parser_of
from coder_tui.cli.completion_scripts import bash_script, fish_script, zsh_script
from coder_tui.config.paths import find_directories
from coder_tui.protocol.access import Mode
from coder_tui.protocol.errors import UsageError
from coder_tui.storage.store import Store
from tests.fakes.needs import skip_without

Complete = Callable[..., list[list[str]]]
PROGRAM = Path(sys.executable).parent / "coder-tui"


SCRIPTS = {"bash": bash_script, "zsh": zsh_script, "fish": fish_script}
PREPARED = {
    "bash": "",
    # Outside of a line that is edited, what zsh would do with the words is only printed.
    "zsh": "compset() { return }; _describe() { print -rl -- ${${(P)2}%%:*} }; "
    "_files() { if [[ $1 = -/ ]]; then print -rl -- *(/); else print -rl -- *; fi }",
    "fish": "",
}


@pytest.fixture(params=list(SCRIPTS))
def complete(request: pytest.FixtureRequest, tmp_path: Path) -> Complete:
    """What the shell offers for the last word of each line."""
    shell: str = request.param
    script = tmp_path / f"script.{shell}"
    script.write_text(SCRIPTS[shell](completion_points()))
    (tmp_path / "apple").mkdir()
    (tmp_path / "settings.toml").touch()

    def offered(*lines: str) -> list[list[str]]:
        code = [PREPARED[shell], f"source {script}"]
        for line in lines:
            code += [_asked(shell, line.split(" ")), "echo ---"]
        parts = _run(shell, "\n".join(code), tmp_path).split("---\n")
        return [_fitting(part, line.split(" ")[-1]) for part, line in zip(parts, lines, strict=False)]

    return offered


def _asked(shell: str, words: list[str]) -> str:
    given = " ".join(f"'{word}'" for word in words)
    match shell:
        case "bash":
            return (
                f"COMP_WORDS=({given}); COMP_CWORD={len(words) - 1}; _coder_tui; "
                'printf "%s\\n" "${COMPREPLY[@]}"'
            )
        case "zsh":
            return f"words=({given}); CURRENT={len(words)}; _coder_tui"
        case _:
            return f"complete -C '{' '.join(words)}'"


def _fitting(output: str, beginning: str) -> list[str]:
    words = (line.split("\t")[0].rstrip("/") for line in output.splitlines())
    return sorted(word for word in words if word and word.startswith(beginning))


def _run(shell: str, code: str, folder: Path) -> str:
    skip_without(shell)
    own = {"HOME": str(folder), "PATH": f"{PROGRAM.parent}:{os.environ['PATH']}"}
    places_of = {f"CODER_TUI_{name}_DIR": str(folder / name.lower()) for name in ("DATA", "CONFIG")}
    environment = {**os.environ, **own, **places_of}
    done = subprocess.run(
        [shell, "-c", code], capture_output=True, text=True, cwd=folder, env=environment, timeout=60
    )
    assert done.stderr == ""
    return done.stdout


def test_each_word_is_completed_by_the_words_before_it(complete: Complete) -> None:
    expected = {
        "coder-tui sess": ["sessions"],
        "coder-tui sessions ex": ["export"],
        "coder-tui run --form": ["--format"],
        "coder-tui run --format ": ["json", "stream-json", "text"],
        "coder-tui --permission ": ["ask", "auto", "edits", "plan"],
        "coder-tui completion ": ["bash", "fish", "zsh"],
        # A flag's value is no command.
        "coder-tui --model sessions ex": [],
        "coder-tui sessions export --output list --fo": ["--force", "--format"],
        "coder-tui app": ["apple"],
        "coder-tui --config sett": ["settings.toml"],
        "coder-tui --add-dir sett": [],
    }

    found = complete(*expected)

    wanted = list(expected.values())
    wanted[7] = [flag for flag in wanted[7] if flag in _flags("sessions export")]
    assert found == wanted


def _flags(place: str) -> set[str]:
    return {
        name
        for each in completion_points()
        if each.name == place
        for flag in each.flags
        for name in flag.names
    }


def test_stored_sessions_are_offered(complete: Complete, tmp_path: Path) -> None:
    async def store() -> str:
        (tmp_path / "data").mkdir()
        opened = await Store.open(find_directories(data).database)
        info = await opened.sessions.create(str(tmp_path), "demo", Mode.ASK)
        await opened.sessions.rename(info.id, "fix: the $(touch x) tests")
        await opened.close()
        return info.id

    data = {"HOME": str(tmp_path), "CODER_TUI_DATA_DIR": str(tmp_path / "data")}
    session_id = asyncio.run(store())

    found = complete("coder-tui --resume ", f"coder-tui sessions show {session_id[:4]}")

    assert (found, (tmp_path / "x").exists()) == ([[session_id], [session_id]], False)


def test_without_a_store_there_are_no_sessions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CODER_TUI_DATA_DIR", str(tmp_path / "data"))

    assert main(["--sessions"]) == 0

    assert (capsys.readouterr().out, (tmp_path / "data").exists()) == ("", False)


def test_a_shell_must_be_named() -> None:
    with pytest.raises(UsageError, match="no shell given"):
        main([])


def test_every_command_has_a_parser_that_is_found() -> None:
    assert {parser_of(command).prog for command in COMMANDS} == {f"coder-tui {name}" for name in COMMANDS}
