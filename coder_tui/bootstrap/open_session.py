"""Open a session for a front end: choose the model, open the store, resume or fork.

A session belongs to its folder: its files and its undo data are of that one. Its model can be switched while
it is open.
"""

import os
import shutil
import tempfile
import time
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import urlsplit

from coder_tui.agent.exit_summary import resume_command
from coder_tui.agent.session import Session
from coder_tui.agent.turn.model_request import ModelChoice
from coder_tui.agent.undo.undo import fork_notice
from coder_tui.bootstrap.invocation import Invocation
from coder_tui.bootstrap.language_servers import missing_servers
from coder_tui.bootstrap.prepare import load_setup
from coder_tui.bootstrap.session_factory import SessionFactory
from coder_tui.bootstrap.setup import Setup
from coder_tui.config.paths import display_path
from coder_tui.config.settings import Settings
from coder_tui.llm.catalog import available_models, default_model
from coder_tui.llm.client import ModelClient, RetryPolicy
from coder_tui.llm.demo import CONTEXT_WINDOW, DEMO_MODEL, DemoClient
from coder_tui.llm.host_client import HostClient
from coder_tui.llm.keys import KeyringError, ModelKeys, key_problem, variable_of
from coder_tui.llm.providers import PROVIDERS, Provider, needs_key, provider_of
from coder_tui.protocol.errors import ConfigError, ModelError, StorageError, UsageError, UserError
from coder_tui.protocol.outcomes import NoticeLevel
from coder_tui.resources import sample_project
from coder_tui.shell.environment import find_program
from coder_tui.skills.authoring import skill_warnings
from coder_tui.storage.store import SessionInfo, Store
from coder_tui.text.redact import process_redactor


def check_folder(info: SessionInfo, setup: Setup) -> None:
    """Refuse a session of another folder; the error says how to resume it there."""
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
        f"{resume_command(info.id, folder, is_for_one_prompt=setup.is_for_one_prompt)}"
    )


async def open_fork(core: SessionFactory, session_id: str) -> Session:
    """Open a copy of a stored session, which itself stays as it is."""
    info = await core.store.sessions.get(session_id)
    fork = await core.store.forks.create(info.id)
    session = await core.resume(fork.id)
    session.notice(NoticeLevel.INFO, fork_notice(info.id, fork))
    return session


async def resume_or_fork(core: SessionFactory, session_id: str) -> Session:
    """Resume a stored session, or a fork of it if it is open elsewhere."""
    info = await core.store.sessions.get(session_id)
    if await core.store.sessions.claim(info.id):
        return await core.resume(info.id)
    return await _open_temporary_fork(core, info)


async def _open_temporary_fork(core: SessionFactory, info: SessionInfo) -> Session:
    """Open a fork that is deleted with the program, unless something was sent in it."""
    session = await core.resume((await core.store.forks.create(info.id)).id)
    session.forks.keep_once_used()

    async def forget() -> None:
        if session.forks.is_unused:
            await core.store.sessions.delete(session.id)

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
    """The demo's folder: a copy of the sample project and a store, both deleted afterwards."""

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
        # Instructions for another folder do not apply here.
        setup = replace(setup, instructions="", reads_project=False)
        return replace(setup, directory=self.project, directories=directories, is_scratch=True)

    def remove(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)


def prepare(invocation: Invocation) -> Setup:
    """Check settings, create folders, start the log. Slow, blocks."""
    return load_setup(
        invocation.directory,
        invocation.directories,
        invocation.sources,
        os.environ,
        invocation.mode,
        invocation.added_roots,
        invocation.agent,
    )


def start_warnings(setup: Setup) -> tuple[str, ...]:
    """Return warnings to show before the first turn, a sentence each."""
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
    """Read the model keys, which no text of this process may show from then on."""

    def learn(key: str) -> None:
        setup.redact.learn(key)
        process_redactor().learn(key)

    return ModelKeys(os.environ, learn=learn)


async def choose_model(settings: Settings, keys: ModelKeys) -> ModelChoice | None:
    """Return the configured model, else the first that can be used, else None."""
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
    """Raise at once what would otherwise fail only after several attempts."""
    if api_base:
        address = urlsplit(api_base)
        if address.scheme not in ("http", "https") or not address.hostname:
            raise ConfigError(f"model.api_base: {api_base} is no address; write http://HOST:PORT/v1")
    if "/" not in name and name != DEMO_MODEL and provider_of(name) is None:
        raise ConfigError(
            f"model {name} names no provider; write PROVIDER/NAME ('coder-tui models' lists some)"
        )


