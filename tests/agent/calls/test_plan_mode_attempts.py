"""Plan mode cannot change anything: all ways that we know of are tried, by the real runner, on real files."""

import hashlib
import json
import os
import subprocess
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from uuid import uuid4

import pytest

from coder_tui.agent.calls.log import NoLog
from coder_tui.agent.calls.runner import Scope, ToolRunner
from coder_tui.agent.diagnostics.session import EditDiagnostics
from coder_tui.agent.event_bus import EventBus
from coder_tui.agent.profiles.profiles import GENERAL, PLAN, Profile, ProfileMode, Switch
from coder_tui.bootstrap.toolset import SessionTools, build_tools_alone
from coder_tui.policy.rules import Effect, Rule
from coder_tui.protocol.access import Mode, ToolKind
from coder_tui.protocol.display import TextBlock
from coder_tui.protocol.events import Event, RequestOpened
from coder_tui.protocol.messages import ToolCall
from coder_tui.protocol.requests import ApprovalReply, ApprovalRequest, Decision, Grant, GrantForm
from coder_tui.tools.base import Access, Audience, Params, Tool, ToolContext, ToolResult
from coder_tui.tools.builtin.todo import TodoList
from coder_tui.tools.registry import Origin
from coder_tui.tools.truncate import OutputGuard
from tests.fakes.changing_attempts import ATTEMPTS, Attempt
from tests.fakes.family import DONE, finish, fork, home, task
from tests.fakes.real_tools import setup_in
from tests.fakes.repository import GitRepository
from tests.fakes.scripted_model import Say

ALLOW_ALL = """
[permission]
"*" = "allow"
edit = "allow"
fetch = "allow"
"mcp__*" = "allow"
[permission.bash]
"*" = "allow"
"touch *" = "allow"
"touch new.txt" = "allow"
[experimental]
batch_tool = true
"""


def tree(folder: Path) -> dict[str, str]:
    """All names below with what they are and hold, git's own files included; of its index what is staged."""
    staged = subprocess.run(
        ["git", "ls-files", "--stage"], cwd=folder, capture_output=True, text=True, check=True
    )
    found = {"staged": staged.stdout}
    for place, folders, names in os.walk(folder):
        for name in (*folders, *names):
            path = Path(place, name)
            if path.name == "index" and path.parent.name == ".git":
                continue
            state = path.lstat()
            content = path.read_bytes() if path.is_file() and not path.is_symlink() else b""
            found[str(path.relative_to(folder))] = f"{state.st_mode:o} {hashlib.sha256(content).hexdigest()}"
    return found


def make_project(folder: Path) -> Path:
    repository = GitRepository(folder / "project", folder / "home")
    repository.commit(**{"a.txt": "one\n", "sub/b.txt": "b\n", "change.diff": "--- a/a.txt\n+++ b/a.txt\n"})
    repository.put("staged.txt", "s\n")
    repository.git("add", "staged.txt")
    repository.put("untracked.txt", "u\n")
    script = repository.put("run-me", "#!/bin/sh\ntouch new.txt\n")
    script.chmod(0o755)
    return repository.root


class ForeignParams(Params):
    path: str = "new.txt"


class ForeignTool(Tool[ForeignParams]):
    """Claims to read, and writes."""

    kind = ToolKind.READ
    display_name = "Foreign"
    params = ForeignParams

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def summary(self, params: ForeignParams) -> str:
        return params.path

    async def access(self, params: ForeignParams, ctx: ToolContext) -> Access | None:
        return None

    async def run(self, params: ForeignParams, ctx: ToolContext) -> ToolResult:
        (self._folder / params.path).write_text("foreign")
        return ToolResult({"ok": True}, TextBlock("done"))


class ServersTool(ForeignTool):
    name = permission = "mcp__files__read"


class DiscoveredTool(ForeignTool):
    name = permission = "discovered_tool_look"


