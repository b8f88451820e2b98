"""What checks a session's work after its turns."""

from collections.abc import Callable

from coder_tui.agent.session_changes import SessionChanges
from coder_tui.agent.shown_command import BASH, ShownCommands
from coder_tui.agent.verify import Verifier, VerifyRules
from coder_tui.agent.verify_choice import VerifyChoices
from coder_tui.agent.verify_signs import checked_in
from coder_tui.bootstrap.setup import Setup
from coder_tui.bootstrap.workbench import Workbench
from coder_tui.config.sources import Layer, layer_of
from coder_tui.protocol.events import Notice
from coder_tui.protocol.outcomes import NoticeLevel
from coder_tui.storage.sessions import Store


def build_verifier(
    setup: Setup,
    store: Store,
    session_id: str,
    bench: Workbench,
    changes: SessionChanges,
    turn: Callable[[], int],
) -> Verifier:
    def notify(level: NoticeLevel, text: str) -> None:
        bench.bus.publish(Notice(level, text))

    section = setup.settings.verify
    rules = VerifyRules(section.enabled, section.command, section.max_rounds, section.timeout_sec)
    # Nobody chooses for a folder that is gone with the session.
    look = (lambda folder: "") if setup.is_scratch else checked_in
    choices = VerifyChoices(setup.directory, store, bench.broker, notify, look)
    commands = ShownCommands(
        session_id,
        setup.directory,
        bench.bus,
        bench.desk,
        lambda: bench.registry.get(BASH),
        setup.redact,
        opens_named=layer_of(setup.sources, ("verify", "command")) is not Layer.PROJECT,
    )

    def unseen() -> int:
        return changes.watch.unseen + bench.shell.jobs.begun

    return Verifier(rules, choices, commands, changes, turn, notify, unseen)
