"""The messages of a session: stored first, then remembered.

Remembers which ids calls had: thousands of them, in one piece of memory.
"""

from array import array
from bisect import bisect_left
from collections.abc import Iterable, Iterator

from coder_tui.agent.context.model_view import SentView, calls_in, standing
from coder_tui.protocol.errors import StorageError
from coder_tui.protocol.messages import AssistantMessage, Compaction, Message, ToolCall, ToolMessage
from coder_tui.storage.store import Store
from coder_tui.tasks import to_the_end
from coder_tui.text.packed import PackedList


class CallIds:
    """May take an id for one that was there, once in some billion: whoever asks then makes another."""

    def __init__(self, ids: Iterable[str] = ()) -> None:
        self._hashes = array("q", sorted(set(map(hash, ids))))

    def __contains__(self, call_id: object) -> bool:
        place = bisect_left(self._hashes, hash(call_id))
        return place < len(self._hashes) and self._hashes[place] == hash(call_id)

    def __len__(self) -> int:
        return len(self._hashes)

    def add(self, call_id: str) -> None:
        if call_id not in self:
            self._hashes.insert(bisect_left(self._hashes, hash(call_id)), hash(call_id))


class Conversation:
    """All that was said. A message is part of it only once it is stored.

    What a summary stands for is kept packed: nobody is sent it, but the summary may be taken back.
    """

    def __init__(
        self,
        store: Store,
        session_id: str,
        messages: tuple[Message, ...] = (),
        compactions: tuple[Compaction, ...] = (),
    ) -> None:
        self._store = store
        self._session_id = session_id
        self._view = SentView()
        self.call_ids = CallIds(calls_in(messages))
        self.replace(messages, compactions)

    @property
    def messages(self) -> tuple[Message, ...]:
        """Unpacks all of them: whoever can do with fewer asks for those."""
        return tuple(self._messages)

    @property
    def is_empty(self) -> bool:
        return not len(self._messages)

    @property
    def for_model(self) -> tuple[Message, ...]:
        """What a model is sent: compactions stand for what they cover."""
        return self._view.of(self._messages, self._compactions)

    @property
    def recent(self) -> list[Message]:
        """What no summary stands for."""
        return self._messages.since(self._covered)

    @property
    def backwards(self) -> Iterator[Message]:
        """All of them, the newest first, for whoever stops soon."""
        return reversed(self._messages)

    @property
    def compactions(self) -> tuple[Compaction, ...]:
        return self._compactions

    @compactions.setter
    def compactions(self, compactions: tuple[Compaction, ...]) -> None:
        self._compactions = compactions
        self._covered, _ = standing(self._messages, compactions)
        self._messages.keep_at_hand(self._covered)

    def replace(self, messages: tuple[Message, ...], compactions: tuple[Compaction, ...]) -> None:
        """What counts of the session changed in the store. Ids of calls stay taken."""
        self._messages: PackedList[Message] = PackedList(messages)
        self._view.forget()
        self.compactions = compactions

    async def add(self, message: Message) -> None:
        await to_the_end(self._add(message))

    async def _add(self, message: Message) -> None:
        await self._store.add_message(self._session_id, message)
        self._messages.append(message)
        if isinstance(message, AssistantMessage):
            for call in message.calls:
                self.call_ids.add(call.id)

    def note_result(self, message: ToolMessage) -> None:
        """For a result that was stored together with its call."""
        self._messages.append(message)

    async def close_call(self, result: ToolMessage) -> None:
        """Also where the store refuses: without a result the provider would refuse what comes next."""
        try:
            await self.add(result)
        except StorageError:
            self._messages.append(result)

    def open_calls(self) -> tuple[ToolCall, ...]:
        """Calls of the last reply that have no result yet."""
        results: set[str] = set()
        for message in self.backwards:
            if isinstance(message, ToolMessage):
                results.add(message.call_id)
            elif isinstance(message, AssistantMessage):
                return tuple(call for call in message.calls if call.id not in results)
        return ()
