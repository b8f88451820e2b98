"""`coder-tui config`: shows where files are and where each setting comes from, and checks the settings.

`coder-tui config key` saves an API key in the system keyring and nowhere else.
"""

import asyncio
import getpass
import json
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass

from pydantic import BaseModel

from coder_tui.cli.arguments import config_parser, read_invocation
from coder_tui.cli.output import print_line, redactor
from coder_tui.config.paths import display_path
from coder_tui.config.project_settings import PERMISSION, project_layer
from coder_tui.config.settings import Settings, dotted, load_settings
from coder_tui.config.settings_file import KeyPath
from coder_tui.config.sources import Sources, origin_of
from coder_tui.llm.keys import Keyring, KeyringError, ModelKeys, key_problem, variable_of
from coder_tui.llm.providers import PROVIDERS, Provider
from coder_tui.protocol.errors import UsageError, UserError

_CREDENTIALS = re.compile(r"(?<=//)[^/@\s]+(?=@)")
_HANDED_OVER = ("env", "headers")
_SECRET_NAME = re.compile(r"KEY|TOKEN|SECRET|PASS|AUTH|CREDENTIAL|COOKIE", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class SettingLine:
    """One setting. `value` is JSON, without credentials in addresses and in variables of servers."""

    key: str
    value: str
    origin: str


def describe(settings: Settings, sources: Sources) -> list[SettingLine]:
    lines = [
        SettingLine(
            dotted(path), '"…"' if _is_credential(path, value) else _shown(value), origin_of(sources, path)
        )
        for path, value in _leaves(settings, ())
    ]
    rules = project_layer(sources.project).rules if sources.project else ()
    return lines + [
        SettingLine(dotted((PERMISSION, rule.key, rule.pattern)), _shown(rule.effect), rule.source)
        for rule in rules
    ]


def _leaves(value: object, path: KeyPath) -> Iterator[tuple[KeyPath, object]]:
    match value:
        case BaseModel():
            for name in type(value).model_fields:
                yield from _leaves(getattr(value, name), (*path, name))
        case dict():
            for key, item in value.items():
                yield from _leaves(item, (*path, key))
        case _:
            yield path, value


def _is_credential(path: KeyPath, value: object) -> bool:
    """Recognize a credential by its name, because a password looks like any word.

    `${NAME}` is only a reference.
    """
    is_handed_over = len(path) > 1 and path[-2] in _HANDED_OVER and _SECRET_NAME.search(str(path[-1]))
    return bool(is_handed_over) and "${" not in str(value)


def _shown(value: object) -> str:
    return _CREDENTIALS.sub("…", json.dumps(value, ensure_ascii=False, default=_as_written))


def _as_written(value: object) -> object:
    """Return a table in a list, such as a hook, without values that are not set."""
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json", exclude_unset=True)
    raise TypeError(f"{type(value).__name__} is not a setting")


def key_command(name: str, *, is_deletion: bool, keyring: Keyring | None = None) -> int:
    keyring = keyring or Keyring()
    if not name:
        if is_deletion:
            raise UsageError("no provider given; use 'coder-tui config key PROVIDER --delete'")
        asyncio.run(_list_keys(ModelKeys(keyring=keyring)))
        return 0
    provider = provider_named(name)
    if is_deletion:
        _delete(provider, keyring)
    else:
        _save(provider, keyring)
    return 0


def provider_named(name: str) -> Provider:
    for provider in PROVIDERS:
        if name.lower() in (provider.prefix, provider.label.lower()):
            return provider
    known = ", ".join(provider.prefix for provider in PROVIDERS)
    raise UsageError(f"unknown provider {name}; choose one of {known}")


async def _list_keys(keys: ModelKeys) -> None:
    await keys.complete()
    for provider in PROVIDERS:
        state = keys.source(provider) or f"none; set {variable_of(provider)}"
        print_line(f"{provider.prefix:<12} {state}")
    if keys.problem:
        print_line(f"note: {keys.problem}")


def _save(provider: Provider, keyring: Keyring) -> None:
    key = _read(provider)
    if reason := key_problem(key):
        raise UserError(f"{reason}; the key was not saved")
    redactor().learn(key)
    try:
        keyring.store(variable_of(provider), key)
    except KeyringError as error:
        raise UserError(f"{error}; set {variable_of(provider)} in your shell instead") from error
    print_line(f"Saved the {provider.label} key in the system keyring.")
    print_line(f"If {variable_of(provider)} is set in your shell, it takes precedence.")


def _delete(provider: Provider, keyring: Keyring) -> None:
    was_there = keyring.delete(variable_of(provider))
    state = "was deleted from" if was_there else "is not in"
    print_line(f"The {provider.label} key {state} the system keyring.")


def _read(provider: Provider) -> str:
    """Read the key, never from an argument: those show up in process lists and in the shell's history."""
    if sys.stdin.isatty():
        return getpass.getpass(f"{provider.label} API key (not shown while you type): ").strip()
    return sys.stdin.readline().strip()


def main(argv: list[str]) -> int:
    arguments = config_parser().parse_args(argv)
    if arguments.action == "key":
        return key_command(arguments.provider, is_deletion=arguments.delete)
    if arguments.provider or arguments.delete:
        raise UsageError("a provider and --delete only work with 'coder-tui config key'")
    invocation = read_invocation(arguments)
    directories, sources = invocation.directories, invocation.sources
    if arguments.action == "path":
        file = sources.file.path if sources.file else directories.config / "config.toml"
        state = "" if sources.file else "  (does not exist yet)"
        print_line(f"file    {display_path(file)}{state}")
        print_line(f"config  {display_path(directories.config)}")
        print_line(f"data    {display_path(directories.data)}")
        print_line(f"cache   {display_path(directories.cache)}")
        print_line(f"log     {display_path(directories.log)}")
        return 0
    settings = load_settings(sources)
    for warning in sources.warnings:
        print_line(f"note: {warning}")
    if arguments.action == "check":
        print_line("The settings are valid.")
        return 0
    for line in describe(settings, sources):
        print_line(f"{line.key} = {line.value}  # {line.origin}")
    return 0
