"""Finds the folders that ship with the program, in a wheel or in a checkout."""

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent


def bundled(name: str) -> Path:
    """The folder `name` (`themes`, `skills`): in the package when installed, next to it in a checkout."""
    installed = _PACKAGE / "bundled" / name
    return installed if installed.is_dir() else _PACKAGE.parent / name


def sample_project() -> Path:
    """The small project with a bug that the demo model fixes."""
    return _PACKAGE / "sample_project"
