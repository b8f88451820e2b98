"""The profiles of a session: built in, the person's, the project's, and the one that it begins with."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from coder_tui.agent.profiles_builtin import PLAN, built_in
from coder_tui.agent.profiles_files import AgentPlaces, load_profiles
from coder_tui.bootstrap.setup import Setup
from coder_tui.config.trust import Trust
from coder_tui.protocol.access import Mode
from coder_tui.protocol.errors import UsageError
from coder_tui.shell.sandbox import home_folder


def with_profiles(setup: Setup, environ: Mapping[str, str], agent: str) -> Setup:
    """Blocks: reads files. `UsageError` where there is no such agent that could lead a session."""
    section = setup.settings.agents
    home = Path(environ["HOME"]) if environ.get("HOME") else home_folder()
    profiles, notices = load_profiles(
        built_in(
            asks_everywhere=section.questions == "always",
            hands_over=setup.settings.experimental.plan_mode,
        ),
        AgentPlaces(setup.directory, setup.directories, home, environ),
        Trust.load(setup.directories),
        section.custom,
        setup.sources,
    )
    setup = replace(setup, profiles=profiles, notices=(*setup.notices, *notices))
    return _led_by(setup, agent) if agent else setup


def _led_by(setup: Setup, agent: str) -> Setup:
    setup.profiles.leader(agent)
    if (agent == PLAN) is (setup.mode is Mode.PLAN):
        return replace(setup, agent=agent)
    if agent == PLAN and not setup.is_mode_given:
        return replace(setup, agent=agent, mode=Mode.PLAN, is_mode_given=True)
    raise UsageError(f"--agent {agent} and --permission {setup.mode} exclude each other")
