"""Commands that tell about the session: tools, rules, context, language servers.

Commands that take the conversation out: into a file or the clipboard.
"""

import asyncio
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from coder_tui.commands.base import Copy, Intent, OpenScreen, Say, ScreenName
from coder_tui.config.paths import DATA_VARIABLE, display_path
from coder_tui.protocol.outcomes import NoticeLevel
from coder_tui.text.safe_text import safe_line

if TYPE_CHECKING:
    from coder_tui.agent.session import Session
    from coder_tui.lsp.pool import ServerLine


_LAST_DECISIONS = 20


async def tools(session: "Session", argument: str) -> Intent:
    entries = session.facts.tools()
    width = max((len(entry.tool.name) for entry in entries), default=0)
    lines = [f"Tools that {session.model} has here:"]
    for entry in entries:
        label = entry.server or str(entry.origin)
        lines.append(f"  {entry.tool.name:<{width}} {entry.tool.kind:<8} {label}")
    return Say("\n".join(lines))


async def permissions(session: "Session", argument: str) -> Intent:
    policy = session.facts.policy
    lines = [f"Mode {policy.mode}. Rules, the strictest place wins:"]
    for layer in policy.layers:
        untrusted = "" if layer.is_trusted else " (not trusted: only stricter rules hold)"
        lines += [f"  {layer.name}{untrusted}", *(f"    {rule}" for rule in layer.effective)]
    if not any(layer.effective for layer in policy.layers):
        lines.append("    none of your own: the defaults hold")
    lines.append("Allowed in this session:")
    lines += [f"    {grant.key}: {grant.label} ({grant.scope})" for grant in policy.grants] or ["    nothing"]
    lines += await _decisions(session)
    return Say("\n".join(lines))


async def _decisions(session: "Session") -> list[str]:
    decisions = await session.facts.decisions()
    shown = decisions[-_LAST_DECISIONS:]
    heading = f"Decisions ({len(shown)} of {len(decisions)}):" if decisions else "No decisions yet."
    lines = [heading]
    for decision in shown:
        answer = f", answered {decision.answer}" if decision.answer else ""
        lines.append(f"    {decision.effect:<5} {decision.tool}: {decision.rule}, {decision.source}{answer}")
    return lines


async def context(session: "Session", argument: str) -> Intent:
    usage, sizes = session.facts.usage, session.facts.sizes()
    window = usage.context_window
    filled = f"{usage.context_tokens:,} tokens"
    if window:
        filled += f" of {window:,} ({100 * usage.context_tokens // window} %)"
    total = sum(sizes.values())
    lines = [f"The last request to {session.model} filled {filled}. The next would hold about {total:,}:"]
    whole = window or max(1, total)
    lines += [f"  {name:<18} {size:>9,}  {100 * size / whole:>5.1f} %" for name, size in sizes.items()]
    if window:
        free = max(0, window - total)
        lines.append(f"  {'free':<18} {free:>9,}  {100 * free / window:>5.1f} %")
    return Say("\n".join(lines))


async def lsp(session: "Session", argument: str) -> Intent:
    word, _, name = argument.partition(" ")
    if not word:
        return OpenScreen(ScreenName.LSP)
    if word == "status":
        return Say("\n".join(_servers(await session.lookup.servers())))
    if word != "restart" or not name.strip():
        return Say("Say /lsp, /lsp status or /lsp restart NAME.", NoticeLevel.WARNING)
    if await session.lookup.restart(name.strip()):
        return Say(f"{safe_line(name.strip())} starts anew.")
    return Say(f"No language server called {safe_line(name.strip())} was started.", NoticeLevel.WARNING)


def _servers(lines: "tuple[ServerLine, ...]") -> list[str]:
    """Those that were started with all there is to know, the others in a line each."""
    # Whoever has servers has loaded this; the menu of commands has not.
    from coder_tui.lsp.pool import facts_of, state_words

    started = [line for line in lines if line.is_started]
    told = ["Language servers:" if started else "No language server was started yet. Known are:"]
    for line in started:
        told.append(f"  {line.language:<5} {line.name}: {state_words(line)}")
        told += [f"        {label:<9}{safe_line(text)}" for label, text in facts_of(line)]
    if started:
        told.append("Not started:")
    width = max((len(line.name) for line in lines), default=0)
    for line in lines:
        if not line.is_started:
            more = line.detail or (line.command[0] if line.command else "")
            words = f"  {line.language:<5} {line.name:<{width}}  {state_words(line):<19}  {more}"
            told.append(safe_line(words.rstrip()))
    return told


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
