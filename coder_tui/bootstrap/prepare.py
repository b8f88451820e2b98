"""The profiles of a session: built in, the person's, the project's, and the one that it begins with.

What a session's model is told before and beside the conversation.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from coder_tui.agent.context.conversation import Conversation
from coder_tui.agent.context.instructions import (
    Nearby,
    NearbyInstructions,
    nothing_nearby,
    upfront,
    users_file,
)
from coder_tui.agent.profiles.files import AgentPlaces, load_profiles
from coder_tui.agent.profiles.profiles import PLAN, built_in
from coder_tui.agent.turn.model_request import Briefing, Environment
from coder_tui.bootstrap.setup import Setup
from coder_tui.config.project import instruction_names
from coder_tui.config.trust import Trust
from coder_tui.protocol.access import Mode
from coder_tui.protocol.errors import UsageError
from coder_tui.protocol.messages import ToolMessage
from coder_tui.shell.sandbox.sandbox import home_folder


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


def with_instructions(setup: Setup, environ: Mapping[str, str]) -> Setup:
    """Read once: the prompt stays the same while a session lasts. Blocks."""
    home = Path(environ["HOME"]) if environ.get("HOME") else home_folder()
    trust, names = Trust.load(setup.directories), tuple(instruction_names(setup.directory))
    is_trusted = trust.reads_instructions(setup.directory)
    read = names if is_trusted else trust.written(setup.directory)
    users = users_file(setup.directories.config, home)
    text, notices = upfront(users, setup.directory, read, redact=setup.redact.known)
    waiting = tuple(name for name in names if name not in read)
    if waiting:
        found = f"found {', '.join(waiting)}, not read: this folder is not trusted; 'coder-tui trust' asks"
        notices = (*notices, found)
    return replace(setup, instructions=text, reads_project=is_trusted, notices=(*setup.notices, *notices))


def build_briefing(setup: Setup, skills: Callable[[], str], plan: Callable[[], str]) -> Briefing:
    today = datetime.now().astimezone().date()
    return Briefing(Environment.here(setup.directory, today), setup.instructions, skills, plan)


def nearby_instructions(setup: Setup, conversation: Conversation) -> Nearby:
    """Those of folders below, for one conversation."""
    if not setup.reads_project:
        return nothing_nearby

    def is_told(heading: str) -> bool:
        # What a summary stands for the model no longer has before it: it is told of instructions again.
        results = (message for message in conversation.recent if isinstance(message, ToolMessage))
        return any(heading in message.content for message in results)

    return NearbyInstructions(setup.directory, setup.redact.known, is_told).of
