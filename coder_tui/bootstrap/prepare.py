"""Load the setup of sessions: settings, sandbox, skills, profiles, hooks and instructions."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
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
from coder_tui.agent.profiles.files import load_profiles
from coder_tui.agent.profiles.profiles import PLAN, Profiles, built_in
from coder_tui.agent.turn.model_request import Environment, SystemPrompt
from coder_tui.bootstrap.hooks import find_hooks
from coder_tui.bootstrap.setup import Setup, SetupBasis, find_sandbox, find_skills
from coder_tui.config.own_files import start_log
from coder_tui.config.paths import Directories
from coder_tui.config.project import instruction_names
from coder_tui.config.settings import load_settings
from coder_tui.config.sources import Sources
from coder_tui.config.trust import Trust
from coder_tui.protocol.access import Mode
from coder_tui.protocol.errors import UsageError
from coder_tui.protocol.messages import ToolMessage
from coder_tui.shell.sandbox.sandbox import home_folder
from coder_tui.skills.command_files import ExtensionPlaces
from coder_tui.storage.half_written import half_written
from coder_tui.text.redact import Redactor

HALF_WRITTEN = "half-written"


def load_setup(
    directory: Path,
    directories: Directories,
    sources: Sources,
    environ: Mapping[str, str],
    mode: Mode | None = None,
    added_roots: tuple[Path, ...] = (),
    agent: str = "",
) -> Setup:
    """Check the settings, make the program's folders and start the log. Blocks: call it off the loop.

    Removes what an earlier run left behind if it was killed in the middle of a write. Raises `UsageError` if
    the agent does not exist or cannot lead.
    """
    settings = load_settings(sources)
    directories.ensure()
    redact = Redactor(environ)
    start_log(directories.log, redact)
    half_written.use_folder(directories.data / HALF_WRITTEN)
    given = (directory, directories, settings, sources, added_roots, redact)
    basis = SetupBasis(*given)
    home = Path(environ["HOME"]) if environ.get("HOME") else home_folder()
    sandbox, skills = find_sandbox(basis), find_skills(basis)
    profiles, notices = find_profiles(basis, home, environ)
    led = profile_mode(profiles, agent, mode)
    hooks = find_hooks(basis)
    instructions = read_instructions(basis, home)
    return Setup(
        *given,
        mode=led or Mode.ASK,
        is_mode_given=led is not None,
        sandbox=sandbox,
        skills=skills,
        profiles=profiles,
        hooks=hooks.hooks,
        agent=agent,
        instructions=instructions.text,
        reads_project=instructions.are_all_trusted,
        notices=(*notices, *hooks.problems, *instructions.notices),
    )


def find_profiles(
    setup: SetupBasis, home: Path, environ: Mapping[str, str]
) -> tuple[Profiles, tuple[str, ...]]:
    """Return the profiles, and warnings about files of some. Blocks."""
    section = setup.settings.agents
    return load_profiles(
        built_in(
            asks_everywhere=section.questions == "always",
            hands_over=setup.settings.experimental.plan_mode,
        ),
        ExtensionPlaces(setup.directory, setup.directories, home, environ),
        Trust.load(setup.directories),
        section.custom,
        setup.sources,
    )


def profile_mode(profiles: Profiles, agent: str, given: Mode | None) -> Mode | None:
    """Return the mode of a session that this agent leads; raise `UsageError` if it cannot, or not in it."""
    if not agent:
        return given
    profiles.leader(agent)
    if (agent == PLAN) is (given is Mode.PLAN):
        return given
    if given is None:
        return Mode.PLAN
    raise UsageError(f"--agent {agent} and --permission {given} exclude each other")


@dataclass(frozen=True, slots=True)
class Instructions:
    """What the user's file and the project's files say."""

    text: str
    are_all_trusted: bool
    notices: tuple[str, ...]


def read_instructions(setup: SetupBasis, home: Path) -> Instructions:
    """Read instructions once: the prompt stays the same for the whole session. Blocks."""
    trust, names = Trust.load(setup.directories), tuple(instruction_names(setup.directory))
    is_trusted = trust.may_read_instructions(setup.directory)
    read = names if is_trusted else trust.own_instructions(setup.directory)
    users = users_file(setup.directories.config, home)
    text, notices = upfront(users, setup.directory, read, redact=setup.redact.known)
    waiting = tuple(name for name in names if name not in read)
    if waiting:
        found = f"found {', '.join(waiting)}, not read: this folder is not trusted; 'coder-tui trust' asks"
        notices = (*notices, found)
    return Instructions(text, is_trusted, notices)


def build_system_prompt(setup: Setup, skills: Callable[[], str], plan: Callable[[], str]) -> SystemPrompt:
    today = datetime.now().astimezone().date()
    return SystemPrompt(Environment.here(setup.directory, today), setup.instructions, skills, plan)


def nearby_instructions(setup: Setup, conversation: Conversation) -> Nearby:
    """Return the instructions of folders below, for one conversation."""
    if not setup.reads_project:
        return nothing_nearby

    def is_known(heading: str) -> bool:
        # The model no longer sees what a summary covers: it gets those instructions again.
        results = (message for message in conversation.recent if isinstance(message, ToolMessage))
        return any(heading in message.content for message in results)

    return NearbyInstructions(setup.directory, setup.redact.known, is_known).of
