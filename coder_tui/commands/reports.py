"""Commands that report on the session: tools, rules, context, language servers, costs.

Commands that take the conversation out: into a file or the clipboard."""

import asyncio
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from coder_tui.commands.base import Copy, Intent, OpenScreen, Say, ScreenName
from coder_tui.config.paths import DATA_VARIABLE, display_path
from coder_tui.protocol.messages import Usage
from coder_tui.protocol.outcomes import NoticeLevel
from coder_tui.text.safe_text import safe_line

if TYPE_CHECKING:
    from coder_tui.agent.session import Session
    from coder_tui.lsp.pool import ServerLine
    from coder_tui.storage.ledger import PaidCall, PaidDay


_LAST_DECISIONS = 20


async def tools(session: "Session", argument: str) -> Intent:
    entries = session.report.tools()
    width = max((len(entry.tool.name) for entry in entries), default=0)
    lines = [f"Tools that {session.model} has here:"]
    for entry in entries:
        label = entry.server or str(entry.origin)
        lines.append(f"  {entry.tool.name:<{width}} {entry.tool.kind:<8} {label}")
    return Say("\n".join(lines))


async def permissions(session: "Session", argument: str) -> Intent:
    policy = session.report.policy
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
    decisions = await session.report.decisions()
    shown = decisions[-_LAST_DECISIONS:]
    heading = f"Decisions ({len(shown)} of {len(decisions)}):" if decisions else "No decisions yet."
    lines = [heading]
    for decision in shown:
        answer = f", answered {decision.answer}" if decision.answer else ""
        lines.append(f"    {decision.effect:<5} {decision.tool}: {decision.rule}, {decision.source}{answer}")
    return lines


async def context(session: "Session", argument: str) -> Intent:
    usage, sizes = session.report.usage, session.report.sizes()
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
        return Say(f"{safe_line(name.strip())} restarts.")
    return Say(f"No language server called {safe_line(name.strip())} was started.", NoticeLevel.WARNING)


def _servers(lines: "tuple[ServerLine, ...]") -> list[str]:
    """Those that were started with all there is to know, the others in a line each."""
    # Loaded already if there are servers; not loaded for the menu of commands.
    from coder_tui.lsp.pool import facts_of, state_words

    started = [line for line in lines if line.is_started]
    shown = ["Language servers:" if started else "No language server was started yet. Known are:"]
    for line in started:
        shown.append(f"  {line.language:<5} {line.name}: {state_words(line)}")
        shown += [f"        {label:<9}{safe_line(text)}" for label, text in facts_of(line)]
    if started:
        shown.append("Not started:")
    width = max((len(line.name) for line in lines), default=0)
    for line in lines:
        if not line.is_started:
            more = line.detail or (line.command[0] if line.command else "")
            words = f"  {line.language:<5} {line.name:<{width}}  {state_words(line):<19}  {more}"
            shown.append(safe_line(words.rstrip()))
    return shown


PICTURES = "svg"
FORMATS = ("md", "jsonl", PICTURES)


async def export(session: "Session", argument: str) -> Intent:
    """Return `md`, `jsonl` or `svg`, by the file's name if it has one of these extensions."""
    words = argument.split(maxsplit=1)
    form = words.pop(0) if words and words[0] in FORMATS else ""
    name = words[0] if words else ""
    ending = name.rpartition(".")[2]
    form = form or (ending if ending in FORMATS else FORMATS[0])
    target = _target(session, name or f"coder-tui-{session.id}.{form}")
    if form == PICTURES:
        return await _drawn(session, target)
    return await _written(target, await session.report.export(as_lines=form == "jsonl"))


async def copy(session: "Session", argument: str) -> Intent:
    """The newest reply; with a name, into that file: not every terminal has a clipboard."""
    text = session.report.last_reply()
    if not text:
        return Say("There is no reply to copy yet.", NoticeLevel.WARNING)
    if argument:
        return await _written(_target(session, argument), text + "\n")
    return Copy(text)


async def _drawn(session: "Session", target: Path) -> Intent:
    """Draw the session in a process of its own, on a hidden screen."""
    session.notice(NoticeLevel.INFO, "Drawing the session; a long one takes some seconds …")
    arguments = ("sessions", "export", session.id, "--format", PICTURES, "--output", str(target))
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *("-P", "-m", "coder_tui", *arguments),
        env={**os.environ, DATA_VARIABLE: str(session.report.data_directory)},
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
        text = problems.decode(errors="replace").strip().removeprefix("coder-tui: ")
        return Say(text or "The pictures could not be drawn.", NoticeLevel.ERROR)
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


MOST_ROWS = 10
MOST_DAYS = 14
_BAR = 20
_NAME = 24
MAIN = "(main agent)"
ANSWERS = "(no tool)"
EARLIER = "earlier"
NOTHING = "No model was asked in this session yet."


@dataclass(slots=True)
class Tally:
    """A sum of calls, or of shares of calls."""

    calls: int = 0
    tokens: float = 0
    money: float = 0
    unpriced: int = 0

    def add(self, usage: Usage, calls: int = 1, unpriced: int = 0, share: float = 1) -> None:
        self.calls += calls
        self.tokens += usage.total_tokens * share
        self.money += (usage.cost or 0) * share
        self.unpriced += unpriced

    @property
    def price(self) -> str:
        if self.unpriced >= self.calls and not self.money:
            return "unknown"
        return f"${self.money:.4f}{'+' if self.unpriced else ''}"


