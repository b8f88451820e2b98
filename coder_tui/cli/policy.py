"""`coder-tui policy check`: the verdict on a call, its rule and where that comes from; runs nothing."""

import argparse
import asyncio
from typing import Any

from coder_tui.agent.permissions import action_of
from coder_tui.bootstrap import Setup, build_policy, build_registry, build_shell
from coder_tui.cli.arguments import policy_parser
from coder_tui.cli.invocation import read_invocation
from coder_tui.cli.json_calls import GivenCall, given_calls
from coder_tui.cli.opening import prepare
from coder_tui.cli.output import say, say_json
from coder_tui.policy.decide import Verdict, decide
from coder_tui.policy.rules import Effect
from coder_tui.protocol.access import Target, TargetKind
from coder_tui.protocol.errors import ErrorType, ToolError
from coder_tui.tools.base import ToolContext
from coder_tui.tools.builtin.todos import TodoList
from coder_tui.tools.call import understand
from coder_tui.tools.git_command import canonical_call
from coder_tui.tools.registry import Registry

_WORDS = {Effect.ALLOW: "runs without asking", Effect.ASK: "asks first", Effect.DENY: "is refused"}


def main(argv: list[str]) -> int:
    arguments = policy_parser().parse_args(argv)
    return asyncio.run(_check(arguments))


async def _nothing(items: object) -> None:
    """No call is run here, so nothing is ever saved."""


async def _check(arguments: argparse.Namespace) -> int:
    setup = prepare(read_invocation(arguments))
    registry = build_registry(
        setup,
        TodoList("policy-check", _nothing),
        lambda action: decide(action, build_policy(setup)),
        build_shell(setup),
    )
    is_understood = True
    for call in given_calls(arguments.name, arguments.arguments, from_stdin=arguments.stdin):
        is_understood = is_understood and not call.problem
        answer = await _judge(call, setup, registry)
        if arguments.json or arguments.stdin:
            say_json(answer)
        else:
            _explain(answer)
    return 0 if is_understood else 1


async def _judge(call: GivenCall, setup: Setup, registry: Registry) -> dict[str, Any]:
    try:
        if call.problem:
            raise ToolError(ErrorType.INVALID_TOOL_PARAMS, f"invalid args: {call.problem}")
        name, given = canonical_call(call.tool, call.arguments)
        tool, params = understand(registry.get(name), given)
        access = await tool.access(params, ToolContext("", "policy-check", setup.directory))
    except ToolError as error:
        verdict = Verdict(Effect.DENY, "the call fails before anything is decided", error.type, (str(error),))
        return _answer(verdict, ())
    action = action_of(tool, access)
    return _answer(decide(action, build_policy(setup)), action.targets)


def _answer(verdict: Verdict, targets: tuple[Target, ...]) -> dict[str, Any]:
    return {
        "effect": verdict.effect,
        "rule": verdict.rule,
        "source": verdict.source,
        "findings": [_finding(target) for target in targets],
        "reasons": list(verdict.reasons),
    }


def _finding(target: Target) -> str:
    match target.kind:
        case TargetKind.PATH:
            return f"{'writes' if target.writes else 'reads'} {target.value}"
        case TargetKind.COMMAND:
            return f"runs {target.value}"
        case TargetKind.ADDRESS:
            return f"connects to {target.value}"
        case TargetKind.NAME:
            return f"uses {target.value}"


def _explain(answer: dict[str, Any]) -> None:
    say(f"{answer['effect'].upper()}: this call {_WORDS[answer['effect']]}.")
    for finding in answer["findings"]:
        say(f"  it {finding}")
    for reason in answer["reasons"]:
        say(f"  because {reason}")
    say(f"  rule: {answer['rule']}")
    say(f"  from: {answer['source']}")
