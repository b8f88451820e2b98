"""Settings of the folders that tools may work in."""

from coder_tui.config.section import Section


class WorkspaceSection(Section):
    extra_roots: tuple[str, ...] = ()
