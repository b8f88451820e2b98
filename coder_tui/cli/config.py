"""`coder-tui config`: where the files are, where each setting comes from, whether all is right.

`coder-tui config key`: a model key goes into the system keyring, and nowhere else.
"""

import asyncio
import getpass
import sys

from coder_tui.cli.arguments import config_parser
from coder_tui.cli.invocation import read_invocation
from coder_tui.cli.output import redactor, say
from coder_tui.config.describe import describe
from coder_tui.config.paths import display_path
from coder_tui.config.settings import load_settings
from coder_tui.llm.keys import Keyring, KeyringError, ModelKeys, SystemKeyring, variable_of, wrong_key
from coder_tui.llm.providers import PROVIDERS, Provider
from coder_tui.protocol.errors import UsageError, UserError


def key_command(name: str, *, is_deletion: bool, keyring: Keyring | None = None) -> int:
    keyring = keyring or SystemKeyring()
    if not name:
        if is_deletion:
            raise UsageError("name the provider whose key is to be deleted")
        asyncio.run(_tell(ModelKeys(keyring=keyring)))
        return 0
    provider = provider_named(name)
    if is_deletion:
        _delete(provider, keyring)
    else:
        _keep(provider, keyring)
    return 0


def provider_named(name: str) -> Provider:
    for provider in PROVIDERS:
        if name.lower() in (provider.prefix, provider.label.lower()):
            return provider
    known = ", ".join(provider.prefix for provider in PROVIDERS)
    raise UsageError(f"there is no provider {name}; known are {known}")


async def _tell(keys: ModelKeys) -> None:
    await keys.complete()
    for provider in PROVIDERS:
        state = keys.source(provider) or f"none; set {variable_of(provider)}"
        say(f"{provider.prefix:<12} {state}")
    if keys.problem:
        say(f"note: {keys.problem}")


def _keep(provider: Provider, keyring: Keyring) -> None:
    key = _read(provider)
    if reason := wrong_key(key):
        raise UserError(f"{reason}; nothing was kept")
    redactor().learn(key)
    try:
        keyring.keep(variable_of(provider), key)
    except KeyringError as error:
        raise UserError(f"{error}; set {variable_of(provider)} in your shell instead") from error
    say(f"Kept in the system keyring for {provider.label}. {variable_of(provider)}, where it is set, wins.")


def _delete(provider: Provider, keyring: Keyring) -> None:
    was_there = keyring.delete(variable_of(provider))
    words = "was deleted from" if was_there else "is not in"
    say(f"The key for {provider.label} {words} the system keyring.")


def _read(provider: Provider) -> str:
    """Never as an argument: those are seen in the list of processes and kept in the shell's history."""
    if sys.stdin.isatty():
        return getpass.getpass(f"Key for {provider.label} (not shown): ").strip()
    return sys.stdin.readline().strip()


def main(argv: list[str]) -> int:
    arguments = config_parser().parse_args(argv)
    if arguments.action == "key":
        return key_command(arguments.provider, is_deletion=arguments.delete)
    if arguments.provider or arguments.delete:
        raise UsageError("a provider and --delete belong to 'coder-tui config key'")
    invocation = read_invocation(arguments)
    directories, sources = invocation.directories, invocation.sources
    if arguments.action == "path":
        file = sources.file.path if sources.file else directories.config / "config.toml"
        state = "" if sources.file else "  (not there yet)"
        say(f"file    {display_path(file)}{state}")
        say(f"config  {display_path(directories.config)}")
        say(f"data    {display_path(directories.data)}")
        say(f"cache   {display_path(directories.cache)}")
        say(f"log     {display_path(directories.log)}")
        return 0
    settings = load_settings(sources)
    for warning in sources.warnings:
        say(f"note: {warning}")
    if arguments.action == "check":
        say("The settings are right.")
        return 0
    for line in describe(settings, sources):
        say(f"{line.key} = {line.value}  # {line.origin}")
    return 0
