"""Programs that some tests need, and how a machine without them gets them."""

import shutil
import subprocess
from functools import cache
from pathlib import Path

import pytest

from coder_tui.shell.sandbox.bubblewrap import find_bubblewrap
from coder_tui.shell.sandbox.landlock import landlock_version

MCP_SERVERS = Path.home() / ".cache" / "coder-tui-tests" / "mcp"
_MCP_PROGRAMS = (
    MCP_SERVERS / "node_modules" / ".bin" / "mcp-server-everything",
    MCP_SERVERS / "venv" / "bin" / "mcp-server-time",
)
_PACKAGES = {"chromium": ("chromium", "chromium-browser")}


@cache
def working_bubblewrap() -> str:
    """Return the path of a bubblewrap that may be used here, or nothing. Blocks."""
    program = find_bubblewrap(())
    words = (program, "--unshare-user", "--unshare-pid", "--ro-bind", "/", "/", "--proc", "/proc", "true")
    works = program and subprocess.run(words, capture_output=True, check=False).returncode == 0
    return program if works else ""


@cache
def found(name: str) -> str:
    """Return the path of a program, or nothing."""
    return next((path for each in _PACKAGES.get(name, (name,)) if (path := shutil.which(each))), "")


def skip_without(name: str) -> None:
    """Skip the test that runs if `name` is missing. Each reason is one line of the summary."""
    match name:
        case "bubblewrap":
            is_there, hint = bool(working_bubblewrap()), "apt install bubblewrap"
            if not is_there and find_bubblewrap(()):
                hint = "it is installed, but does not work here; see coder-tui doctor"
        case "Landlock":
            is_there, hint = landlock_version() > 0, "Linux 5.13 or newer"
        case "the MCP reference servers":
            is_there, hint = all(path.exists() for path in _MCP_PROGRAMS), ".ci/run installs them"
        case _:
            is_there, hint = bool(found(name)), f"apt install {name}"
    if not is_there:
        pytest.skip(f"needs {name}: {hint}")
