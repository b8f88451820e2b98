"""`coder-tui policy check`: the verdict on a call, its rule and where that comes from; runs nothing."""

import argparse
import asyncio
from dataclasses import dataclass
from typing import Any

from coder_tui.agent.permissions import action_of
from coder_tui.bootstrap import Setup, build_policy, build_registry, build_shell
from coder_tui.cli.arguments import policy_parser
from coder_tui.cli.invocation import read_invocation
from coder_tui.cli.json_calls import GivenCall, given_calls
from coder_tui.cli.opening import prepare
from coder_tui.cli.output import say, say_json
from coder_tui.policy.decide import Verdict, decide
from coder_tui.policy.explain import explain, findings_of
from coder_tui.policy.rules import Effect
from coder_tui.protocol.errors import ErrorType, ToolError
from coder_tui.protocol.findings import Finding
from coder_tui.text.safe_text import safe_line
from coder_tui.tools.base import ToolContext
from coder_tui.tools.builtin.todos import TodoList
from coder_tui.tools.call import understand
from coder_tui.tools.git_command import canonical_call
from coder_tui.tools.registry import Registry

_FAILED = "the call fails before anything is decided"


@dataclass(frozen=True, slots=True)
class Answer:
    verdict: Verdict
    findings: tuple[Finding, ...]

    @property
    def lines(self) -> tuple[str, ...]:
        if self.verdict.rule != _FAILED:
            return explain(self.verdict, self.findings)
        reasons = (f"  because {reason}" for reason in self.verdict.reasons)
        error = f"  error: {self.verdict.source}"
        return ("FAILS: this call ends before anything is decided.", *reasons, error)

    @property
    def fields(self) -> dict[str, Any]:
        return {
            "effect": self.verdict.effect,
            "rule": self.verdict.rule,
            "source": self.verdict.source,
            "findings": [_said(finding) for finding in self.findings],
            "reasons": list(self.verdict.reasons),
        }


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
            say_json(answer.fields)
        else:
            for line in answer.lines:
                # A line break in a path must not pass for another sentence.
                say(safe_line(line))
    return 0 if is_understood else 1


async def _judge(call: GivenCall, setup: Setup, registry: Registry) -> Answer:
    try:
        if call.problem:
            raise ToolError(ErrorType.INVALID_TOOL_PARAMS, f"invalid args: {call.problem}")
        name, given = canonical_call(call.tool, call.arguments)
        tool, params = understand(registry.get(name), given)
        access = await tool.access(params, ToolContext("", "policy-check", setup.directory))
    except ToolError as error:
        verdict = Verdict(Effect.DENY, _FAILED, error.type, (str(error),))
        return Answer(verdict, ())
    action = action_of(tool, access, is_foreign=registry.is_foreign(tool.name))
    return Answer(decide(action, build_policy(setup)), findings_of(action))


def _said(finding: Finding) -> dict[str, str]:
    return {
        "kind": finding.kind,
        "target": finding.target,
        "reason": finding.reason,
        "text": str(finding),
    }
