"""`coder-tui lsp`: what is there, and getting more."""

import json
import sys
from pathlib import Path

import pytest

from coder_tui.cli.main import run_command
from coder_tui.lsp.install import InstallFailedError, InstallPlan, plan_for, run_plan
from coder_tui.lsp.servers import KNOWN

NAMED = {spec.name: spec for spec in KNOWN}


@pytest.fixture(autouse=True)
def alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Folders of its own, and no server anywhere."""
    for name in ("DATA", "CONFIG", "CACHE"):
        monkeypatch.setenv(f"CODER_TUI_{name}_DIR", str(tmp_path / name.lower()))
    (tmp_path / "w").mkdir()
    (tmp_path / "bin").mkdir()
    monkeypatch.chdir(tmp_path / "w")
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setattr("coder_tui.lsp.finding.sys.executable", str(tmp_path / "nowhere" / "python"))


def program(path: Path, text: str = "#!/bin/sh\nexit 0\n") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


def test_status_names_every_server_with_its_program_or_how_to_get_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = program(tmp_path / "bin" / "pylsp")
    assert run_command(["lsp", "status", "--json"]) == 0
    rows = {row["server"]: row for row in json.loads(capsys.readouterr().out)}
    assert rows.keys() == NAMED.keys()
    assert (rows["pylsp"]["status"], rows["pylsp"]["program"]) == ("fresh", str(found))
    assert rows["bash-language-server"] == {
        "language": "sh",
        "server": "bash-language-server",
        "status": "not_installed",
        "program": "",
        "detail": "run: npm i -g bash-language-server && apt install shellcheck",
    }
    assert run_command(["lsp", "status"]) == 0
    assert "py    pylsp" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("name", "hint"),
    [("mine", ""), ("pylsb", "; did you mean lsp.pylsp?"), ("rst", "; did you mean lsp.rust?")],
)
def test_a_server_without_a_command_is_complained_of_by_file_and_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, hint: str
) -> None:
    settings = tmp_path / "config" / "config.toml"
    settings.parent.mkdir()
    settings.write_text(f"# mine\n\n[lsp.{name}]\nextensions = ['.m']\n")
    assert run_command(["lsp", "status"]) == 2
    words = "a server that is not known needs a command and extensions"
    assert f"{settings}:3: lsp.{name}: {words}{hint}\n" in capsys.readouterr().err


def test_install_shows_its_commands_and_needs_a_yes(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["lsp", "install"]) == 2
    told = capsys.readouterr()
    assert "bash-language-server" in told.out
    assert "'python-lsp-server[all]'" in told.out
    assert "--yes" in told.err


def test_install_of_an_unknown_name_tells_what_there_is(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["lsp", "install", "cobol", "--yes"]) == 2
    assert "no language server or language is called cobol" in capsys.readouterr().err


def test_what_we_cannot_install_is_left_to_the_person(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["lsp", "install", "go", "--yes"]) == 1
    assert "go install golang.org/x/tools/gopls@latest" in capsys.readouterr().err


def test_a_node_server_comes_into_our_own_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SOME_TOKEN", "hush")
    # Stands in for npm: makes the program where it is told to, and tells what it got.
    script = (
        "#!/bin/sh",
        '/bin/mkdir -p "$3/node_modules/.bin"',
        '/bin/cp "$0" "$3/node_modules/.bin/bash-language-server"',
        'echo "$@ $SOME_TOKEN"',
    )
    program(tmp_path / "bin" / "npm", "\n".join(script))
    assert run_command(["lsp", "install", "sh", "--yes"]) == 0
    told = capfd.readouterr().out
    folder = tmp_path / "data" / "lsp" / "node"
    assert f"install --prefix {folder} --no-audit --no-fund bash-language-server \n" in told
    assert run_command(["lsp", "status", "--json"]) == 0
    rows = {row["server"]: row for row in json.loads(capfd.readouterr().out)}
    assert rows["bash-language-server"]["program"] == str(
        folder / "node_modules" / ".bin" / "bash-language-server"
    )


def test_a_python_server_gets_an_environment_of_its_own(tmp_path: Path) -> None:
    plan = plan_for(NAMED["pylsp"], tmp_path)
    python = str(tmp_path / "python" / "bin" / "python")
    assert plan.commands == (
        (sys.executable, "-m", "venv", str(tmp_path / "python")),
        (python, "-m", "pip", "install", "--disable-pip-version-check", "python-lsp-server[all]"),
    )
    program(tmp_path / "python" / "bin" / "pip")
    assert plan_for(NAMED["ruff"], tmp_path).commands[0][-1] == "ruff"


@pytest.mark.parametrize(
    ("command", "words"),
    [(("no-such-program",), "is not installed"), (("/bin/sh", "-c", "exit 3"), "ended with exit code 3")],
)
def test_a_command_that_fails_ends_the_installation(command: tuple[str, ...], words: str) -> None:
    with pytest.raises(InstallFailedError, match=words):
        run_plan(InstallPlan(NAMED["pylsp"], (command,)))
