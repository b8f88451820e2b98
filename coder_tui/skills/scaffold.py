"""Begins a new skill: a folder with a `SKILL.md` that is right and wants to be filled."""

import json
from pathlib import Path

from coder_tui.config.paths import display_path
from coder_tui.protocol.errors import UsageError
from coder_tui.skills.parse import is_proper_name
from coder_tui.skills.skill import DESCRIPTION_LIMIT, NAME_LIMIT, SKILL_FILE

TEMPLATE_DESCRIPTION = "Say what this skill does, and when to use it."
_TEXT = """---
name: {name}
description: {description}
---
# {title}

## When to use it

## Steps

1.

## How to tell that it is done
"""


def new_skill(root: Path, name: str, description: str) -> Path:
    """Make `root/name/SKILL.md`; returns the file. `UsageError` says what is in the way."""
    if not is_proper_name(name):
        rule = f"1 to {NAME_LIMIT} characters of a-z, 0-9 and single hyphens"
        raise UsageError(f"{name!r} cannot be the name of a skill: {rule}")
    if len(description) > DESCRIPTION_LIMIT:
        raise UsageError(f"the description is longer than {DESCRIPTION_LIMIT} characters")
    folder = root / name
    title = name.replace("-", " ").capitalize()
    words = " ".join(description.split()) or TEMPLATE_DESCRIPTION
    try:
        root.mkdir(parents=True, exist_ok=True)
        folder.mkdir()
        text = _TEXT.format(name=name, description=json.dumps(words, ensure_ascii=False), title=title)
        (folder / SKILL_FILE).write_text(text, encoding="utf-8")
    except FileExistsError as error:
        raise UsageError(f"{display_path(folder)} exists already") from error
    except OSError as error:
        raise UsageError(f"cannot write {display_path(folder)}: {error.strerror or error}") from error
    return folder / SKILL_FILE
