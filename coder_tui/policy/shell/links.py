"""Where paths really lead."""

import os
from pathlib import Path


def resolved(path: str) -> str | None:
    """The path without links; None where that cannot be told, so that nothing is built on a guess."""
    try:
        return os.path.realpath(path)
    except (OSError, ValueError):
        return None


def is_link(path: str) -> bool:
    """Also where it cannot be told: what cannot be looked at may lead anywhere."""
    try:
        return Path(path).is_symlink()
    except (OSError, ValueError):
        return True


def exists(path: str) -> bool:
    return os.path.lexists(path)
