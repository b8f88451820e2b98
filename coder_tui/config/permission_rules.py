"""The settings' permission table as rules, each with the place it comes from."""

from coder_tui.config.permission_section import PermissionTable
from coder_tui.config.sources import Sources, origin_of
from coder_tui.policy.rules import EVERYTHING, Effect, Layer, Rule


def user_layer(table: PermissionTable, sources: Sources) -> Layer:
    """In the table's own order: inside a layer the last match wins."""
    rules: list[Rule] = []
    for key, value in table.items():
        if isinstance(value, str):
            source = origin_of(sources, ("permission", key))
            rules.append(Rule(key, EVERYTHING, Effect(value), source))
            continue
        for pattern, effect in value.items():
            source = origin_of(sources, ("permission", key, pattern))
            rules.append(Rule(key, pattern, Effect(effect), source))
    return Layer("user", tuple(rules))
