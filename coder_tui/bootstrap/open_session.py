"""Opens the core for a front end: which model, which store, which session.

A session belongs to its folder: what its model knows of files, and what undo keeps, is of that one.

Opens forks: because a person asked for one, or because another program works in the session.
"""

import os
import shutil
import tempfile
import time
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import urlsplit

from coder_tui.agent.exit_summary import way_back
from coder_tui.agent.session import Session
from coder_tui.agent.turn.model_request import ModelChoice
from coder_tui.agent.undo.undo import told
from coder_tui.bootstrap.hooks import with_hooks
from coder_tui.bootstrap.invocation import Invocation
from coder_tui.bootstrap.language_servers import missing_servers
from coder_tui.bootstrap.prepare import with_instructions, with_profiles
from coder_tui.bootstrap.session_factory import Core
from coder_tui.bootstrap.setup import Setup, load_setup
from coder_tui.config.paths import display_path
from coder_tui.config.settings import Settings
from coder_tui.llm.catalog import default_model
from coder_tui.llm.client import ModelClient, RetryPolicy
from coder_tui.llm.demo import CONTEXT_WINDOW, DEMO_MODEL, DemoClient
from coder_tui.llm.host_client import HostClient
from coder_tui.llm.keys import ModelKeys
from coder_tui.llm.providers import PROVIDERS, provider_of
from coder_tui.protocol.errors import ConfigError, StorageError, UsageError, UserError
from coder_tui.protocol.outcomes import NoticeLevel
from coder_tui.resources import sample_project
from coder_tui.skills.authoring import skill_warnings
from coder_tui.storage.store import SessionInfo, Store
from coder_tui.text.redact import process_redactor
from coder_tui.workspace.programs import find_program


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


async def open_fork(core: Core, session_id: str) -> Session:
    """A copy of a stored session; the session itself stays as it is."""
    info = await core.store.get(session_id)
    fork = await core.store.fork(info.id)
    session = await core.resume(fork.id)
    session.notice(NoticeLevel.INFO, told(info.id, fork))
    return session


async def resume_or_fork(core: Core, session_id: str) -> Session:
    """Go on with a stored session, or with a fork where that is open elsewhere."""
    info = await core.store.get(session_id)
    if await core.store.claim(info.id):
        return await core.resume(info.id)
    return await _stand_in(core, info)


async def _stand_in(core: Core, info: SessionInfo) -> Session:
    """It goes away with the program, unless something was sent in it."""
    session = await core.resume((await core.store.fork(info.id)).id)
    session.forks.keep_once_used()

    async def forget() -> None:
        if session.forks.is_unused:
            await core.store.delete(session.id)

    session.on_close(forget)
    session.notice(
        NoticeLevel.WARNING,
        f"“{info.title or 'untitled'}” is open in another coder-tui, which goes on with it. "
        "This is a fork: it is kept once you send something.",
    )
    return session


NO_MODEL = (
    "no model: set a key such as ANTHROPIC_API_KEY or OPENAI_API_KEY ('coder-tui config key' keeps one), "
    "start a local server, or name one with --model ('coder-tui models' lists them, the demo needs none)"
)
OPEN_ELSEWHERE = "is open in another coder-tui; close it there first, or add --fork to go on with a copy"
_DAY = 86_400.0
WITHOUT_GIT = "git is not installed, so the git tools do not work: apt install git, brew install git"


@dataclass(frozen=True, slots=True)
class Scratch:
    """The demo's own world: a copy of the sample project and a store that goes away with it."""

    folder: Path

    @classmethod
    def create(cls) -> "Scratch":
        folder = Path(tempfile.mkdtemp(prefix="coder-tui-demo-")).resolve()
        shutil.copytree(
            sample_project(), folder / "corner-shop", ignore=shutil.ignore_patterns("__pycache__")
        )
        return cls(folder)

    @property
    def project(self) -> Path:
        return self.folder / "corner-shop"

    def setup(self, setup: Setup) -> Setup:
        data = self.folder / "data"
        directories = replace(setup.directories, data=data, cache=data / "cache")
        directories.ensure()
        # What people wrote for another folder does not hold here.
        setup = replace(setup, instructions="", reads_project=False)
        return replace(setup, directory=self.project, directories=directories, is_scratch=True)

    def remove(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)


def prepare(invocation: Invocation) -> Setup:
    """The slow, blocking half: check settings, make folders, start the log."""
    setup = load_setup(
        invocation.directory,
        invocation.directories,
        invocation.sources,
        os.environ,
        invocation.mode,
        invocation.added_roots,
    )
    setup = with_hooks(with_profiles(setup, os.environ, invocation.agent))
    return with_instructions(setup, os.environ)


