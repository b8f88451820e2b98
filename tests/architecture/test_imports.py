"""Imports point one way, and what is slow to import stays away from where it would be felt."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SLOW = {
    "litellm",
    "mcp",
    "pygls",
    "lsprotocol",
    "pydantic",
    "pydantic_settings",
    "httpx",
    "sqlite3",
    "markdown_it",
}


def modules_after(code: str) -> set[str]:
    """Top-level packages that a fresh interpreter has loaded after running `code`."""
    script = f"{code}\nimport sys\nprint(*sorted({{name.split('.')[0] for name in sys.modules}}))"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=ROOT
    )
    return set(done.stdout.splitlines()[-1].split())


def test_import_contracts_hold() -> None:
    command = [str(Path(sys.executable).with_name("lint-imports")), "--no-cache"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_first_paint_imports_nothing_slow() -> None:
    loaded = modules_after("import coder_tui.cli.main, coder_tui.cli.screen")
    assert "textual" in loaded
    assert loaded & SLOW == set()


def test_running_without_a_screen_loads_no_textual() -> None:
    loaded = modules_after(
        "import runpy, sys\n"
        "sys.argv = ['coder-tui', 'run', '-p', 'hello', '--model', 'demo']\n"
        "from coder_tui.cli.main import run_command\n"
        "import os, tempfile\n"
        "os.environ['CODER_TUI_DATA_DIR'] = tempfile.mkdtemp()\n"
        "os.chdir(tempfile.mkdtemp())\n"
        "assert run_command(sys.argv[1:]) in (0, 3)"
    )
    assert "coder_tui" in loaded
    assert loaded & {"textual", "rich", "litellm"} == set()


def test_the_append_only_mode_loads_no_textual() -> None:
    assert modules_after("import coder_tui.cli.plain") & {"textual", "rich", "litellm"} == set()
