"""Traits by name."""

import pytest

from coder_tui.llm.traits import EditDialect, traits_of


@pytest.mark.parametrize(
    ("model", "dialect"),
    [
        ("openai/gpt-5.6", EditDialect.APPLY_PATCH),
        ("gpt-6-sol", EditDialect.APPLY_PATCH),
        ("openrouter/openai/gpt-5", EditDialect.APPLY_PATCH),
        ("openai/gpt-4.1", EditDialect.EDIT),
        ("openai/gpt-4o-mini", EditDialect.EDIT),
        ("groq/openai/gpt-oss-120b", EditDialect.EDIT),
        ("anthropic/claude-sonnet-4-5", EditDialect.EDIT),
        ("openai/x", EditDialect.EDIT),
        ("", EditDialect.EDIT),
    ],
)
def test_the_patch_dialect_is_for_newer_gpt_models_alone(model: str, dialect: EditDialect) -> None:
    assert traits_of(model).edit_dialect is dialect


@pytest.mark.parametrize("model", ["anthropic/claude-opus-5", "bedrock/us.anthropic.claude-sonnet-4-5-v1:0"])
def test_claude_caches_and_wants_its_thinking_back_wherever_it_runs(model: str) -> None:
    traits = traits_of(model)
    assert (traits.caches_prompt, traits.returns_thinking) == (True, True)


@pytest.mark.parametrize(
    ("model", "sees"), [("openai/gpt-5", True), ("groq/openai/gpt-oss-20b", False), ("openai/x", False)]
)
def test_images_go_only_to_models_known_to_see(model: str, sees: bool) -> None:
    assert traits_of(model).sees_images is sees
