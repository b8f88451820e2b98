"""Commands that tell about the session: tools, rules, context, language servers."""

from typing import TYPE_CHECKING

from coder_tui.commands.base import Intent, OpenScreen, Say, ScreenName
from coder_tui.protocol.outcomes import NoticeLevel
from coder_tui.text.safe_text import safe_line

if TYPE_CHECKING:
    from coder_tui.agent.session import Session
    from coder_tui.lsp.overview import ServerLine

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
    from coder_tui.lsp.overview import facts_of, state_words

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
