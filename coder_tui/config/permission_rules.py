"""Permission tables as rules, each with the place it comes from: the person's, and a project's own."""

from collections.abc import Iterator, Mapping
from itertools import islice

from coder_tui.config.permission_section import PermissionTable
from coder_tui.config.project_settings import MOST_UNTRUSTED_RULES, PERMISSION, ProjectSettings
from coder_tui.config.sources import Sources, origin_of
from coder_tui.config.toml_lines import KeyPath
from coder_tui.policy.keys import is_permission_key
from coder_tui.policy.rules import EVERYTHING, Effect, Layer, Rule

USER = "user"
PROJECT = "project"


def user_layer(table: PermissionTable, sources: Sources) -> Layer:
    """In the table's own order: inside a layer the last match wins."""
    return Layer(
        USER,
        tuple(
            Rule(
                key,
                pattern,
                effect,
                origin_of(sources, path),
                yields_to_mode=pattern == EVERYTHING and effect is Effect.ASK,
            )
            for path, key, pattern, effect in _entries(table)
        ),
    )


def project_layer(project: ProjectSettings) -> Layer:
    """A project's rules; without trust only those that can but tighten.

    Where one of its own exceptions falls away with that, what remains is stricter than it meant: never laxer.
    """
    entries = _entries(project.rules) if isinstance(project.rules, Mapping) else iter(())
    if not project.is_trusted:
        entries = islice(entries, MOST_UNTRUSTED_RULES)
    return Layer(
        PROJECT,
        tuple(
            Rule(key, pattern, effect, project.place(path))
            for path, key, pattern, effect in entries
            if project.is_trusted or (effect is not Effect.ALLOW and is_permission_key(key))
        ),
    )


def _entries(table: Mapping[str, object]) -> Iterator[tuple[KeyPath, str, str, Effect]]:
    """What is no rule at all is passed over: a trusted file was checked before."""
    effects = {effect.value: effect for effect in Effect}
    for key, value in table.items():
        if isinstance(value, str) and value in effects:
            yield (PERMISSION, key), key, EVERYTHING, effects[value]
        elif isinstance(value, Mapping):
            for pattern, effect in value.items():
                if isinstance(effect, str) and effect in effects:
                    yield (PERMISSION, key, pattern), key, pattern, effects[effect]
