"""The hooks of a session: the person's, a trusted project's, and those it keeps for another program."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace

from pydantic import ValidationError

from coder_tui.agent.calls.log import CallLog
from coder_tui.agent.calls.permissions import PermissionDesk
from coder_tui.agent.event_bus import EventBus
from coder_tui.agent.hooks.protocol import HookEvent
from coder_tui.agent.hooks.runner import Hook, HookRunner
from coder_tui.agent.hooks.tool_hooks import CallHooks, NoCallHooks, SessionCallHooks
from coder_tui.bootstrap.setup import Setup
from coder_tui.config.inventory import CLAUDE_SETTINGS, hooks_file
from coder_tui.config.project import HOOK_FOLDERS, ProjectFileError, extension_names, read_project_file
from coder_tui.config.sections import MOST_SECONDS, HookGroup, HooksSection
from coder_tui.config.sources import origin_of
from coder_tui.config.trust import Trust
from coder_tui.policy.relative_programs import relative_program
from coder_tui.policy.rules import Effect
from coder_tui.protocol.errors import ConfigError
from coder_tui.protocol.events import FilesChanged, Notice
from coder_tui.protocol.outcomes import NoticeLevel
from coder_tui.shell.session_shell import SessionShell
from coder_tui.text.safe_text import safe_line

OWN = "your settings"
_RELATIVE = (
    "a hook of yours runs `{0}`, which would be another program in every folder; "
    'write its whole path, or "$CODER_TUI_PROJECT_DIR"/… where you mean what lies in the project'
)
_HOW = "this folder is not trusted; 'coder-tui trust' asks"


@dataclass(frozen=True, slots=True)
class FoundHooks:
    hooks: tuple[Hook, ...] = ()
    problems: tuple[str, ...] = ()


def find_hooks(setup: Setup) -> FoundHooks:
    """The person's first; a project's only in the content that is trusted. Blocks."""
    if setup.is_scratch:
        return FoundHooks()
    own = tuple(_own_hooks(setup))
    found, problems = list(own), list[str]()
    project = setup.sources.project
    if project is not None and project.is_trusted:
        section = HooksSection.model_validate(project.hooks)
        found += _hooks(section, project.name, is_own=False)
    others, told = _of_claude(setup)
    problems += told
    found += others
    if len(found) > len(own) and not hooks_are_trusted(setup):
        problems.append(f"the project's hooks are not run: {_HOW}")
        found = list(own)
    return FoundHooks(tuple(found), tuple(problems))


def with_hooks(setup: Setup) -> Setup:
    """Read once, as the settings are. Blocks."""
    found = find_hooks(setup)
    return replace(setup, hooks=found.hooks, notices=(*setup.notices, *found.problems))


def build_hooks(
    setup: Setup, session_id: str, shell: SessionShell, desk: PermissionDesk, bus: EventBus
) -> HookRunner:
    def notify(level: NoticeLevel, text: str) -> None:
        bus.publish(Notice(level, text))

    # In the demo nothing of the person's own runs.
    hooks = () if setup.is_scratch else setup.hooks
    return HookRunner(
        session_id,
        setup.directory,
        hooks,
        shell,
        setup.redact,
        lambda: desk.mode,
        lambda: hooks_are_trusted(setup),
        notify,
    )


def call_hooks(runner: HookRunner, calls: CallLog, bus: EventBus) -> CallHooks:
    """For the calls of one agent."""
    if not runner.hooks:
        return NoCallHooks()
    return SessionCallHooks(runner, calls.watching, lambda paths: bus.publish(FilesChanged(paths)))


def hooks_are_trusted(setup: Setup) -> bool:
    """Whether all that the project's hooks are made of is as it was when the person trusted it. Blocks."""
    workspace, trust = setup.directory, Trust.load(setup.directories)
    project = setup.sources.project
    try:
        names = (*extension_names(workspace, HOOK_FOLDERS), *([project.name] if project else []))
        files = [file for name in names if (file := read_project_file(workspace, name))]
        claudes = hooks_file(workspace)
    except ProjectFileError:
        return False
    return all(trust.trusts(workspace, file) for file in (*files, *([claudes] if claudes else [])))


def _own_hooks(setup: Setup) -> Iterator[Hook]:
    """`ConfigError` where one would run what lies in the folder at hand, whoever put it there."""
    for hook in _hooks(setup.settings.hooks, OWN, is_own=True):
        if program := relative_program(hook.command, str(setup.directory)):
            place = origin_of(setup.sources, ("hooks", hook.event))
            raise ConfigError(safe_line(f"{place}: {_RELATIVE.format(program)}"))
        yield hook


def _hooks(section: HooksSection, source: str, *, is_own: bool) -> Iterator[Hook]:
    for event in HookEvent:
        groups: tuple[HookGroup, ...] = getattr(section, event)
        for group in groups:
            yield from _of_group(event, group, source, is_own=is_own)


def _of_group(
    event: HookEvent, group: HookGroup, source: str, *, is_own: bool, is_for_others: bool = False
) -> Iterator[Hook]:
    for each in group.hooks:
        # A project cannot leave the sandbox, whatever it says.
        is_confined = each.sandbox or not is_own
        yield Hook(
            *(event, each.command, group.matcher, each.timeout, source, is_confined, is_own, is_for_others),
            on_failure=Effect(each.on_failure) if each.on_failure else None,
        )


def _of_claude(setup: Setup) -> tuple[list[Hook], list[str]]:
    """Leniently: events and kinds of hooks that there are not here are passed over, with a word."""
    try:
        file = hooks_file(setup.directory)
    except ProjectFileError as error:
        return [], [f"{CLAUDE_SETTINGS} {error}; its hooks are not run"]
    if file is None:
        return [], []
    if not Trust.load(setup.directories).trusts(setup.directory, file):
        return [], [f"found hooks in {CLAUDE_SETTINGS}, not run: {_HOW}"]
    table = json.loads(file.data)
    found, problems = list[Hook](), list[str]()
    for name, groups in (table if isinstance(table, dict) else {}).items():
        if name not in list(HookEvent):
            problems.append(f"there is no event {str(name)[:40]}")
            continue
        for each in _single(groups):
            try:
                group = HookGroup.model_validate(each)
            except ValidationError as error:
                wrong = error.errors(include_url=False)[0]
                problems.append(f"{name}: {'.'.join(map(str, wrong['loc']))}: {wrong['msg']}")
                continue
            found += _of_group(HookEvent(name), group, CLAUDE_SETTINGS, is_own=False, is_for_others=True)
    told = [safe_line(f"{CLAUDE_SETTINGS}: not all hooks are used: {'; '.join(problems[:5])}")]
    return found, told if problems else []


def _single(groups: object) -> Iterator[object]:
    """Each hook as a group of its own, so that one that means nothing here leaves the others."""
    for group in groups if isinstance(groups, list) else [groups]:
        if not isinstance(group, dict) or not isinstance(group.get("hooks"), list):
            yield group
            continue
        for hook in group["hooks"]:
            yield {"matcher": group.get("matcher") or "", "hooks": [_known(hook)]}


def _known(hook: object) -> object:
    """Without fields that mean nothing here, such as a message to be shown meanwhile."""
    if not isinstance(hook, dict):
        return hook
    known = {name: hook[name] for name in ("type", "command", "timeout") if name in hook}
    if isinstance(known.get("timeout"), int | float):
        known["timeout"] = min(known["timeout"], MOST_SECONDS)
    return known
