"""Our tools by the names that hooks of other programs know, and calls in the words that they expect."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

# The first is what such a hook is told; all of them are what it may wait for.
_NAMES: Mapping[str, tuple[str, ...]] = {
    "bash": ("Bash",),
    "bash_output": ("BashOutput",),
    "bash_kill": ("KillShell", "KillBash"),
    "read": ("Read",),
    "read_many": ("Read",),
    "read_around": ("Read",),
    "edit": ("Edit", "MultiEdit"),
    "patch": ("Edit", "MultiEdit"),
    "apply_patch": ("Edit", "MultiEdit"),
    "write": ("Write",),
    "create_file": ("Write",),
    "glob": ("Glob",),
    "grep": ("Grep",),
    "list": ("LS",),
    "fetch": ("WebFetch",),
    "websearch": ("WebSearch",),
    "task": ("Task", "Agent"),
    "fork": ("Task", "Agent"),
    "todowrite": ("TodoWrite",),
    "question": ("AskUserQuestion",),
    "plan_exit": ("ExitPlanMode",),
    "skill": ("Skill",),
}
_INPUT, _PATH, _THEIRS = "tool_input", "path", "file_path"


def other_names(tool: str) -> tuple[str, ...]:
    return _NAMES.get(tool, ())


def said_to_others(fields: Mapping[str, Any], directory: Path) -> dict[str, Any]:
    """The same call with a name and a `file_path` that such a hook looks for."""
    said = dict(fields)
    if "tool_name" in said:
        said["tool_name"] = (*other_names(str(said["tool_name"])), said["tool_name"])[0]
    given = said.get(_INPUT)
    if isinstance(given, Mapping) and isinstance(given.get(_PATH), str):
        said[_INPUT] = {**given, _THEIRS: str(directory / given[_PATH])}
    return said


def in_our_words(updated: Mapping[str, Any], given: Mapping[str, Any], directory: Path) -> dict[str, Any]:
    """What a hook made of the input: its `file_path` is our `path`, unless it only gave that back."""
    ours = {name: value for name, value in updated.items() if name != _THEIRS}
    theirs = updated.get(_THEIRS)
    if _PATH in given and isinstance(theirs, str) and theirs != str(directory / str(given[_PATH])):
        ours[_PATH] = theirs
    return ours
