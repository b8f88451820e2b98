"""What "allow always" may offer for a call: the narrowest useful rules, never more than was shown."""

from dataclasses import replace
from urllib.parse import urlsplit

from coder_tui.policy.command import ShellCommand, pattern_for
from coder_tui.policy.decide import decide
from coder_tui.policy.model import Action, Policy
from coder_tui.policy.paths import is_secret, is_within, shown_path
from coder_tui.policy.rules import CUSTOM, EVERYTHING, Effect, Layer, Rule, is_exact
from coder_tui.protocol.access import Target, TargetKind, ToolKind
from coder_tui.protocol.requests import Grant, GrantForm, GrantScope

_SCOPES = {
    GrantScope.SESSION: "this session",
    GrantScope.PROJECT: "saved for this project",
    GrantScope.USER: "saved for me",
}


def offered_grants(action: Action, policy: Policy) -> tuple[Grant, ...]:
    """Narrowest first; none where one answer must not cover the next call."""
    return tuple(grant for grant in _offered(action, policy) if _would_hold(grant, action, policy))


def _would_hold(grant: Grant, action: Action, policy: Policy) -> bool:
    """Return whether it would spare the next question: a stricter rule or a protection may outweigh it."""
    if grant.scope is GrantScope.SESSION:
        return action.kind is not ToolKind.EDIT or _suffices(grant, action, policy)
    added = tuple(Rule(grant.key, pattern, Effect.ALLOW, grant.scope) for pattern in grant.patterns)
    # Saved rules stand last in their file, and a file that has none yet is made.
    files = {layer.name: replace(layer, rules=layer.effective) for layer in policy.layers}
    place = files.get(grant.scope, Layer(grant.scope, ()))
    files[grant.scope] = Layer(place.name, (*place.rules, *added))
    layers = tuple(files.values())
    return decide(action, replace(policy, layers=layers)).effect is Effect.ALLOW


def _offered(action: Action, policy: Policy) -> tuple[Grant, ...]:
    if action.command is not None:
        return _command_grants(action, action.command, policy)
    if not action.targets:
        return _tool_grants(action)
    if all(target.kind is TargetKind.PATH for target in action.targets):
        return _path_grants(action, policy)
    if len(action.targets) != 1:
        return ()
    target = action.targets[0]
    match target.kind:
        case TargetKind.COMMAND:
            return (Grant(action.permission, (target.value,), "this exact command, this session"),)
        case TargetKind.ADDRESS:
            return _address_grants(action, target, policy)
        case TargetKind.NAME | TargetKind.PATH:
            return (Grant(action.permission, (target.value,), f"{target.value}, this session"),)


def _command_grants(action: Action, command: ShellCommand, policy: Policy) -> tuple[Grant, ...]:
    if command.has_hidden_characters:
        # What was shown is not what would run again.
        return ()
    exact = Grant(action.permission, (command.text,), "this exact command, this session")
    patterns = _patterns(command)
    if not patterns or command.doubts:
        return (exact,)
    offered = _scoped(action.permission, patterns, " + ".join(patterns))
    return (exact, *(offered if _suffices(offered[0], action, policy) else ()))


def _patterns(command: ShellCommand) -> tuple[str, ...]:
    """One for each part that needs an answer; none at all where one of them must not have any."""
    needed = [part for part in command.parts if not part.is_transparent]
    patterns = tuple(dict.fromkeys(pattern_for(part) for part in needed))
    has_doubts = any(part.doubts for part in command.parts)
    return () if has_doubts or "" in patterns else patterns


def _suffices(grant: Grant, action: Action, policy: Policy) -> bool:
    """A grant that would not spare the next question is not worth offering: `echo x > f` asks for f."""
    return decide(action, replace(policy, grants=(*policy.grants, grant))).effect is Effect.ALLOW


def _scoped(key: str, patterns: tuple[str, ...], words: str) -> tuple[Grant, ...]:
    return tuple(
        Grant(key, patterns, f"{words}  ·  {place}", GrantForm.GLOB, scope)
        for scope, place in _SCOPES.items()
    )


def _tool_grants(action: Action) -> tuple[Grant, ...]:
    # Settings do not know the names of tools that people wrote: there they go by another.
    key = action.permission if action.permission.startswith(CUSTOM) else action.tool
    tool = _scoped(key, (EVERYTHING,), f"every call of {action.tool}")
    parts = action.tool.split("__")
    if parts[0] != "mcp" or len(parts) < 3:
        return tool
    server = _scoped(f"mcp__{parts[1]}__*", (EVERYTHING,), f"every tool of the server {parts[1]}")
    return (*tool, *server)


def _address_grants(action: Action, target: Target, policy: Policy) -> tuple[Grant, ...]:
    if target.writes:
        # What is sent differs from call to call.
        return ()
    exact = Grant(action.permission, (target.value,), f"{target.value}, this session")
    parts = urlsplit(target.value)
    if not parts.hostname or "@" in parts.netloc:
        return (exact,)
    pattern = f"{parts.scheme}://{parts.netloc}/*"
    offered = _scoped(action.permission, (pattern,), pattern)
    return (exact, *(offered if _suffices(offered[0], action, policy) else ()))


def _path_grants(action: Action, policy: Policy) -> tuple[Grant, ...]:
    paths = tuple(dict.fromkeys(target.value for target in action.targets))
    roots = policy.boundaries.roots
    first = shown_path(paths[0], policy.boundaries)
    named = first if len(paths) == 1 else f"{first} and {len(paths) - 1} more, as listed"
    exact = Grant(action.permission, paths, f"{named}, this session")
    if any(is_secret(path) or not is_within(path, roots) for path in paths):
        return (exact,)
    held = tuple(root for root in roots if any(is_within(path, (root,)) for path in paths))
    label = f"every {action.permission} inside the workspace, this session"
    everywhere = Grant(action.permission, held, label, GrantForm.FOLDER)
    if not all(map(is_exact, paths)):
        # In a rule a star would stand for anything.
        return exact, everywhere
    kept = (
        Grant(action.permission, paths, f"{named}  ·  {place}", scope=scope)
        for scope, place in _SCOPES.items()
        if scope is not GrantScope.SESSION
    )
    return exact, everywhere, *kept
