"""Programs written in Python that can be started by name."""

import sys
from pathlib import Path

# A path with a space cannot be named after #!.
_HEAD = """#!/bin/sh
'''exec' "{python}" "$0" "$@"
' '''
"""


def write_program(path: Path, code: str, python: str = sys.executable) -> Path:
    """Write a program that runs `code`, and return its path."""
    path.write_text(f"{_HEAD.format(python=python)}{code}\n", encoding="utf-8")
    path.chmod(0o755)
    return path
