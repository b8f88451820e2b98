"""`coder-tui policy check`: shows the decision on a call, its rule and the rule's source. Runs nothing."""

import argparse
import asyncio
from dataclasses import asdict, dataclass
from typing import Any

from coder_tui.agent.calls.permissions import ProposedCall
from coder_tui.bootstrap.open_session import prepare
from coder_tui.bootstrap.setup import Setup, workspace_of
from coder_tui.bootstrap.toolset import build_policy, build_shell, listed_registry
from coder_tui.cli.arguments import policy_parser, read_invocation
from coder_tui.cli.output import print_json, print_line
from coder_tui.cli.tool import GivenCall, given_calls, keep_nothing
from coder_tui.policy.decide import Policy, Verdict, decide, explain, findings_of, may_all_be_read
from coder_tui.policy.rules import Effect
from coder_tui.protocol.access import Target, TargetKind, ToolKind
from coder_tui.protocol.errors import ErrorType, ToolError
from coder_tui.protocol.findings import Finding
from coder_tui.text.safe_text import safe_line
from coder_tui.tools.arguments import canonical_call, parse_call
from coder_tui.tools.base import Access, Params, ToolContext
from coder_tui.tools.builtin.todo import TodoList
from coder_tui.tools.registry import Registry
from coder_tui.workspace.files.confine import Workspace

_FAILED = "the call is invalid"
_ON_FILES = frozenset({ToolKind.READ, ToolKind.SEARCH, ToolKind.EDIT})
_OF_FILES = frozenset(
    {
        ErrorType.FILE_NOT_FOUND,
        ErrorType.NOT_A_FILE,
        ErrorType.BINARY_FILE,
        ErrorType.ALREADY_EXISTS,
        ErrorType.AMBIGUOUS_MATCH,
        ErrorType.NO_MATCH,
        ErrorType.CONTEXT_MISMATCH,
        ErrorType.ALREADY_APPLIED,
        ErrorType.STALE_FILE,
        ErrorType.TOO_LARGE,
    }
)
"""Errors of a valid call that does not match the files on the disk."""


@dataclass(frozen=True, slots=True)
class Answer:
    """`failure` says why the call would fail with the files as they are, whatever the decision is."""

    verdict: Verdict
    findings: tuple[Finding, ...]
    failure: str = ""

    @property
    def lines(self) -> tuple[str, ...]:
        if self.verdict.rule != _FAILED:
            return (*explain(self.verdict, self.findings), *(f"  but {reason}" for reason in self._fails))
        reasons = (f"  because {reason}" for reason in self.verdict.reasons)
        error = f"  error: {self.verdict.source}"
        return ("INVALID: this call fails before permissions are checked.", *reasons, error)

    @property
    def fields(self) -> dict[str, Any]:
        return {
            "effect": self.verdict.effect,
            "rule": self.verdict.rule,
            "source": self.verdict.source,
            "findings": [{**asdict(finding), "text": str(finding)} for finding in self.findings],
            "reasons": [*self.verdict.reasons, *self._fails],
        }

    @property
    def _fails(self) -> tuple[str, ...]:
        return (f"it would fail with the files as they are: {self.failure}",) if self.failure else ()


def main(argv: list[str]) -> int:
    arguments = policy_parser().parse_args(argv)
    return asyncio.run(_check(arguments))


async def _check(arguments: argparse.Namespace) -> int:
    setup = prepare(read_invocation(arguments))
    todos, policy = TodoList("policy-check", keep_nothing), build_policy(setup)
    registry = listed_registry(setup, todos, lambda action: decide(action, policy), build_shell(setup))
    is_understood = True
    for call in given_calls(arguments.name, arguments.arguments, from_stdin=arguments.stdin):
        is_understood = is_understood and not call.problem
        answer = await _judge(call, setup, registry)
        if arguments.json or arguments.stdin:
            print_json(answer.fields)
        else:
            for line in answer.lines:
                # A line break in a path must not look like another sentence.
                print_line(safe_line(line))
    return 0 if is_understood else 1


async def _judge(call: GivenCall, setup: Setup, registry: Registry) -> Answer:
    try:
        if call.problem:
            raise ToolError(ErrorType.INVALID_TOOL_PARAMS, f"invalid args: {call.problem}")
        name, given = canonical_call(call.tool, call.arguments)
        tool, params = parse_call(registry.get(name), given)
    except ToolError as error:
        return _failed(error)
    try:
        access = await tool.access(params, ToolContext("", "policy-check", setup.directory))
        failure = _reason(access, build_policy(setup))
    except ToolError as error:
        named = _named(tool.kind, params, error, workspace_of(setup))
        if named is None:
            return _failed(error)
        access, failure = named, str(error)
    action = ProposedCall("", tool, params, access, is_foreign=registry.is_foreign(tool.name)).action
    return Answer(decide(action, build_policy(setup)), findings_of(action), failure)


def _reason(access: Access | None, policy: Policy) -> str:
    """Return why the call would fail, unless that quotes a file that may not be read without asking."""
    if access is None or access.failure is None or not may_all_be_read(access.targets, policy):
        return ""
    return str(access.failure)


def _failed(error: ToolError) -> Answer:
    return Answer(Verdict(Effect.DENY, _FAILED, error.type, (str(error),)), ())


def _named(kind: ToolKind, params: Params, error: ToolError, workspace: Workspace) -> Access | None:
    """Return what a failing call would access, from the file names alone: rules only need names."""
    reported = error.fields.get("files")
    files = (
        [str(file["path"]) for file in reported if isinstance(file, dict)]
        if isinstance(reported, list)
        else []
    )
    path = getattr(params, "path", None)
    paths = [path] if isinstance(path, str) else files
    if error.type not in _OF_FILES or kind not in _ON_FILES or not paths:
        return None
    places = (str(workspace.locate(name).path) for name in paths)
    return Access(tuple(Target(TargetKind.PATH, place, writes=kind.mutates) for place in places))
