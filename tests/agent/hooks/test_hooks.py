"""Hooks as real processes: what each answer means, and what becomes of failures."""

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from coder_tui.agent.hooks.runner import (
    HOOK_RULE,
    LONGEST,
    Hook,
    HookEvent,
    HookReply,
    HookRunner,
    HookVerdict,
    apply_hook_verdict,
    from_foreign_format,
    read_reply,
)
from coder_tui.agent.hooks.session_hooks import MOST_ROUNDS, TurnHooks
from coder_tui.agent.verify import no_check
from coder_tui.policy.rules import Effect
from coder_tui.policy.targets import DEFAULT_SOURCE, FLOOR_SOURCE, Verdict
from coder_tui.protocol.access import Mode
from coder_tui.protocol.errors import MessageRefusedError
from coder_tui.protocol.events import TurnStarted
from coder_tui.protocol.outcomes import NoticeLevel
from coder_tui.shell.session_shell import Answer
from coder_tui.tasks import BackgroundTasks
from coder_tui.text.redact import BY_SHAPE
from tests.fakes.shells import shell_for


@dataclass
class Scene:
    """A runner in a folder, and the warnings that the user got."""

    root: Path
    trusted: bool = True
    notices: list[tuple[NoticeLevel, str]] = field(default_factory=list)

    def runner(self, *hooks: Hook) -> HookRunner:
        return HookRunner(
            "s",
            self.root,
            hooks,
            shell_for(self.root),
            BY_SHAPE,
            lambda: Mode.ASK,
            lambda: self.trusted,
            lambda level, text: self.notices.append((level, text)),
        )

    def turns(self, *hooks: Hook) -> TurnHooks:
        return TurnHooks(self.runner(*hooks), BackgroundTasks().start)

    @property
    def warnings(self) -> list[str]:
        return [text for _, text in self.notices]


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return Scene(tmp_path)


def hook(event: HookEvent, command: str, **more: Any) -> Hook:
    return Hook(event, command, source="settings", **more)


SPECIFIC = {"permissionDecision": "deny", "permissionDecisionReason": "no", "updatedInput": {"a": 1}}


@pytest.mark.parametrize(
    ("event", "answer", "reply"),
    [
        ("PreToolUse", Answer(2, "", "no\n"), HookReply(Effect.DENY, "no")),
        ("PreToolUse", Answer(2, "", ""), HookReply(Effect.DENY, "it gave no reason")),
        ("PreToolUse", Answer(0, "chatter", ""), HookReply()),
        ("SessionStart", Answer(0, "context\n", ""), HookReply(context="context")),
        ("PreToolUse", Answer(1, "", "x"), HookReply(problem="ended with exit code 1: x")),
        (
            *("PreToolUse", Answer(0, json.dumps({"hookSpecificOutput": SPECIFIC}), "")),
            HookReply(Effect.DENY, "no", {"a": 1}),
        ),
        ("Stop", Answer(0, '{"decision": "block", "reason": "more"}', ""), HookReply(Effect.DENY, "more")),
        ("Stop", Answer(0, '{"continue": false, "stopReason": "x"}', ""), HookReply(Effect.DENY, "x")),
        ("Stop", Answer(0, '{"systemMessage": "hi"}', ""), HookReply(message="hi")),
        ("Stop", Answer(0, '{"hookSpecificOutput": [1], "decision": 7}', ""), HookReply()),
    ],
    ids=["block", "silent", "chatter", "context", "fails", "specific", "stop", "continue", "say", "nonsense"],
)
def test_each_answer_is_read(event: str, answer: Answer, reply: HookReply) -> None:
    assert read_reply(HookEvent(event), answer) == reply


@pytest.mark.parametrize(
    ("before", "source", "wish", "after"),
    [
        (Effect.ASK, DEFAULT_SOURCE, Effect.ALLOW, Effect.ALLOW),
        (Effect.ASK, FLOOR_SOURCE, Effect.ALLOW, Effect.ASK),
        (Effect.ASK, "config.toml:3", Effect.ALLOW, Effect.ASK),
        (Effect.DENY, DEFAULT_SOURCE, Effect.ALLOW, Effect.DENY),
        (Effect.DENY, DEFAULT_SOURCE, Effect.ASK, Effect.DENY),
        (Effect.ALLOW, "config.toml:3", Effect.ASK, Effect.ASK),
    ],
    ids=["default", "floor", "rule", "denied", "still-denied", "asks"],
)
def test_a_wish_reaches_as_far_as_it_may(before: Effect, source: str, wish: Effect, after: Effect) -> None:
    verdict = apply_hook_verdict(Verdict(before, "r", source), HookVerdict(wish, "why", "settings"))
    assert verdict.effect is after
    assert (verdict.rule == HOOK_RULE) is (before is not after)