async def cost(session: "Session", argument: str) -> Intent:
    calls, days = await session.report.paid_calls(), await session.report.paid_days(MOST_DAYS)
    return Say(cost_report(calls, days, session.turn, session.report.spend_limit))


def cost_report(
    calls: "tuple[PaidCall, ...]", days: "tuple[PaidDay, ...]", turn: int, limit: float | None = None
) -> str:
    """At most 77 columns of plain characters: what a page leaves of a terminal of 80."""
    if not calls:
        return "\n".join([NOTHING, *_by_day(days)])
    lines = [*_totals(calls, turn), *_remarks(calls, limit)]
    turns = _by(calls, lambda call: (f"turn {call.turn}" if call.turn else EARLIER,))
    lines += _section("By turn", turns[-MOST_ROWS:])
    lines += _section("By model", _by(calls, lambda call: (call.model,)))
    lines += _section("By tool that was called", _by(calls, lambda call: call.tools or (ANSWERS,)))
    if any(call.agent for call in calls):
        lines += _section("By sub-agent", _by(calls, lambda call: (call.agent or MAIN,)))
    lines += [*_last_calls(calls[-MOST_ROWS:]), *_by_day(days)]
    return "\n".join(lines)


def _totals(calls: "tuple[PaidCall, ...]", turn: int) -> Iterator[str]:
    yield f"{'':<13}{'money':>10}{'calls':>7}{'in':>12}{'cached':>12}{'out':>11}{'reasoned':>11}"
    yield _total("This session", calls)
    if newest := tuple(call for call in calls if turn and call.turn == turn):
        yield _total("Newest turn", newest)


def _total(name: str, calls: "tuple[PaidCall, ...]") -> str:
    tally, usage = Tally(), Usage()
    for call in calls:
        tally.add(call.usage, unpriced=call.usage.cost is None)
        usage += call.usage
    return (
        f"{name:<13}{tally.price:>10}{tally.calls:>7,}{usage.input_tokens:>12,}{usage.cached_tokens:>12,}"
        f"{usage.output_tokens:>11,}{usage.reasoning_tokens:>11,}"
    )


def _remarks(calls: "tuple[PaidCall, ...]", limit: float | None) -> Iterator[str]:
    for model in dict.fromkeys(call.model for call in calls if call.usage.cost is None):
        count = sum(call.model == model and call.usage.cost is None for call in calls)
        yield safe_line(f"price unknown for {model} ({count} call{'' if count == 1 else 's'})")
    if limit is not None:
        yield f"This session asks before it costs more than ${limit:.2f} (limits.max_cost)."


def _by(
    calls: "Iterable[PaidCall]", names: "Callable[[PaidCall], tuple[str, ...]]"
) -> list[tuple[str, Tally]]:
    """A call with several names is shared among them."""
    found: dict[str, Tally] = {}
    for call in calls:
        given = names(call)
        for name in given:
            tally = found.setdefault(name, Tally())
            tally.add(call.usage, unpriced=call.usage.cost is None, share=1 / len(given))
    return list(found.items())


def _section(title: str, rows: list[tuple[str, Tally]]) -> Iterator[str]:
    yield f"\n{title:<26}{'money':>10}{'calls':>7}{'tokens':>11}"
    by_money = any(tally.money for _, tally in rows)
    sizes = [tally.money if by_money else tally.tokens for _, tally in rows]
    most = max(sizes, default=0)
    for (name, tally), size in zip(rows, sizes, strict=True):
        bar = "#" * max(1, round(_BAR * size / most)) if size else ""
        facts = f"{tally.price:>10}{tally.calls:>7,}{_count(round(tally.tokens)):>11}"
        yield f"  {_short(name, _NAME):<{_NAME}}{facts}  {bar}".rstrip()


def _last_calls(calls: "tuple[PaidCall, ...]") -> Iterator[str]:
    yield f"\n{'Newest calls':<29}{'money':>10}{'in':>10}{'cached':>10}{'out':>8}{'reasoned':>10}"
    for call in calls:
        usage, when = call.usage, call.created.astimezone().strftime("%H:%M")
        price = "unknown" if usage.cost is None else f"${usage.cost:.4f}"
        name = _short(f"{call.agent}: {call.model}" if call.agent else call.model, 21)
        yield (
            f"  {when} {name:<21}{price:>10}{_count(usage.input_tokens):>10}{_count(usage.cached_tokens):>10}"
            f"{_count(usage.output_tokens):>8}{_count(usage.reasoning_tokens):>10}"
        )


def _by_day(days: "tuple[PaidDay, ...]") -> Iterator[str]:
    rows = []
    for paid in days:
        tally = Tally()
        tally.add(paid.usage, paid.calls, paid.unpriced)
        rows.append((f"{paid.day:%a %Y-%m-%d}", tally))
    return _section("By day, all sessions", rows) if rows else iter(())


def _count(tokens: int) -> str:
    return f"{tokens:,}" if tokens < 1_000_000 else f"{tokens / 1_000_000:,.1f}M"


def _short(name: str, most: int) -> str:
    """The end of a model's name tells more than its beginning."""
    clean = safe_line(name)
    return clean if len(clean) < most else f"..{clean[-(most - 3) :]}"
