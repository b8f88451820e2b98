"""Find the hooks of a session: the user's, a trusted project's, and those it has for another program."""

import json
from collections.abc import Iterator
from dataclasses import dataclass

from pydantic import ValidationError

from coder_tui.agent.calls.log import CallLog
from coder_tui.agent.calls.permissions import Permissions
from coder_tui.agent.diagnostics.session import SessionDiagnostics
from coder_tui.agent.event_bus import EventBus
from coder_tui.agent.hooks.runner import Hook, HookEvent, HookRunner
from coder_tui.agent.hooks.session_hooks import CallHooks
from coder_tui.bootstrap.setup import Setup, SetupBasis
from coder_tui.config.inventory import CLAUDE_SETTINGS, hooks_file
from coder_tui.config.project import HOOK_FOLDERS, ProjectFileError, extension_names, read_project_file
from coder_tui.config.sections import MOST_SECONDS, HookGroup, HooksSection
from coder_tui.config.sources import origin_of
from coder_tui.config.trust import Trust
from coder_tui.policy.relative_programs import relative_program
from coder_tui.policy.rules import Effect
from coder_tui.protocol.errors import ConfigError
from coder_tui.protocol.events import FilesChanged
from coder_tui.shell.session_shell import SessionShell
from coder_tui.text.safe_text import safe_line

OWN = "your settings"
_RELATIVE = (
    "one of your hooks runs `{0}`, which would be another program in every folder; "
    'write its full path, or "$CODER_TUI_PROJECT_DIR"/… if you mean a file of the project'
)
_HOW = "this folder is not trusted; 'coder-tui trust' asks"


@dataclass(frozen=True, slots=True)
class FoundHooks:
    hooks: tuple[Hook, ...] = ()
    problems: tuple[str, ...] = ()


def find_hooks(setup: SetupBasis) -> FoundHooks:
    """Find the user's hooks, then a project's, those only in the content that is trusted. Blocks."""
    own = tuple(_own_hooks(setup))
    found, problems = list(own), list[str]()
    project = setup.sources.project
    if project is not None and project.is_trusted:
        section = HooksSection.model_validate(project.hooks)
        found += _hooks(section, project.name, is_own=False)
    others, warnings = _of_claude(setup)
    problems += warnings
    found += others
    if len(found) > len(own) and not hooks_are_trusted(setup):
        problems.append(f"the project's hooks are not run: {_HOW}")
        found = list(own)
    return FoundHooks(tuple(found), tuple(problems))


def build_hooks(
    setup: Setup, session_id: str, shell: SessionShell, permissions: Permissions, bus: EventBus
) -> HookRunner:
    # In the demo none of the user's hooks run.
    hooks = () if setup.is_scratch else setup.hooks
    return HookRunner(
        session_id,
        setup.directory,
        hooks,
        shell,
        setup.redact,
        lambda: permissions.mode,
        lambda: hooks_are_trusted(setup),
        bus.notify,
    )


def call_hooks(
    runner: HookRunner, calls: CallLog, bus: EventBus, diagnostics: SessionDiagnostics
) -> CallHooks | None:
    """Build the hooks for the calls of one agent; None if there are none."""

    def changed(names: tuple[str, ...]) -> None:
        bus.publish(FilesChanged(names))
        diagnostics.files_changed(names)

    return CallHooks(runner, calls, changed) if runner.hooks else None


def hooks_are_trusted(setup: SetupBasis) -> bool:
    """Return whether all files of the project's hooks are as the user trusted them. Blocks."""
    workspace, trust = setup.directory, Trust.load(setup.directories)
    project = setup.sources.project
    try:
        names = (*extension_names(workspace, HOOK_FOLDERS), *([project.name] if project else []))
        files = [file for name in names if (file := read_project_file(workspace, name))]
        claudes = hooks_file(workspace)
    except ProjectFileError:
        return False
    return all(trust.trusts(workspace, file) for file in (*files, *([claudes] if claudes else [])))


def _own_hooks(setup: SetupBasis) -> Iterator[Hook]:
    """Yield the user's hooks; raise `ConfigError` if one would run a program from the current folder."""
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
        # A project's hooks never leave the sandbox.
        is_confined = each.sandbox or not is_own
        yield Hook(
            *(event, each.command, group.matcher, each.timeout, source, is_confined, is_own, is_for_others),
            on_failure=Effect(each.on_failure) if each.on_failure else None,
        )


def _of_claude(setup: SetupBasis) -> tuple[list[Hook], list[str]]:
    """Read another program's hooks; unknown events and kinds are skipped with a warning."""
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
    warning = safe_line(f"{CLAUDE_SETTINGS}: not all hooks are used: {'; '.join(problems[:5])}")
    return found, [warning] if problems else []


def _single(groups: object) -> Iterator[object]:
    """Yield each hook as a group of its own, so that an unknown one does not drop the others."""
    for group in groups if isinstance(groups, list) else [groups]:
        if not isinstance(group, dict) or not isinstance(group.get("hooks"), list):
            yield group
            continue
        for hook in group["hooks"]:
            yield {"matcher": group.get("matcher") or "", "hooks": [_known(hook)]}


def _known(hook: object) -> object:
    """Drop fields that mean nothing here, such as a message to show while the hook runs."""
    if not isinstance(hook, dict):
        return hook
    known = {name: hook[name] for name in ("type", "command", "timeout") if name in hook}
    if isinstance(known.get("timeout"), int | float):
        known["timeout"] = min(known["timeout"], MOST_SECONDS)
    return known
