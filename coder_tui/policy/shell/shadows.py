"""Whether the workspace itself could stand in for a well-known program."""

import os
from pathlib import Path

from coder_tui.policy.paths import is_within


def stands_in(name: str, roots: tuple[str, ...]) -> str:
    """The program of that name in a folder of the workspace that the PATH names; empty where there is none.

    An activated environment puts one there. What is in it can be written by an edit, and would then run
    where a rule allows `git log`.
    """
    for folder in map(Path, os.environ.get("PATH", "").split(os.pathsep)):
        if folder.is_absolute() and is_within(real := os.path.realpath(folder), roots):
            program = Path(real, name)
            if os.path.lexists(program):
                return str(program)
    return ""
