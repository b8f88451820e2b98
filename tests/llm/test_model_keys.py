"""Model keys: the environment first, then the keyring."""

import traceback

import pytest

from coder_tui.llm.keys import KeyringError, ModelKeys, in_background, key_problem
from coder_tui.llm.providers import PROVIDERS, Provider, provider_of
from coder_tui.text.redact import MASK, Redactor
from tests.fakes.keyrings import FakeKeyring, NoKeyring, SilentKeyring

ANTHROPIC, OPENAI = PROVIDERS[:2]
KEY = "a-key-without-any-shape"


async def test_the_environment_wins_and_the_keyring_is_asked_once_for_the_rest() -> None:
    keyring = FakeKeyring({"OPENAI_API_KEY": KEY, "ANTHROPIC_API_KEY": "other"})
    keys = ModelKeys({"ANTHROPIC_AUTH_TOKEN": "mine"}, keyring)
    await keys.complete((ANTHROPIC, OPENAI))
    await keys.complete((ANTHROPIC, OPENAI))
    assert keyring.asked == ["OPENAI_API_KEY"]
    assert keys.environment == {"ANTHROPIC_AUTH_TOKEN": "mine", "OPENAI_API_KEY": KEY}
    assert (keys.source(ANTHROPIC), keys.source(OPENAI)) == ("ANTHROPIC_AUTH_TOKEN", "system keyring")


async def test_an_empty_variable_counts_as_unset() -> None:
    keys = ModelKeys({"OPENAI_API_KEY": ""}, FakeKeyring({"OPENAI_API_KEY": KEY}))
    await keys.complete((OPENAI,))
    assert keys.environment == {"OPENAI_API_KEY": KEY}


async def test_only_the_provider_of_the_model_is_looked_for() -> None:
    keyring = FakeKeyring()
    keys = ModelKeys({}, keyring)
    await keys.complete_for("xai/grok")
    await keys.complete_for("ollama/qwen")
    assert keyring.asked == ["XAI_API_KEY"]


async def test_a_key_of_the_keyring_is_hidden_wherever_it_turns_up() -> None:
    redact = Redactor({})
    keys = ModelKeys({}, FakeKeyring({"OPENAI_API_KEY": KEY}), redact.learn)
    await keys.complete((OPENAI,))
    assert redact.known(f"it is {KEY}.") == f"it is {MASK}."


@pytest.mark.parametrize("keyring", [NoKeyring(), SilentKeyring()], ids=["none", "silent"])
async def test_a_failing_keyring_is_reported_once_and_not_asked_again(keyring: NoKeyring) -> None:
    is_silent = isinstance(keyring, SilentKeyring)
    keys = ModelKeys({}, keyring, patience=0.01 if is_silent else 60.0)
    await keys.complete((OPENAI,))
    problem = keys.problem
    await keys.complete()
    assert "keyring" in problem
    assert (keys.problem, keys.environment) == (problem, {})
    # A machine without a keyring is not worth a warning.
    assert keys.warnings == (("The system keyring did not answer within 0 s.",) if is_silent else ())


class BrokenKeyring(FakeKeyring):
    """Raises an unexpected error, as the packages of some desktops do."""

    def get(self, variable: str) -> str:
        raise AttributeError(variable)


async def test_a_crashing_keyring_is_reported_and_prints_nothing(
    capfd: pytest.CaptureFixture[str],
) -> None:
    keys = ModelKeys({}, BrokenKeyring())
    await keys.complete((OPENAI,))
    assert keys.problem == "the system keyring failed: AttributeError"
    assert capfd.readouterr() == ("", "")


async def test_an_error_that_holds_the_key_is_not_part_of_the_report() -> None:
    def fail() -> str:
        raise KeyError(KEY)

    with pytest.raises(KeyringError) as failed:
        await in_background(fail, 60.0)
    assert KEY not in "".join(traceback.format_exception(failed.value))


async def test_a_new_key_is_used_at_once_even_if_it_cannot_be_stored() -> None:
    keys = ModelKeys({}, NoKeyring())
    with pytest.raises(KeyringError):
        await keys.store(OPENAI, KEY)
    assert keys.environment == {"OPENAI_API_KEY": KEY}
    keyring = FakeKeyring()
    await ModelKeys({}, keyring).store(OPENAI, KEY)
    assert keyring.keys == {"OPENAI_API_KEY": KEY}


@pytest.mark.parametrize(
    ("key", "is_wrong"),
    [
        (KEY, False),
        ("", True),
        ("abc", True),
        ("two words here", True),
        ("schlüssel-123", True),
        ("a\x1bbcdefgh", True),
    ],
    ids=["right", "empty", "short", "blank", "not ASCII", "escape"],
)
def test_an_invalid_key_is_refused_without_showing_it(key: str, is_wrong: bool) -> None:
    assert bool(key_problem(key)) is is_wrong
    assert not key or key not in key_problem(key)


def test_every_provider_of_the_table_has_a_variable() -> None:
    assert all(isinstance(provider, Provider) and provider.key_variables for provider in PROVIDERS)
    assert provider_of("openai/x") is OPENAI
