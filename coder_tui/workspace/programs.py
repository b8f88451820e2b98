"""Finds programs of the machine, so that none of a project's own is started in their place."""

import os
from collections.abc import Mapping
from pathlib import Path


def find_program(name: str, environ: Mapping[str, str], roots: tuple[Path, ...]) -> str | None:
    """The program by its absolute path; never one that lies in the workspace or is found relative to it."""
    for folder in environ.get("PATH", os.defpath).split(os.pathsep):
        candidate = Path(folder, name)
        if not candidate.is_absolute() or not os.access(candidate, os.X_OK) or not candidate.is_file():
            continue
        real = Path(os.path.realpath(candidate))
        if not any(path.is_relative_to(root) for root in roots for path in (real, candidate)):
            return str(candidate)
    return None
