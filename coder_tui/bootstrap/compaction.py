"""What keeps a session's conversation within its model's window."""

from functools import partial

from coder_tui.agent.compaction import CompactionDesk, MayNot
from coder_tui.agent.keepsakes import Keepsakes
from coder_tui.agent.session_changes import SessionChanges
from coder_tui.agent.summary import Summariser
from coder_tui.agent.turn import TurnServices
from coder_tui.bootstrap.setup import Setup
from coder_tui.llm.client import ModelClient
from coder_tui.storage.sessions import Store
from coder_tui.tools.builtin.todos import TodoList


def build_compaction(
    setup: Setup,
    store: Store,
    client: ModelClient,
    services: TurnServices,
    changes: SessionChanges,
    todos: TodoList,
    may_not: MayNot,
) -> CompactionDesk:
    session_id = todos.session_id
    keep = Keepsakes(
        services.conversation,
        changes,
        setup.directory,
        lambda: todos.items,
        partial(store.pins, session_id),
    )
    return CompactionDesk(
        session_id,
        services.conversation,
        services.request,
        Summariser(client),
        keep,
        services.meter,
        services.bus,
        store,
        may_not,
    )
