"""Find programs that a command line runs from its own folder: the content of that folder chooses them."""

import re

from coder_tui.policy.shell.analysis import analyze_command

_READS_A_SCRIPT = re.compile(
    r"(?:ba|da|z|k|fi)?sh|\.|source|(?:python|pypy|node|ruby|perl|php|lua)[\d.]*|deno|bun|tsx|ts-node"
)
_ELSEWHERE = ("/", "~", "$")


def relative_program(command: str, directory: str) -> str:
    """Return the first such program as written, or an empty string. Blocks."""
    for part in analyze_command(command, directory).parts:
        program, *arguments = part.words
        if program == "cd" and arguments and arguments[-1].startswith(_ELSEWHERE):
            return ""  # the rest is looked up there
        if "/" in program and not program.startswith(_ELSEWHERE):
            return program
        if _READS_A_SCRIPT.fullmatch(program.rpartition("/")[2]) and (script := _script(arguments)):
            return script
    return ""


def _script(arguments: list[str]) -> str:
    """Return the script that an interpreter is given, if it is in the folder it runs in."""
    first = arguments[0] if arguments else ""
    if not first or first.startswith(("-", *_ELSEWHERE)):
        # A flag may be followed by a text or a file. Only a path with a folder surely is a file.
        named = (word for word in arguments[1:] if re.fullmatch(r"\.{1,2}/\S+", word))
        return next(named, "") if first.startswith("-") else ""
    return first
