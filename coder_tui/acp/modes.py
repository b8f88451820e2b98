"""The modes of a session, in an editor's words."""

from acp.schema import SessionMode, SessionModeState

from coder_tui.protocol.access import Mode

MODES = {
    Mode.ASK: ("Ask", "Ask before a file is changed or a command runs"),
    Mode.EDITS: ("Edits", "Change files of the project without a question, ask before commands"),
    Mode.AUTO: ("Auto", "Run what no rule forbids and no protection guards, without a question"),
    Mode.PLAN: ("Plan", "Read, ask and make a plan; change nothing"),
}


def modes_of(mode: Mode) -> SessionModeState:
    available = [
        SessionMode(id=each.value, name=name, description=about) for each, (name, about) in MODES.items()
    ]
    return SessionModeState(current_mode_id=mode.value, available_modes=available)
