"""The command that tells where tokens and money went: by turn, model, tool, sub-agent, call and day."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING

from coder_tui.commands.base import Intent, Say
from coder_tui.protocol.messages import Usage
from coder_tui.text.safe_text import safe_line

if TYPE_CHECKING:
    from coder_tui.agent.session import Session
    from coder_tui.storage.ledger import PaidCall, PaidDay

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
    calls, days = await session.facts.paid_calls(), await session.facts.paid_days(MOST_DAYS)
    return Say(cost_report(calls, days, session.turn, session.facts.spend_limit))


def cost_report(
    calls: "tuple[PaidCall, ...]", days: "tuple[PaidDay, ...]", turn: int, limit: float | None = None
) -> str:
    """At most 77 columns of plain characters: what a page leaves of a terminal of 80."""
    if not calls:
        return "\n".join([NOTHING, *_by_day(days)])
    lines = [*_totals(calls, turn), *_remarks(calls, limit)]
    lines += _section("By turn", _by(calls, lambda call: (_turn_name(call.turn),))[-MOST_ROWS:])
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
        rows.append((_day_name(paid.day), tally))
    return _section("By day, all sessions", rows) if rows else iter(())


def _count(tokens: int) -> str:
    return f"{tokens:,}" if tokens < 1_000_000 else f"{tokens / 1_000_000:,.1f}M"


def _day_name(day: date) -> str:
    return f"{day:%a %Y-%m-%d}"


def _turn_name(turn: int) -> str:
    return f"turn {turn}" if turn else EARLIER


def _short(name: str, most: int) -> str:
    """The end of a model's name tells more than its beginning."""
    clean = safe_line(name)
    return clean if len(clean) < most else f"..{clean[-(most - 3) :]}"
