"""All known programs by name, and whether the workspace contains a program that would run instead of one."""

import os
from dataclasses import replace
from pathlib import Path

from coder_tui.policy.paths import is_within
from coder_tui.policy.shell.call import Call, Judge
from coder_tui.policy.shell.notes import CommandNotes, Word
from coder_tui.policy.shell.programs.building import BUILDING, judge_unlisted
from coder_tui.policy.shell.programs.builtins import BUILTINS
from coder_tui.policy.shell.programs.files import FILES, TEXT_TOOLS
from coder_tui.policy.shell.programs.git import GIT
from coder_tui.policy.shell.programs.network import NETWORK
from coder_tui.policy.shell.programs.reading import READING
from coder_tui.policy.shell.programs.search import SEARCH
from coder_tui.policy.shell.programs.stream_editors import STREAM_EDITORS
from coder_tui.policy.shell.programs.wrappers import WRAPPERS


def shadowing_program(name: str, roots: tuple[str, ...]) -> str:
    """Return the program of that name in a workspace folder on the PATH, or an empty string.

    An activated environment puts such a folder there. An edit could write a program into it, which would then
    run if a rule allows `git log`.
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


def judge(call: Call, notes: CommandNotes) -> None:
    """Note what the call does. A path to a program is judged by its name, but proves nothing."""
    # On a disk that ignores case, CURL is curl.
    name = call.name.rpartition("/")[2].lower()
    known = _PROGRAMS.get(name)
    if known is None:
        judge_unlisted(call, notes)
        return
    if name != call.name:
        notes.runs(call.name, "a program by its path may be another one of that name")
        notes.other_texts.append(" ".join((name, *(word.text for word in call.arguments))))
    elif name not in BUILDING and (program := shadowing_program(name, notes.context.roots)):
        notes.runs(program, "it is in the workspace and would run instead of the system's")
        notes.doubt(f"the PATH finds {program}, which is in the workspace")
    known(Call((*_renamed(call, name), *call.arguments)), notes)
    if name != call.name:
        notes.is_read_only = False
        notes.plain_text = ""


def _renamed(call: Call, name: str) -> tuple[Word, ...]:
    return (replace(call.words[0], text=name),)
