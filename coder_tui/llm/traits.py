"""What a model can do, by its name; the only module that interprets model names."""

from dataclasses import dataclass
from enum import StrEnum


class EditDialect(StrEnum):
    """How a model was trained to change files."""

    EDIT = "edit"
    APPLY_PATCH = "apply_patch"


class ModelFamily(StrEnum):
    """The family whose habits a model has, for the prompt that it gets."""

    CLAUDE = "claude"
    GPT = "gpt"
    GEMINI = "gemini"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class ModelTraits:
    """`caches_prompt`: accepts cache marks. `returns_thinking`: needs signed thinking back unchanged.

    `reply_limit` is the output limit to request if a provider's default would cut replies short.
    """

    edit_dialect: EditDialect
    sees_images: bool
    caches_prompt: bool
    returns_thinking: bool
    reply_limit: int | None
    family: ModelFamily = ModelFamily.OTHER


_CLAUDE_REPLY_LIMIT = 32_000
_SEEING = (
    "claude",
    "gpt-4o",
    "gpt-4.1",
    "gpt-5",
    "gpt-6",
    "gemini",
    "grok-4",
    "pixtral",
    "llava",
    "-vl",
    "vision",
)
_BLIND = ("gpt-oss", "gpt-3")


def traits_of(model: str) -> ModelTraits:
    """Return the traits of a model by its litellm id; an unknown name gets the safe choice."""
    name = model.lower()
    is_claude = "claude" in name
    return ModelTraits(
        edit_dialect=_dialect(name),
        sees_images=any(part in name for part in _SEEING) and not any(part in name for part in _BLIND),
        caches_prompt=is_claude,
        returns_thinking=is_claude,
        reply_limit=_CLAUDE_REPLY_LIMIT if is_claude and "claude-3" not in name else None,
        family=_family(name),
    )


def _family(name: str) -> ModelFamily:
    if "claude" in name:
        return ModelFamily.CLAUDE
    if "gemini" in name:
        return ModelFamily.GEMINI
    return ModelFamily.GPT if _dialect(name) is EditDialect.APPLY_PATCH else ModelFamily.OTHER


def _dialect(name: str) -> EditDialect:
    if "gpt-" in name and "gpt-4" not in name and "oss" not in name:
        return EditDialect.APPLY_PATCH
    return EditDialect.EDIT
