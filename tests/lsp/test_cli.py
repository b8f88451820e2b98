"""`coder-tui lsp`: list servers and install them."""

import json
import sys
from pathlib import Path

import pytest

from coder_tui.cli.main import run_command
from coder_tui.lsp.find_server import InstallFailedError, InstallPlan, plans_for, run_plan
from coder_tui.lsp.servers import KNOWN

NAMED = {spec.name: spec for spec in KNOWN}


@pytest.fixture(autouse=True)
def alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Give the test its own folders, without any server."""
    for name in ("DATA", "CONFIG", "CACHE"):
        monkeypatch.setenv(f"CODER_TUI_{name}_DIR", str(tmp_path / name.lower()))
    (tmp_path / "w").mkdir()
    (tmp_path / "bin").mkdir()
    monkeypatch.chdir(tmp_path / "w")
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setattr("coder_tui.lsp.find_server.sys.executable", str(tmp_path / "nowhere" / "python"))


def program(path: Path, text: str = "#!/bin/sh\nexit 0\n") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


def test_status_lists_every_server_with_its_program_or_install_command(
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
def test_a_server_without_a_command_is_an_error_with_file_and_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, hint: str
) -> None:
    settings = tmp_path / "config" / "config.toml"
    settings.parent.mkdir()
    settings.write_text(f"# mine\n\n[lsp.{name}]\nextensions = ['.m']\n")
    assert run_command(["lsp", "status"]) == 2
    words = "this server is not a known one, so it needs a command and extensions"
    assert f"{settings}:3: lsp.{name}: {words}{hint}\n" in capsys.readouterr().err


def test_install_shows_its_commands_and_needs_a_yes(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["lsp", "install"]) == 2
    reported = capsys.readouterr()
    assert "bash-language-server" in reported.out
    assert "'python-lsp-server[all]'" in reported.out
    assert "--yes" in reported.err


def test_installing_an_unknown_name_lists_the_known_ones(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["lsp", "install", "cobol", "--yes"]) == 2
    assert "unknown language server or language cobol" in capsys.readouterr().err


def test_a_server_without_an_installer_is_left_to_the_user(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["lsp", "install", "go", "--yes"]) == 1
    assert "go install golang.org/x/tools/gopls@latest" in capsys.readouterr().err


def test_a_node_server_is_installed_into_our_own_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SOME_TOKEN", "hush")
    # Stands in for npm: makes the program where it is reported to, and tells what it got.
    script = (
        "#!/bin/sh",
        '/bin/mkdir -p "$3/node_modules/.bin"',
        '/bin/cp "$0" "$3/node_modules/.bin/bash-language-server"',
        'echo "$@ $SOME_TOKEN"',
    )
    program(tmp_path / "bin" / "npm", "\n".join(script))
    assert run_command(["lsp", "install", "sh", "--yes"]) == 0
    reported = capfd.readouterr().out
    folder = tmp_path / "data" / "lsp" / "node"
    assert f"install --prefix {folder} --no-audit --no-fund bash-language-server \n" in reported
    assert run_command(["lsp", "status", "--json"]) == 0
    rows = {row["server"]: row for row in json.loads(capfd.readouterr().out)}
    assert rows["bash-language-server"]["program"] == str(
        folder / "node_modules" / ".bin" / "bash-language-server"
    )


def commands(folder: Path, *names: str) -> list[tuple[str, ...]]:
    return [
        command for plan in plans_for([NAMED[name] for name in names], folder) for command in plan.commands
    ]


def test_python_servers_get_an_environment_of_their_own(tmp_path: Path) -> None:
    python = str(tmp_path / "python" / "bin" / "python")
    install = (python, "-m", "pip", "install", "--disable-pip-version-check")
    make = (sys.executable, "-m", "venv", "--clear", str(tmp_path / "python"))
    with_all = (*install, "python-lsp-server[all]")
    assert commands(tmp_path, "pylsp", "ruff") == [make, with_all, (*install, "ruff")]
    program(tmp_path / "python" / "bin" / "python")
    assert commands(tmp_path, "pylsp", "ruff") == [with_all, (*install, "ruff")]


@pytest.mark.parametrize("is_gone", [True, False])
def test_an_environment_without_its_python_is_recreated_with_its_servers(
    tmp_path: Path, is_gone: bool
) -> None:
    binaries = tmp_path / "python" / "bin"
    program(binaries / "ruff")
    program(binaries / "pip")
    if is_gone:
        (binaries / "python").symlink_to(tmp_path / "gone")
    else:
        # Its modules belong to another version.
        program(binaries / "python", "#!/bin/sh\nexit 1\n")
    make, install = commands(tmp_path, "basedpyright")
    assert make[:4] == (sys.executable, "-m", "venv", "--clear")
    assert install[-2:] == ("basedpyright", "ruff")


def test_a_server_without_its_python_is_not_found(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    program(tmp_path / "data" / "lsp" / "python" / "bin" / "pylsp", f"#!{tmp_path}/gone/python\n")
    assert run_command(["lsp", "status", "--json"]) == 0
    rows = {row["server"]: row["status"] for row in json.loads(capsys.readouterr().out)}
    assert rows["pylsp"] == "not_installed"


def test_status_says_that_all_servers_are_off(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CODER_TUI_LSP", '{"*": {"enabled": false}}')
    assert run_command(["lsp", "status"]) == 0
    assert "your settings turn all of them off" in capsys.readouterr().out


def test_install_adds_missing_checkers_or_says_how_to_get_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    python = program(tmp_path / "bin" / "python", "#!/bin/sh\nexit 1\n")
    program(tmp_path / "bin" / "pylsp", f"#!{python}\n")
    program(tmp_path / "bin" / "bash-language-server")
    assert run_command(["lsp", "install"]) == 2
    reported = capsys.readouterr()
    assert "pip install --disable-pip-version-check 'python-lsp-server[all]'" in reported.out
    assert "npm" not in reported.out
    assert "bash-language-server: shellcheck is missing, run: apt install shellcheck" in reported.err
    program(tmp_path / "bin" / "python")
    assert run_command(["lsp", "install"]) == 1
    program(tmp_path / "bin" / "shellcheck")
    assert run_command(["lsp", "install"]) == 0
    assert "Nothing to install" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("command", "words"),
    [(("no-such-program",), "is not installed"), (("/bin/sh", "-c", "exit 3"), "ended with exit code 3")],
)
def test_a_command_that_fails_ends_the_installation(command: tuple[str, ...], words: str) -> None:
    with pytest.raises(InstallFailedError, match=words):
        run_plan(InstallPlan(NAMED["pylsp"], (command,)))
