"""Another model for a session that is open: what must be there before it is asked, and which could be.

Takes a typed key: into the keyring, else for this run, with words on which of the two it was.
"""

from dataclasses import replace

from coder_tui.agent.session import Session
from coder_tui.agent.turn.model_request import ModelChoice
from coder_tui.bootstrap.open_session import check_model
from coder_tui.bootstrap.session_factory import Core
from coder_tui.llm.catalog import available_models
from coder_tui.llm.client import ModelClient
from coder_tui.llm.host_client import HostClient
from coder_tui.llm.keys import KeyringError, ModelKeys, variable_of, wrong_key
from coder_tui.llm.providers import Provider, is_same_provider, needs_key
from coder_tui.protocol.errors import UserError

ONLY_DEMO = "The demo has one model only: set a key and start again, 'coder-tui models' tells which."


def choice_of(first: ModelChoice, name: str) -> ModelChoice:
    """The address that was set belongs to its provider: another one's key must not go there."""
    is_same_server = is_same_provider(name, first.name)
    return replace(first, name=name, api_base=first.api_base if is_same_server else "")


async def ready_model(
    client: ModelClient, keys: ModelKeys, choice: ModelChoice, *, may_restart: bool
) -> int | None:
    """The model's window, once it can be asked; `UserError` says what is missing.

    A key that the model's process lacks makes it start anew, which ends replies that are on their way.
    """
    if not isinstance(client, HostClient):
        raise UserError(ONLY_DEMO)
    name = choice.name
    check_model(name, choice.api_base)
    await keys.complete_for(name)
    if (provider := needs_key(name, choice.api_base, keys.environment)) is not None:
        raise UserError(f"{name} needs a key: set {' or '.join(provider.key_variables)}")
    if client.lacks(keys.environment) and not may_restart:
        raise UserError(f"{name} has a key of its own; choose it again when the agent has finished.")
    await client.add_keys(keys.environment)
    return (await client.model_info(name, choice.api_base)).context_window


class SessionModels:
    """For a session whose model's process may serve others, too: it is never started anew for one of them."""

    def __init__(self, core: Core, session: Session, keys: ModelKeys) -> None:
        self._core = core
        self._session = session
        self._keys = keys

    async def offered(self) -> tuple[str, ...]:
        """The one in use, and the known ones that have a key; nobody is asked for these."""
        known = await available_models(self._keys.environment, probe=False)
        names = (entry.id for entry in known if entry.available)
        return tuple(dict.fromkeys((self._core.choice.name, *names)))

    async def use(self, name: str) -> None:
        choice = choice_of(self._core.choice, name)
        window = await ready_model(self._core.client, self._keys, choice, may_restart=False)
        self._session.set_model(choice, window)


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
