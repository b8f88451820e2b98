"""What keeps a session's conversation within its model's window."""

from functools import partial

from coder_tui.agent.compaction import CompactionDesk
from coder_tui.agent.keepsakes import Keepsakes
from coder_tui.agent.problem_words import open_words
from coder_tui.agent.session_changes import SessionChanges
from coder_tui.agent.summary import Summariser
from coder_tui.agent.turn import TurnServices
from coder_tui.bootstrap.setup import Setup
from coder_tui.bootstrap.workbench import Workbench
from coder_tui.llm.client import ModelClient
from coder_tui.storage.sessions import Store
from coder_tui.tools.builtin.todos import TodoList


def build_compaction(
    setup: Setup,
    store: Store,
    client: ModelClient,
    bench: Workbench,
    changes: SessionChanges,
    services: TurnServices,
    todos: TodoList,
) -> CompactionDesk:
    """For the conversation of `services`, which is a session's or a sub-agent's, as its `todos` are."""
    session_id = todos.session_id
    keep = Keepsakes(
        services.conversation,
        changes,
        setup.directory,
        lambda: todos.items,
        partial(store.pins, session_id),
        lambda: setup.redact.known(open_words(bench.pool.open_problems())),
    )
    return CompactionDesk(
        session_id,
        services.conversation,
        services.request,
        Summariser(client, services.meter),
        keep,
        services.meter,
        services.bus,
        store,
        services.cap,
        bench.hooks.compact,
    )
