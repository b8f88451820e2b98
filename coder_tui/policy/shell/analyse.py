"""Takes a command line apart: the one entry to everything under `policy/shell`."""

from pathlib import Path

from coder_tui.policy.command import CommandPart, ShellCommand
from coder_tui.policy.shell.analysis import Analysis
from coder_tui.policy.shell.notes import Place

__all__ = ["CommandPart", "ShellCommand", "analyse"]


def analyse(command: str, directory: str, *, home: str = "", roots: tuple[str, ...] = ()) -> ShellCommand:
    """What `command` would do, run in `directory`; nothing is run, links are followed to where they lead."""
    place = Place((directory,), roots or (directory,), home or str(Path.home()))
    return Analysis(place).of(command)
