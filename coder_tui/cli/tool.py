"""`coder-tui tool`: the tool set as a model would get it, or one call through the whole runner.

Calls as the command line gives them: one by arguments, or a JSON line each on standard input.
"""

import argparse
import asyncio
import json
import signal
import sys
from collections.abc import Iterator
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from types import FrameType
from typing import NoReturn
from uuid import uuid4

from coder_tui.agent.calls.log import NoLog
from coder_tui.agent.calls.results import failure_json
from coder_tui.agent.event_bus import EventBus
from coder_tui.agent.profiles.profiles import BUILD, GENERAL
from coder_tui.bootstrap.extensions import ForeignTools
from coder_tui.bootstrap.mcp import load_servers, open_desk
from coder_tui.bootstrap.open_session import prepare
from coder_tui.bootstrap.setup import Setup
from coder_tui.bootstrap.toolset import Workbench, build_policy, build_registry, build_shell, build_workbench
from coder_tui.cli.arguments import tool_parser
from coder_tui.cli.invocation import read_invocation
from coder_tui.cli.output import complain, say, say_as_is, say_json
from coder_tui.headless import ExitCode
from coder_tui.llm.traits import traits_of
from coder_tui.policy.decide import decide
from coder_tui.protocol.errors import ErrorType, ToolError, UsageError
from coder_tui.protocol.events import Event, RequestOpened
from coder_tui.protocol.messages import ToolCall
from coder_tui.protocol.outcomes import NoticeLevel
from coder_tui.protocol.requests import unattended
from coder_tui.protocol.todos import TodoItem
from coder_tui.shell.session_shell import SessionShell
from coder_tui.tools.base import Audience, JsonObject
from coder_tui.tools.builtin.todo import TodoList
from coder_tui.tools.discovered import PREFIX
from coder_tui.tools.registry import AnyTool, Registry, description_of

EXPECTED = 'expected one JSON object with "tool" and "args"'


@dataclass(frozen=True, slots=True)
class GivenCall:
    """`arguments` is JSON text; `problem` is set when a line could not be read."""

    tool: str
    arguments: str
    problem: str = ""


def given_calls(name: str | None, arguments: str | None, *, from_stdin: bool) -> Iterator[GivenCall]:
    if not from_stdin:
        if not name:
            raise UsageError("which tool? Give NAME and JSON, or --stdin")
        yield GivenCall(name, arguments or "{}")
        return
    if name:
        raise UsageError("--stdin takes its calls from standard input, not from NAME")
    for line in sys.stdin.buffer:
        if line.strip():
            yield _read(line.decode("utf-8", errors="surrogateescape"))


def _read(line: str) -> GivenCall:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError) as error:
        return GivenCall("", "", f"{EXPECTED}: {error}")
    if not isinstance(value, dict) or not isinstance(value.get("tool"), str):
        return GivenCall("", "", EXPECTED)
    return GivenCall(value["tool"], json.dumps(value.get("args", {})))


OUTSIDE = "tool-call"
TERMINATED = 143


def main(argv: list[str]) -> int:
    arguments = tool_parser().parse_args(argv)
    if arguments.action == "list":
        return _list(arguments)
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _end)
    return asyncio.run(_call(arguments))


def _end(number: int, frame: FrameType | None) -> NoReturn:
    """Raised wherever we are, waiting for the next line too, so that commands are ended and nothing stays."""
    raise SystemExit(TERMINATED)


async def _keep(items: tuple[TodoItem, ...]) -> None:
    """Outside of a session the list lives as long as the process."""


def _list(arguments: argparse.Namespace) -> int:
    setup = prepare(read_invocation(arguments))
    policy = build_policy(setup)
    shell = build_shell(setup)
    registry = build_registry(setup, TodoList(OUTSIDE, _keep), lambda action: decide(action, policy), shell)
    asyncio.run(_load_foreign(setup, registry, shell))
    profile = setup.profiles.get(arguments.shown_agent or (GENERAL if arguments.sub else BUILD))
    audience = Audience.SUB if arguments.sub or not profile.mode.leads else Audience.MAIN
    traits = traits_of(arguments.model)

    def is_enabled(tool: AnyTool) -> bool:
        return profile.offers(tool.name, tool.kind)

    if arguments.json:
        say_json(registry.definitions(traits, audience, is_enabled), indent=2)
        return 0
    tools = [tool for tool in registry.offered(traits, audience) if is_enabled(tool)]
    width = max((len(tool.name) for tool in tools), default=0)
    for tool in tools:
        first_line = description_of(tool).split("\n", 1)[0]
        say(f"{tool.name:<{width}} {tool.kind:<8} {first_line}")
    return 0


async def _load_foreign(setup: Setup, registry: Registry, shell: SessionShell) -> None:
    """As a session would get them: servers are started for it, and end again."""
    await ForeignTools(setup, registry, shell, _notice).load()
    await load_servers(setup, registry, _notice)


def _notice(level: NoticeLevel, text: str) -> None:
    complain(f"coder-tui: {text}")


async def _call(arguments: argparse.Namespace) -> int:
    setup = replace(prepare(read_invocation(arguments)), is_for_one_prompt=True)
    bench, refused = _workbench(setup)
    is_ok = True
    async with AsyncExitStack() as closing:
        closing.push_async_callback(bench.close)
        foreign = ForeignTools(setup, bench.registry, bench.shell, _notice)
        await foreign.load(discovers=False)
        servers = await open_desk(setup, bench)
        closing.push_async_callback(servers.close)
        servers.start(_notice)
        await servers.prepare()
        for call in given_calls(arguments.name, arguments.arguments, from_stdin=arguments.stdin):
            # Who calls a tool of ours does not wait for a command that may take its time.
            if call.tool.startswith(PREFIX) and call.tool not in bench.registry.names:
                await foreign.discover()
            result = await _answer(bench, call)
            say_as_is(result)
            is_ok = is_ok and result.get("ok") is not False
    if refused:
        return ExitCode.REFUSED
    return ExitCode.DONE if is_ok else ExitCode.FAILED


def _workbench(setup: Setup) -> tuple[Workbench, list[str]]:
    """The bench, and the requests that were refused because nobody is there."""
    bus, log, refused = EventBus(), NoLog(), list[str]()
    bench = build_workbench(setup, bus, TodoList(OUTSIDE, _keep), log, log)

    def refuse(event: Event) -> None:
        if isinstance(event, RequestOpened):
            refused.append(event.request.id)
            bench.broker.answer(event.request.id, unattended(event.request))

    bus.subscribe(refuse)
    return bench, refused


async def _answer(bench: Workbench, call: GivenCall) -> JsonObject:
    if call.problem:
        return failure_json(ToolError(ErrorType.INVALID_TOOL_PARAMS, f"invalid args: {call.problem}"))
    message = await bench.runner.execute(ToolCall(uuid4().hex, call.tool, call.arguments), "")
    result: JsonObject = json.loads(message.content)
    return result
