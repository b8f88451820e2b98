"""Takes a typed key: into the keyring, else for this run, with words on which of the two it was."""

from coder_tui.llm.model_keys import ModelKeys, variable_of, wrong_key
from coder_tui.llm.providers import Provider
from coder_tui.llm.system_keyring import KeyringError
from coder_tui.protocol.errors import UserError

ONLY_NOW = "The key for {} holds for this run only: {}. To have it again, set {} in your shell."
KEPT = "The key for {0} is in the system keyring; 'coder-tui config key {1} --delete' removes it."


async def keep_typed_key(keys: ModelKeys, provider: Provider, key: str) -> str:
    """What to tell. `UserError` where it can be no key."""
    if reason := wrong_key(key):
        raise UserError(reason[:1].upper() + reason[1:])
    try:
        await keys.keep(provider, key)
    except KeyringError as error:
        return ONLY_NOW.format(provider.label, error, variable_of(provider))
    return KEPT.format(provider.label, provider.prefix)
