"""Programs that a command line takes out of the folder it runs in: whoever fills that folder chooses them."""

import re

from coder_tui.policy.shell.analyse import analyse

_READS_A_SCRIPT = re.compile(
    r"(?:ba|da|z|k|fi)?sh|\.|source|(?:python|pypy|node|ruby|perl|php|lua)[\d.]*|deno|bun|tsx|ts-node"
)
_ELSEWHERE = ("/", "~", "$")


def relative_program(command: str, directory: str) -> str:
    """The first one, as it is written there; empty where there is none. Blocks."""
    for part in analyse(command, directory).parts:
        program, *arguments = part.words
        if program == "cd" and arguments and arguments[-1].startswith(_ELSEWHERE):
            return ""  # what follows is looked for there
        if "/" in program and not program.startswith(_ELSEWHERE):
            return program
        if _READS_A_SCRIPT.fullmatch(program.rpartition("/")[2]) and (script := _script(arguments)):
            return script
    return ""


def _script(arguments: list[str]) -> str:
    """What an interpreter is given to read, if that lies where it runs."""
    first = arguments[0] if arguments else ""
    if not first or first.startswith(("-", *_ELSEWHERE)):
        # Behind a flag may stand a text as well as a file; a file that is meant has a folder or an ending.
        named = (word for word in arguments[1:] if re.fullmatch(r"\.{1,2}/\S+", word))
        return next(named, "") if first.startswith("-") else ""
    return first
