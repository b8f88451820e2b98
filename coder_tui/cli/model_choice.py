"""Another model for a session that is open: what must be there before it is asked, and which could be."""

from dataclasses import replace

from coder_tui.agent.request_builder import ModelChoice
from coder_tui.agent.session import Session
from coder_tui.bootstrap import Core
from coder_tui.cli.opening import check_model
from coder_tui.llm.catalog import available_models
from coder_tui.llm.client import ModelClient
from coder_tui.llm.host_client import HostClient
from coder_tui.llm.model_keys import ModelKeys
from coder_tui.llm.providers import is_same_provider, needs_key
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