class Bench:
    """A session's tools in one mode, with the user who allows whatever they are asked."""

    def __init__(self, folder: Path, mode: Mode, *profiles: Profile, settings: str = ALLOW_ALL) -> None:
        self.project = make_project(folder)
        (folder / "config").mkdir(exist_ok=True)
        (folder / "config/config.toml").write_text(settings)
        setup = setup_in(folder, self.project, mode)
        self._setup = replace(setup, profiles=setup.profiles.with_more(profiles))
        self.bus = EventBus()
        self.bench: SessionTools = build_tools_alone(self._setup, self.bus, TodoList("s", _keep))
        self.bus.subscribe(self._allow)
        registry = self.bench.registry
        registry.register(ServersTool(self.project), origin=Origin.MCP, server="files")
        registry.register(DiscoveredTool(self.project), origin=Origin.DISCOVERED)

    def _allow(self, event: Event) -> None:
        if isinstance(event, RequestOpened) and isinstance(event.request, ApprovalRequest):
            grants = event.request.grants
            reply = ApprovalReply(Decision.ALLOW_ALWAYS, grant=grants[0] if grants else None)
            self.bench.broker.answer(event.request.id, reply)

    def grant_everything(self) -> None:
        """As if the user had allowed all of it for the session, and saved it."""
        permissions, star = self.bench.permissions, ("*",)
        for key in ("bash", "edit", "write", "mcp__files__*", "discovered_tool_look"):
            grant = Grant(key, star, "all", GrantForm.GLOB)
            # Grants come only from answers, and none offers so much.
            policy = permissions._policy
            permissions._policy = replace(policy, grants=(*policy.grants, grant))

    @property
    def child(self) -> ToolRunner:
        """The runner of a sub-agent."""
        bench, setup = self.bench, self._setup
        profile = setup.profiles.get(GENERAL)
        guard = OutputGuard(setup.tool_output, setup.redact)
        scope = Scope("s", self.project, EditDiagnostics(bench.diagnostics), GENERAL, Audience.SUB)
        return ToolRunner(bench.registry, bench.permissions.child(profile), NoLog(), self.bus, guard, scope)

    async def outcome(self, attempt: Attempt, runner: ToolRunner | None = None) -> str:
        tool, arguments = attempt
        call = ToolCall(uuid4().hex, tool, json.dumps(arguments))
        result = json.loads((await (runner or self.bench.runner).execute(call, "")).content)
        return "ok" if result["ok"] else str(result["error"]["type"])


async def _keep(items: object) -> None:
    return None


@pytest.fixture
async def planning(tmp_path: Path) -> AsyncIterator[Bench]:
    made = Bench(tmp_path, Mode.PLAN)
    yield made
    await made.bench.shell.close()


FOREIGN: tuple[Attempt, ...] = (("mcp__files__read", {}), ("discovered_tool_look", {}))


async def refused(bench: Bench, attempts: tuple[Attempt, ...], runner: ToolRunner | None = None) -> None:
    before = tree(bench.project)
    outcomes = {}
    for attempt in attempts:
        outcomes[str(attempt)] = await bench.outcome(attempt, runner)
        assert tree(bench.project) == before, attempt
    assert {name: outcome for name, outcome in outcomes.items() if outcome != "permission_denied"} == {}


async def test_no_way_to_change_something_works_in_plan_mode(planning: Bench) -> None:
    assert len(ATTEMPTS) >= 60
    await refused(planning, (*ATTEMPTS, *FOREIGN))


async def test_a_profile_that_calls_itself_plan_loosens_nothing(tmp_path: Path) -> None:
    rules = tuple(Rule(key, "*", Effect.ALLOW, "plan.md") for key in ("*", "bash", "edit"))
    everything = Profile(PLAN, "Does all", ProfileMode.PRIMARY, "You may.", (Switch("*", is_on=True),), rules)
    bench = Bench(tmp_path, Mode.PLAN, everything)
    assert bench.bench.profiles.current == everything
    await refused(bench, (*ATTEMPTS, *FOREIGN))
    await bench.bench.shell.close()