async def test_who_fails_is_reported_once_and_the_next_one_runs(scene: Scene) -> None:
    event = HookEvent.PRE_TOOL_USE
    runner = scene.runner(
        hook(event, "sleep 60", timeout=0.3),
        hook(event, "head -c 4000000 /dev/zero"),
        hook(event, "echo '{'"),
        hook(event, "kill -KILL $$"),
        hook(event, "head -c 2000000 /dev/zero >&2; echo last >&2; exit 2"),
    )
    for _ in range(2):
        said = await runner.run(event, {"tool_name": "list", "tool_input": {}}, "list")
        assert said.refusal is not None
        assert len(said.refusal[1]) == LONGEST
    assert [text.partition("(settings) ")[2].partition(" (")[0] for text in scene.warnings] == [
        "took too long and was stopped",
        "printed more than is taken",
        "printed JSON that cannot be read",
        "was ended by SIGKILL",
    ]


async def test_each_sees_what_the_one_before_made_of_the_input(scene: Scene) -> None:
    event = HookEvent.PRE_TOOL_USE
    change = json.dumps({"hookSpecificOutput": {"updatedInput": {"command": "second"}}})
    runner = scene.runner(hook(event, f"echo '{change}'"), hook(event, "cat > seen.json", matcher="Bash"))
    fields = {"tool_name": "bash", "tool_input": {"command": "first"}}
    await runner.run(event, fields, "bash")
    assert json.loads((scene.root / "seen.json").read_text())["tool_input"] == {"command": "second"}


async def test_a_projects_hook_that_changed_is_not_run(scene: Scene) -> None:
    runner = scene.runner(hook(HookEvent.STOP, "touch ran", is_own=False))
    scene.trusted = False
    assert (await runner.run(HookEvent.STOP, {})).replies == ()
    assert not (scene.root / "ran").exists()
    assert "changed since you trusted them" in scene.warnings[0]


@pytest.mark.parametrize(
    ("matcher", "tool", "speaks"),
    [
        ("", "bash", True),
        ("*", "bash", True),
        ("Bash", "bash", True),
        ("bash", "bash", True),
        ("Edit|Write", "create_file", True),
        ("mcp__.*", "mcp__a__b", True),
        ("Bash", "bash_output", False),
        ("ash", "bash", False),
    ],
)
def test_a_matcher_knows_both_names(matcher: str, tool: str, speaks: bool) -> None:
    assert hook(HookEvent.PRE_TOOL_USE, "x", matcher=matcher).matches(tool) is speaks


def test_a_path_in_other_words_becomes_ours(tmp_path: Path) -> None:
    given = {"path": "a.txt"}
    same = {"path": "a.txt", "file_path": str(tmp_path / "a.txt")}
    assert from_foreign_format(same, given, tmp_path) == given
    assert from_foreign_format({**same, "file_path": "b.txt"}, given, tmp_path) == {"path": "b.txt"}


async def test_a_message_gets_the_context_of_the_start_once_or_is_kept(scene: Scene) -> None:
    turns = scene.turns(
        hook(HookEvent.SESSION_START, "echo on main"),
        hook(HookEvent.USER_PROMPT_SUBMIT, "if grep -q secret; then echo no >&2; exit 2; fi; echo brief"),
    )
    turns.begin(is_resumed=False)
    with pytest.raises(MessageRefusedError, match="kept this message: no"):
        await turns.attach("my secret")
    first, second = await turns.attach("hello"), await turns.attach("again")
    assert [each.text for each in (*first, *second)] == ["on main", "brief", "brief"]
    await turns.end()


async def test_a_turn_ends_in_the_end(scene: Scene) -> None:
    turns = scene.turns(hook(HookEvent.STOP, "cat >> given; echo >> given; echo test it >&2; exit 2"))
    check = turns.after(no_check)
    turns.on_event(TurnStarted(1))
    failures = [await check() for _ in range(MOST_ROUNDS + 1)]
    assert [failure.output.text if failure else None for failure in failures] == [*["test it"] * 3, None]
    lines = (scene.root / "given").read_text().splitlines()
    assert [json.loads(line)["stop_hook_active"] for line in lines] == [False, True, True, True]


async def test_compaction_and_sub_agents_ask_as_well(scene: Scene) -> None:
    turns = scene.turns(
        hook(HookEvent.PRE_COMPACT, "echo not now >&2; exit 2", matcher="auto"),
        hook(HookEvent.SUBAGENT_STOP, "echo go on >&2; exit 2"),
    )
    assert await turns.compact("auto", "") == "not now"
    assert await turns.compact("manual", "") == ""
    assert await turns.on_subagent_end("explore") == "go on"