async def open_core(setup: Setup, choice: ModelChoice, client: ModelClient) -> SessionFactory:
    store = await Store.open(setup.directories.database, setup.redact)
    await store.trash.empty(time.time() - setup.settings.undo.keep_days * _DAY)
    settings = setup.settings.model
    retry = RetryPolicy(max_attempts=settings.max_retries + 1)
    return SessionFactory(setup, store, client, choice, retry)


async def open_session(core: SessionFactory, invocation: Invocation, *, forks: bool = False) -> Session:
    """Open the session that the flags ask for: a stored one, this folder's newest, or a new one.

    A session that is open elsewhere is refused, or forked if `forks` is set.
    """
    if not invocation.resume and not invocation.is_continued:
        return await core.new_session()
    session_id = await _session_id(core, invocation)
    if invocation.is_fork:
        return await open_fork(core, session_id)
    if forks:
        return await resume_or_fork(core, session_id)
    if not await core.store.sessions.claim(session_id):
        raise StorageError(f"session {session_id} {OPEN_ELSEWHERE}")
    return await core.resume(session_id)


async def _session_id(core: SessionFactory, invocation: Invocation) -> str:
    if invocation.resume:
        info = await core.store.sessions.get(invocation.resume)
        check_folder(info, core.setup)
        return info.id
    latest = await core.store.sessions.latest(str(core.setup.directory))
    if latest is None:
        raise UserError(f"no session in {core.setup.directory} to continue")
    return latest.id


async def describe_model(core: SessionFactory, session: Session) -> None:
    """Get the model ready and find its context window, after the first paint; warn if that fails."""
    if not isinstance(core.client, HostClient):
        session.set_context_window(CONTEXT_WINDOW)
        return
    try:
        await core.client.warm()
        info = await core.client.model_info(core.choice.name, core.choice.api_base)
    except ModelError as error:
        session.notice(NoticeLevel.WARNING, str(error))
    else:
        session.set_context_window(info.context_window)


def build_client(setup: Setup, choice: ModelChoice, keys: ModelKeys) -> ModelClient:
    if choice.name == DEMO_MODEL:
        return DemoClient()
    settings = setup.settings.model
    environment = keys.environment
    if settings.proxy:
        # Both spellings: the lower one wins if the user's shell has it.
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


ONLY_DEMO = "The demo has one model only. Set a key and start again; 'coder-tui models' lists the variables."


async def ready_model(
    client: ModelClient, keys: ModelKeys, choice: ModelChoice, *, may_restart: bool
) -> int | None:
    """Get a model ready and return its context window; raise `UserError` if something is missing.

    A key that the model's process lacks restarts it, which ends running replies.
    """
    if not isinstance(client, HostClient):
        raise UserError(ONLY_DEMO)
    name = choice.name
    check_model(name, choice.api_base)
    await keys.complete_for(name)
    if (provider := needs_key(name, choice.api_base, keys.environment)) is not None:
        raise UserError(f"{name} needs a key: set {' or '.join(provider.key_variables)}")
    if client.lacks(keys.environment) and not may_restart:
        raise UserError(f"{name} has a key of its own; choose it again when the agent has finished.")
    await client.add_keys(keys.environment)
    return (await client.model_info(name, choice.api_base)).context_window


class SessionModels:
    """For a session whose model's process may serve others: it is never restarted for one of them."""

    def __init__(self, core: SessionFactory, session: Session, keys: ModelKeys) -> None:
        self._core = core
        self._session = session
        self._keys = keys

    async def offered(self) -> tuple[str, ...]:
        """List the model in use and the known ones that have a key, without asking servers."""
        known = await available_models(self._keys.environment, probe=False)
        names = (entry.id for entry in known if entry.available)
        return tuple(dict.fromkeys((self._core.choice.name, *names)))

    async def use(self, name: str) -> None:
        choice = self._core.choice.switched_to(name)
        window = await ready_model(self._core.client, self._keys, choice, may_restart=False)
        self._session.set_model(choice, window)


ONLY_NOW = "The key for {} applies to this run only: {}. To keep it, set {} in your shell."
KEPT = "The key for {0} is in the system keyring; 'coder-tui config key {1} --delete' removes it."


async def store_typed_key(keys: ModelKeys, provider: Provider, key: str) -> str:
    """Store a key in the keyring, else for this run; return which. Raise `UserError` if it is not a key."""
    if reason := key_problem(key):
        raise UserError(reason[:1].upper() + reason[1:])
    try:
        await keys.store(provider, key)
    except KeyringError as error:
        return ONLY_NOW.format(provider.label, error, variable_of(provider))
    return KEPT.format(provider.label, provider.prefix)
