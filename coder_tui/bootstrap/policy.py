"""What decisions rest on: boundaries, rules, mode, and where answers for good are kept."""

import asyncio
from pathlib import Path

from coder_tui.bootstrap.setup import Setup, roots_of
from coder_tui.config.paths import display_path
from coder_tui.config.permission_rules import project_layer, user_layer
from coder_tui.config.rule_writer import save_grant
from coder_tui.config.trust import Trust
from coder_tui.policy.decide import Policy
from coder_tui.policy.paths import Boundaries
from coder_tui.protocol.errors import UserError
from coder_tui.protocol.requests import Grant
from coder_tui.shell.sandbox import home_folder, home_folders


def build_policy(setup: Setup) -> Policy:
    boundaries = Boundaries(
        roots=tuple(str(root) for root in roots_of(setup)),
        own=tuple(str(folder.resolve()) for folder in setup.own_folders),
        readable=(str(setup.tool_output.resolve()), str(setup.directories.pictures.resolve())),
        homes=tuple(str(home) for home in home_folders(home_folder())),
    )
    layers = [user_layer(setup.settings.permission, setup.sources)]
    if setup.sources.project is not None:
        layers.append(project_layer(setup.sources.project))
    is_sandboxed = setup.sandbox.guards_everything
    return Policy(boundaries, setup.mode, tuple(layers), is_sandboxed=is_sandboxed)


class SavedGrants:
    """Writes what a person allowed for good into the settings file that they chose."""

    def __init__(self, setup: Setup) -> None:
        self._setup = setup

    async def keep(self, grant: Grant) -> str:
        return display_path(await asyncio.to_thread(self._save, grant))

    def _save(self, grant: Grant) -> Path:
        setup = self._setup
        if any(setup.redact(pattern) != pattern for pattern in grant.patterns):
            raise UserError("it holds a secret, which does not belong into a settings file")
        own = setup.sources.file.path if setup.sources.file else None
        return save_grant(grant, setup.directory, setup.directories, Trust.load(setup.directories), own)
