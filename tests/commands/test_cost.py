"""Where tokens and money went, as `/cost` tells it."""

from dataclasses import replace
from datetime import UTC, date, datetime
from pathlib import Path

from coder_tui.commands.base import Say
from coder_tui.commands.reports import NOTHING, cost, cost_report
from coder_tui.protocol.messages import AssistantMessage, Usage
from coder_tui.storage.ledger import PaidCall, PaidDay
from tests.fakes.scripted_model import Say as ModelSays
from tests.fakes.world import ALLOW, world

NOON = datetime(2026, 3, 4, 12, 30, tzinfo=UTC)
FIRST = PaidCall(NOON, "openai/gpt-6", Usage(1000, 100, 600, 0, 40, 0.03), 1, "", ("read", "grep"))
CALLS = (
    FIRST,
    replace(FIRST, usage=Usage(2000, 50, cost=0.01), turn=2, tools=(), agent="explore"),
    replace(FIRST, usage=Usage(500, 10), turn=2, model="ollama/tiny", tools=("read",)),
)
DAYS = (
    PaidDay(date(2026, 3, 3), Usage(9000, 100, cost=0.08), 7, 0),
    PaidDay(date(2026, 3, 4), Usage(3500, 160, cost=0.04), 3, 1),
)


def test_each_sum_stands_in_its_section() -> None:
    clock = NOON.astimezone().strftime("%H:%M")

    assert cost_report(CALLS, DAYS, 2, 0.5).splitlines() == [
        "                  money  calls          in      cached        out   reasoned",
        "This session   $0.0400+      3       3,500         600        160         40",
        "Newest turn    $0.0100+      2       2,500           0         60          0",
        "price unknown for ollama/tiny (1 call)",
        "This session asks before it costs more than $0.50 (limits.max_cost).",
        "",
        "By turn                        money  calls     tokens",
        "  turn 1                     $0.0300      1      1,100  ####################",
        "  turn 2                    $0.0100+      2      2,560  #######",
        "",
        "By model                       money  calls     tokens",
        "  openai/gpt-6               $0.0400      2      3,150  ####################",
        "  ollama/tiny                unknown      1        510",
        "",
        "By tool that was called        money  calls     tokens",
        "  read                      $0.0150+      2      1,060  ####################",
        "  grep                       $0.0150      1        550  ####################",
        "  (no tool)                  $0.0100      1      2,050  #############",
        "",
        "By sub-agent                   money  calls     tokens",
        "  (main agent)              $0.0300+      2      1,610  ####################",
        "  explore                    $0.0100      1      2,050  #######",
        "",
        "Newest calls                      money        in    cached     out  reasoned",
        f"  {clock} openai/gpt-6            $0.0300     1,000       600     100        40",
        f"  {clock} ..lore: openai/gpt-6    $0.0100     2,000         0      50         0",
        f"  {clock} ollama/tiny             unknown       500         0      10         0",
        "",
        "By day, all sessions           money  calls     tokens",
        "  Tue 2026-03-03             $0.0800      7      9,100  ####################",
        "  Wed 2026-03-04            $0.0400+      3      3,660  ##########",
    ]


def test_it_fits_a_narrow_terminal_and_plain_characters() -> None:
    large = replace(
        FIRST, model="m" * 90, usage=Usage(99_999_999, 9_999_999, 99_999_999, 0, 9_999_999, 999.0)
    )

    report = cost_report((large, *CALLS), DAYS, 1, 10_000.0)

    assert (max(map(len, report.splitlines())) <= 77, report.isascii()) == (True, True)


def test_before_the_first_call_only_days_are_shown() -> None:
    assert cost_report((), DAYS[:1], 0).splitlines() == [
        NOTHING,
        "",
        "By day, all sessions           money  calls     tokens",
        "  Tue 2026-03-03             $0.0800      7      9,100  ####################",
    ]


async def test_a_sessions_calls_are_reported_by_turn_tool_and_sub_agent(tmp_path: Path) -> None:
    replies = [
        ModelSays("", (("look", {"text": "a"}),), usage=Usage(10, 5, 4, cost=0.01)),
        ModelSays("done", usage=Usage(20, 5)),
        ModelSays("hello", usage=Usage(30, 5, reasoning_tokens=3, cost=0.02)),
    ]
    async with world(tmp_path, replies, answers=[ALLOW]) as made:
        session, store = made.session, made.store
        await session.submit("one")
        await session.submit("two")
        child = await store.subagents.add(session.id, "c9", "explore", "look around", "m2")
        reply = AssistantMessage("r9", "found", model="m2", usage=Usage(7, 1, cost=0.5))
        await store.usage.add(child, reply.id, "m2", reply.usage)
        await session.report.context.meter.add_from_child(reply, child)

        calls = await session.report.paid_calls()
        (today,) = await session.report.paid_days(5)
        intent = await cost(session, "")

    reported = [(call.model, call.usage, call.turn, call.agent, call.tools) for call in calls]
    assert reported == [
        ("scripted", Usage(10, 5, 4, cost=0.01), 1, "", ("look",)),
        ("scripted", Usage(20, 5), 1, "", ()),
        ("scripted", Usage(30, 5, reasoning_tokens=3, cost=0.02), 2, "", ()),
        ("m2", Usage(7, 1, cost=0.5), 2, "explore", ()),
    ]
    # What the sub-agent's own conversation counted is not counted again.
    assert (today.calls, today.unpriced, today.usage) == (4, 1, Usage(67, 16, 4, 0, 3, 0.53))
    assert isinstance(intent, Say)
    assert "price unknown for scripted (1 call)" in intent.text
