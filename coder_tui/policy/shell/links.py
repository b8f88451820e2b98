"""Where paths really lead: the only look that the analysis takes at the disk."""

import os
import re
from glob import iglob
from itertools import islice
from pathlib import Path

MOST_MATCHES = 2_000


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


def matches(folder: str, pattern: str) -> tuple[str, ...] | None:
    """The names that a shell's pattern stands for now; None where they are too many to look at."""
    try:
        found = tuple(
            islice(iglob(f"{folder.rstrip('/')}/{pattern.replace('[^', '[!')}"), MOST_MATCHES + 1)  # noqa: PTH207 - Path.glob finds hidden names, too
        )
    except (OSError, ValueError, re.error):
        return None
    return found if len(found) <= MOST_MATCHES else None
