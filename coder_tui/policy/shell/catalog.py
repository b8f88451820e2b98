"""Every program that something is known of, under its bare name.

Whether the workspace itself could stand in for a well-known program.
"""

import os
from dataclasses import replace
from pathlib import Path

from coder_tui.policy.paths import is_within
from coder_tui.policy.shell.call import Call, Judge
from coder_tui.policy.shell.notes import Notes, Word
from coder_tui.policy.shell.programs.building import BUILDING, judge_unlisted
from coder_tui.policy.shell.programs.builtins import BUILTINS
from coder_tui.policy.shell.programs.files import FILES
from coder_tui.policy.shell.programs.git import GIT
from coder_tui.policy.shell.programs.network import NETWORK
from coder_tui.policy.shell.programs.reading import READING
from coder_tui.policy.shell.programs.search import SEARCH
from coder_tui.policy.shell.programs.stream_editors import STREAM_EDITORS
from coder_tui.policy.shell.programs.text_tools import TEXT_TOOLS
from coder_tui.policy.shell.programs.wrappers import WRAPPERS


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


_PROGRAMS: dict[str, Judge] = {
    **READING,
    **TEXT_TOOLS,
    **SEARCH,
    **STREAM_EDITORS,
    **BUILDING,
    **NETWORK,
    **FILES,
    **GIT,
    **WRAPPERS,
    **BUILTINS,
}


def judge(call: Call, notes: Notes) -> None:
    """Note what the call does. A path to a program counts as its name, but proves nothing."""
    # Where the disk does not tell letters apart, CURL is curl.
    name = call.name.rpartition("/")[2].lower()
    known = _PROGRAMS.get(name)
    if known is None:
        judge_unlisted(call, notes)
        return
    if name != call.name:
        notes.runs(call.name, "a program by its path may be another one of that name")
        notes.other_texts.append(" ".join((name, *(word.text for word in call.arguments))))
    elif name not in BUILDING and (program := stands_in(name, notes.place.roots)):
        notes.runs(program, "it lies in the workspace and would run in place of the system's")
        notes.doubt(f"the PATH leads to {program}, which lies in the workspace")
    known(Call((*_renamed(call, name), *call.arguments)), notes)
    if name != call.name:
        notes.is_read_only = False
        notes.plain_text = ""


def _renamed(call: Call, name: str) -> tuple[Word, ...]:
    return (replace(call.words[0], text=name),)