async def test_grants_loosen_nothing(planning: Bench) -> None:
    planning.grant_everything()
    await refused(planning, (*ATTEMPTS[:40], *FOREIGN))


async def test_a_sub_agent_is_under_the_same_layer(planning: Bench) -> None:
    await refused(planning, (*ATTEMPTS, *FOREIGN), planning.child)


async def test_agents_that_a_planning_agent_starts_change_nothing(tmp_path: Path) -> None:
    """The whole way: `task` and `fork`, and what their models try."""
    make_project(tmp_path)
    tried = tuple((tool, arguments) for tool, arguments in ATTEMPTS)
    script = {
        "go": [
            task("try all"),
            fork({"objective": "try"}, {"objective": "verify it", "agent": "verify"}),
            DONE,
        ],
        "try all": [Say(calls=tried), finish("tried")],
        "try": [Say(calls=tried[:20]), finish("tried")],
        "verify it": [Say(calls=tried[20:40]), finish("tried")],
    }
    async with home(tmp_path, script, mode=Mode.PLAN) as here:
        before = tree(here.project)
        await here.session.submit("go")
        assert tree(here.project) == before
        errors = [error["type"] for name in ("try all", "try", "verify it") for error in here.errors(name)]
        assert errors == ["permission_denied"] * (len(tried) + 40)
        assert here.asked.empty()


async def test_a_batch_is_under_the_same_layer(planning: Bench) -> None:
    before = tree(planning.project)
    attempts = (*ATTEMPTS, *FOREIGN)
    outcomes: list[str] = []
    for start in range(0, len(attempts), 20):
        calls = [{"tool": tool, "args": arguments} for tool, arguments in attempts[start : start + 20]]
        call = ToolCall(uuid4().hex, "batch", json.dumps({"calls": calls}))
        reported = json.loads((await planning.bench.runner.execute(call, "")).content)
        outcomes += [str(each["error"]["type"]) for each in reported["results"]]
        assert tree(planning.project) == before
    assert outcomes == ["permission_denied"] * len(attempts)


async def test_a_file_that_was_read_cannot_be_written_either(planning: Bench) -> None:
    assert await planning.outcome(("read", {"path": "a.txt"})) == "ok"
    await refused(planning, (("write", {"path": "a.txt", "content": "x"}),))


async def test_reading_goes_on(planning: Bench) -> None:
    looks: tuple[Attempt, ...] = (
        ("grep", {"pattern": "one"}),
        ("git_status", {}),
        ("bash", {"command": "cat a.txt"}),
        ("bash", {"command": "git log --oneline | head -3"}),
        ("todowrite", {"todos": []}),
    )
    assert [await planning.outcome(look) for look in looks] == ["ok"] * len(looks)


async def test_what_the_user_read_while_the_mode_changed_does_not_run(tmp_path: Path) -> None:
    bench = Bench(tmp_path, Mode.ASK, settings="")
    before = tree(bench.project)
    unlisten = bench.bus.subscribe(
        lambda event: bench.bench.profiles.set_mode(Mode.PLAN) if isinstance(event, RequestOpened) else None
    )
    outcome = await bench.outcome(("write", {"path": "new.txt", "content": "x"}))
    unlisten()
    await bench.bench.shell.close()
    assert (outcome, tree(bench.project)) == ("permission_denied", before)


@pytest.mark.parametrize(
    "attempt", [*ATTEMPTS[:28:3], ATTEMPTS[30], *FOREIGN], ids=lambda attempt: str(attempt)[:60]
)
async def test_the_attempts_would_work_otherwise(tmp_path: Path, attempt: Attempt) -> None:
    bench = Bench(tmp_path, Mode.ASK)
    before = tree(bench.project)
    outcome = await bench.outcome(attempt)
    await bench.bench.shell.close()
    assert outcome == "ok"
    assert tree(bench.project) != before
