"""Switches for what may still change."""

from coder_tui.config.section import Section


class ExperimentalSection(Section):
    batch_tool: bool = False
    websearch: bool = False
    plan_mode: bool = True
