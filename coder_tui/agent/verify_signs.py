"""Which command looks like a project's own check."""

import json
import re
from collections.abc import Callable
from pathlib import Path

_MOST_READ = 200_000


def checked_in(directory: Path) -> str:
    """A command that looks like the check of the project there; empty where none is seen. Blocks."""
    return next((command for command, is_there in _SIGNS if is_there(directory)), "")


def _text(path: Path) -> str:
    try:
        with path.open(encoding="utf-8", errors="replace") as file:
            return file.read(_MOST_READ)
    except OSError:
        return ""


def _has_npm_test(folder: Path) -> bool:
    try:
        script = json.loads(_text(folder / "package.json"))["scripts"]["test"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return False
    # What npm itself puts there.
    return isinstance(script, str) and "no test specified" not in script


def _has_pytest(folder: Path) -> bool:
    if (folder / "pytest.ini").exists() or (folder / "conftest.py").exists():
        return True
    has_tests = (folder / "tests").is_dir() or any(folder.glob("test_*.py"))
    return has_tests and any((folder / name).exists() for name in ("pyproject.toml", "setup.py", "setup.cfg"))


_SIGNS: tuple[tuple[str, Callable[[Path], bool]], ...] = (
    ("make test", lambda folder: re.search(r"^test\s*:", _text(folder / "Makefile"), re.M) is not None),
    ("pytest -q", _has_pytest),
    ("npm test", _has_npm_test),
    ("cargo test", lambda folder: (folder / "Cargo.toml").exists()),
    ("go test ./...", lambda folder: (folder / "go.mod").exists()),
)
