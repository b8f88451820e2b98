"""The permission table: a tool or group, then an effect, or patterns with one each."""

from typing import Annotated, Literal

from pydantic import Discriminator, Tag

Effect = Literal["allow", "ask", "deny"]

# The tags stand third in the place of an error, where a person's file has no such key.
EFFECT_TAG = "effect"
PATTERNS_TAG = "patterns"


def _tag(value: object) -> str:
    return PATTERNS_TAG if isinstance(value, dict) else EFFECT_TAG


Rule = Annotated[
    Annotated[Effect, Tag(EFFECT_TAG)] | Annotated[dict[str, Effect], Tag(PATTERNS_TAG)],
    Discriminator(_tag),
]
PermissionTable = dict[str, Rule]
"""In the order of the sources and, inside one, of its text: the last match wins."""
