"""`coder-tui tool`: lists the tools as a model would get them, or runs calls through the whole runner.

Calls come from the arguments, or one per line as JSON on standard input.
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

from coder_tui.agent.calls.results import failure_json
from coder_tui.agent.event_bus import EventBus
from coder_tui.agent.profiles.profiles import BUILD, GENERAL
from coder_tui.bootstrap.extensions import ForeignTools
from coder_tui.bootstrap.mcp import build_mcp, load_servers
from coder_tui.bootstrap.open_session import prepare
from coder_tui.bootstrap.setup import Setup
from coder_tui.bootstrap.toolset import (
    SessionTools,
    build_policy,
    build_shell,
    build_tools_alone,
    listed_registry,
)
from coder_tui.cli.arguments import read_invocation, tool_parser
from coder_tui.cli.output import print_error, print_json, print_line, print_unredacted_json
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
    """A call from the command line. `arguments` is JSON text; `problem` says why a line is invalid."""

    tool: str
    arguments: str
    problem: str = ""


def given_calls(name: str | None, arguments: str | None, *, from_stdin: bool) -> Iterator[GivenCall]:
    if not from_stdin:
        if not name:
            raise UsageError("no tool given; pass NAME and JSON, or --stdin")
        yield GivenCall(name, arguments or "{}")
        return
    if name:
        raise UsageError("--stdin reads calls from standard input; do not pass NAME")
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
    """Exit from wherever we are, also while waiting for a line, so that running commands are ended."""
    raise SystemExit(TERMINATED)


async def keep_nothing(items: tuple[TodoItem, ...]) -> None:
    """Save no todos: outside of a session the list lives as long as the process."""


def _list(arguments: argparse.Namespace) -> int:
    setup = prepare(read_invocation(arguments))
    policy = build_policy(setup)
    shell = build_shell(setup)
    registry = listed_registry(
        setup, TodoList(OUTSIDE, keep_nothing), lambda action: decide(action, policy), shell
    )
    asyncio.run(_load_foreign(setup, registry, shell))
    profile = setup.profiles.get(arguments.shown_agent or (GENERAL if arguments.sub else BUILD))
    audience = Audience.SUB if arguments.sub or not profile.mode.leads else Audience.MAIN
    traits = traits_of(arguments.model)

    def is_enabled(tool: AnyTool) -> bool:
        return profile.offers(tool.name, tool.kind)

    if arguments.json:
        print_json(registry.definitions(traits, audience, is_enabled), indent=2)
        return 0
    tools = [tool for tool in registry.offered(traits, audience) if is_enabled(tool)]
    width = max((len(tool.name) for tool in tools), default=0)
    for tool in tools:
        first_line = description_of(tool).split("\n", 1)[0]
        print_line(f"{tool.name:<{width}} {tool.kind:<8} {first_line}")
    return 0


async def _load_foreign(setup: Setup, registry: Registry, shell: SessionShell) -> None:
    """Load tools of servers and extensions as a session would. Servers are started and stopped again."""
    await ForeignTools(setup, registry, shell, _notice).load()
    await load_servers(setup, registry, _notice)


def _notice(level: NoticeLevel, text: str) -> None:
    print_error(f"coder-tui: {text}")


async def _call(arguments: argparse.Namespace) -> int:
    setup = replace(prepare(read_invocation(arguments)), is_for_one_prompt=True)
    tools, refused = _tools_alone(setup)
    is_ok = True
    async with AsyncExitStack() as closing:
        closing.push_async_callback(tools.close)
        foreign = ForeignTools(setup, tools.registry, tools.shell, _notice)
        await foreign.load(discovers=False)
        servers = await build_mcp(setup, tools.registry, tools.inner, _notice)
        closing.push_async_callback(servers.close)
        servers.start()
        await servers.prepare()
        for call in given_calls(arguments.name, arguments.arguments, from_stdin=arguments.stdin):
            # A call to a built-in tool does not wait for a discovery command that may be slow.
            if call.tool.startswith(PREFIX) and call.tool not in tools.registry.names:
                await foreign.discover()
            result = await _answer(tools, call)
            print_unredacted_json(result)
            is_ok = is_ok and result.get("ok") is not False
    if refused:
        return ExitCode.REFUSED
    return ExitCode.DONE if is_ok else ExitCode.FAILED


def _tools_alone(setup: Setup) -> tuple[SessionTools, list[str]]:
    """Return the tools, and a list that collects the requests refused because nobody can answer."""
    bus, refused = EventBus(), list[str]()
    tools = build_tools_alone(setup, bus, TodoList(OUTSIDE, keep_nothing))

    def refuse(event: Event) -> None:
        if isinstance(event, RequestOpened):
            refused.append(event.request.id)
            tools.broker.answer(event.request.id, unattended(event.request))

    bus.subscribe(refuse)
    return tools, refused


async def _answer(tools: SessionTools, call: GivenCall) -> JsonObject:
    if call.problem:
        return failure_json(ToolError(ErrorType.INVALID_TOOL_PARAMS, f"invalid args: {call.problem}"))
    message = await tools.runner.execute(ToolCall(uuid4().hex, call.tool, call.arguments), "")
    result: JsonObject = json.loads(message.content)
    return result
