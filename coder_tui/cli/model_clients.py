"""Who closes a model's process: the session that has it alone, or whoever lends one to several."""

from typing import Protocol

from coder_tui.llm.client import ModelClient
from coder_tui.llm.host_client import HostClient


class ModelClients(Protocol):
    def take(self, client: ModelClient) -> ModelClient:
        """The client to use in place of this one, which has not been used yet."""

    async def give_back(self, client: ModelClient) -> None: ...


class OwnClients:
    """Each session has its own, and closes it."""

    def take(self, client: ModelClient) -> ModelClient:
        return client

    async def give_back(self, client: ModelClient) -> None:
        await client.close()


class SharedClients:
    """One process for all sessions whose settings agree: each holds litellm, large and slow to load."""

    def __init__(self) -> None:
        self._lent: list[HostClient] = []

    def take(self, client: ModelClient) -> ModelClient:
        if not isinstance(client, HostClient):
            return client
        for known in self._lent:
            if known.does_the_same(client):
                return known
        self._lent.append(client)
        return client

    async def give_back(self, client: ModelClient) -> None:
        """Kept for the next session."""

    async def close(self) -> None:
        for client in self._lent:
            await client.close()
