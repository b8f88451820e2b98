"""Commands that take the conversation out: into a file or the clipboard."""

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

from coder_tui.commands.base import Copy, Intent, Say
from coder_tui.config.paths import display_path
from coder_tui.protocol.outcomes import NoticeLevel

if TYPE_CHECKING:
    from coder_tui.agent.session import Session

FORMATS = ("md", "jsonl")


async def export(session: "Session", argument: str) -> Intent:
    """`md` or `jsonl`, by the name of the file where that tells."""
    words = argument.split(maxsplit=1)
    form = words.pop(0) if words and words[0] in FORMATS else ""
    name = words[0] if words else ""
    ending = name.rpartition(".")[2]
    form = form or (ending if ending in FORMATS else FORMATS[0])
    target = _target(session, name or f"coder-tui-{session.id}.{form}")
    return await _written(target, await session.facts.exported(as_lines=form == "jsonl"))


async def copy(session: "Session", argument: str) -> Intent:
    """The newest reply; with a name, into that file: not every terminal has a clipboard."""
    text = session.facts.last_reply()
    if not text:
        return Say("There is no reply to copy yet.", NoticeLevel.WARNING)
    if argument:
        return await _written(_target(session, argument), text + "\n")
    return Copy(text)


def _target(session: "Session", name: str) -> Path:
    return session.directory / Path(name).expanduser()


async def _written(target: Path, text: str) -> Intent:
    try:
        await asyncio.to_thread(_write_new, target, text)
    except FileExistsError:
        return Say(f"{display_path(target)} exists already; name another file.", NoticeLevel.ERROR)
    except OSError as error:
        return Say(f"{display_path(target)} cannot be written: {error.strerror}.", NoticeLevel.ERROR)
    return Say(f"Written to {display_path(target)}.")


def _write_new(target: Path, text: str) -> None:
    with target.open("x", encoding="utf-8", errors="replace") as file:
        file.write(text)
