"""Commands that tell about the session: tools, rules, context."""

from typing import TYPE_CHECKING

from coder_tui.commands.base import Intent, Say

if TYPE_CHECKING:
    from coder_tui.agent.session import Session

_LAST_DECISIONS = 20


async def tools(session: "Session", argument: str) -> Intent:
    lines = [f"Tools that {session.model} has here:"]
    for entry in session.facts.tools():
        label = entry.server or str(entry.origin)
        lines.append(f"  {entry.tool.name:<14} {entry.tool.kind:<8} {label}")
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
