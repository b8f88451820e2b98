"""A session belongs to its folder: what its model knows of files, and what undo keeps, is of that one."""

from pathlib import Path

from coder_tui.agent.farewell import way_back
from coder_tui.bootstrap import Setup
from coder_tui.config.paths import display_path
from coder_tui.protocol.errors import UsageError
from coder_tui.storage.sessions import SessionInfo


def check_place(info: SessionInfo, setup: Setup) -> None:
    """Refuse a session of another folder in words that tell where it goes on."""
    folder = Path(info.directory)
    if folder == setup.directory:
        return
    belongs = f"session {info.id} belongs to {display_path(folder)}"
    if not folder.is_dir():
        raise UsageError(
            f"{belongs}, which is gone; 'coder-tui sessions show {info.id}' prints what was said"
        )
    raise UsageError(
        f"{belongs}, not to {display_path(setup.directory)}; to go on with it: "
        f"{way_back(info.id, folder, is_for_one_prompt=setup.is_for_one_prompt)}"
    )