def start_warnings(setup: Setup) -> tuple[str, ...]:
    """What a person should know before the first turn, each in a sentence."""
    warnings = (
        *setup.sources.warnings,
        *setup.notices,
        *skill_warnings(setup.skills),
        *missing_servers(setup),
    )
    if find_program("git", os.environ, (setup.directory, *setup.added_roots)):
        return warnings
    return (*warnings, WITHOUT_GIT)


def model_keys(setup: Setup) -> ModelKeys:
    """Keys that no text of this process may show."""

    def learn(key: str) -> None:
        setup.redact.learn(key)
        process_redactor().learn(key)

    return ModelKeys(os.environ, learn=learn)


async def choose_model(settings: Settings, keys: ModelKeys) -> ModelChoice | None:
    """The configured model, else the first that can be used, else None."""
    section = settings.model
    if section.name:
        await keys.complete_for(section.name)
    elif not any(map(keys.has_key, PROVIDERS)):
        await keys.complete()
    name = section.name or await default_model(keys.environment) or ""
    if not name:
        return None
    check_model(name, section.api_base)
    return ModelChoice(name, section.api_base, section.effort, section.max_tokens)


def check_model(name: str, api_base: str) -> None:
    """Say at once what would otherwise fail only after several attempts."""
    if api_base:
        address = urlsplit(api_base)
        if address.scheme not in ("http", "https") or not address.hostname:
            raise ConfigError(f"model.api_base: {api_base} is no address; write http://HOST:PORT/v1")
    if "/" not in name and name != DEMO_MODEL and provider_of(name) is None:
        raise ConfigError(
            f"model {name} names no provider; write PROVIDER/NAME ('coder-tui models' lists some)"
        )


async def open_core(setup: Setup, choice: ModelChoice, keys: ModelKeys) -> Core:
    store = await Store.open(setup.directories.database, setup.redact)
    await store.empty_trash(time.time() - setup.settings.undo.keep_days * _DAY)
    settings = setup.settings.model
    retry = RetryPolicy(max_attempts=settings.max_retries + 1)
    return Core(setup, store, _client(setup, choice, keys), choice, retry)


async def open_session(core: Core, invocation: Invocation, *, forks: bool = False) -> Session:
    """The session that the flags ask for: a stored one, this folder's newest, or a new one.

    One that is open elsewhere is refused, unless a fork of it will do (`forks`).
    """
    if not invocation.resume and not invocation.is_continued:
        return await core.new_session()
    session_id = await _wanted(core, invocation)
    if invocation.is_fork:
        return await open_fork(core, session_id)
    if forks:
        return await resume_or_fork(core, session_id)
    if not await core.store.claim(session_id):
        raise StorageError(f"session {session_id} {OPEN_ELSEWHERE}")
    return await core.resume(session_id)


async def _wanted(core: Core, invocation: Invocation) -> str:
    if invocation.resume:
        info = await core.store.get(invocation.resume)
        check_place(info, core.setup)
        return info.id
    latest = await core.store.latest(str(core.setup.directory))
    if latest is None:
        raise UserError(f"no session in {core.setup.directory} to continue")
    return latest.id


async def describe_model(core: Core, session: Session) -> None:
    """Get the model ready and learn its window, behind the first paint."""
    if isinstance(core.client, HostClient):
        await core.client.warm()
        info = await core.client.model_info(core.choice.name, core.choice.api_base)
        session.set_context_window(info.context_window)
    else:
        session.set_context_window(CONTEXT_WINDOW)


def _client(setup: Setup, choice: ModelChoice, keys: ModelKeys) -> ModelClient:
    if choice.name == DEMO_MODEL:
        return DemoClient()
    settings = setup.settings.model
    environment = keys.environment
    if settings.proxy:
        # Both spellings: the lower one wins where a person's shell has it.
        names = ("HTTPS_PROXY", "HTTP_PROXY", "https_proxy", "http_proxy")
        environment |= dict.fromkeys(names, settings.proxy)
    if settings.ca_bundle:
        environment |= {"SSL_CERT_FILE": str(Path(settings.ca_bundle).expanduser())}
    return HostClient(
        idle_timeout=settings.idle_timeout_sec,
        log_file=setup.directories.log / "model-host.log",
        environment=environment,
        context_window=settings.context_window,
    )
