"""Commands that take the conversation out: into a file or the clipboard."""

import asyncio
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from coder_tui.commands.base import Copy, Intent, Say
from coder_tui.config.paths import DATA_VARIABLE, display_path
from coder_tui.protocol.outcomes import NoticeLevel

if TYPE_CHECKING:
    from coder_tui.agent.session import Session

PICTURES = "svg"
FORMATS = ("md", "jsonl", PICTURES)


async def export(session: "Session", argument: str) -> Intent:
    """`md`, `jsonl` or `svg`, by the name of the file where that tells."""
    words = argument.split(maxsplit=1)
    form = words.pop(0) if words and words[0] in FORMATS else ""
    name = words[0] if words else ""
    ending = name.rpartition(".")[2]
    form = form or (ending if ending in FORMATS else FORMATS[0])
    target = _target(session, name or f"coder-tui-{session.id}.{form}")
    if form == PICTURES:
        return await _drawn(session, target)
    return await _written(target, await session.facts.exported(as_lines=form == "jsonl"))


async def copy(session: "Session", argument: str) -> Intent:
    """The newest reply; with a name, into that file: not every terminal has a clipboard."""
    text = session.facts.last_reply()
    if not text:
        return Say("There is no reply to copy yet.", NoticeLevel.WARNING)
    if argument:
        return await _written(_target(session, argument), text + "\n")
    return Copy(text)


async def _drawn(session: "Session", target: Path) -> Intent:
    """By a program of its own: it draws the whole session on a screen that nobody sees."""
    session.notice(NoticeLevel.INFO, "Drawing the session; a long one takes some seconds …")
    arguments = ("sessions", "export", session.id, "--format", PICTURES, "--output", str(target))
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *("-P", "-m", "coder_tui", *arguments),
        env={**os.environ, DATA_VARIABLE: str(session.facts.data_directory)},
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        out, problems = await process.communicate()
    except asyncio.CancelledError:
        process.kill()
        await process.wait()
        raise
    if process.returncode:
        told = problems.decode(errors="replace").strip().removeprefix("coder-tui: ")
        return Say(told or "The pictures could not be drawn.", NoticeLevel.ERROR)
    return Say(out.decode(errors="replace").strip())


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
