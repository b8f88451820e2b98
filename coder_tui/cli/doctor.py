"""`coder-tui doctor`: checks what is installed and what is missing, and names the command that fixes it.

`coder-tui doctor --report` packs what a bug report needs into one file, without secrets.
"""

import asyncio
import io
import os
import platform
import shutil
import sys
import time
import zipfile
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from coder_tui import __version__
from coder_tui.bootstrap.invocation import Invocation
from coder_tui.bootstrap.language_servers import missing_servers
from coder_tui.bootstrap.open_session import prepare
from coder_tui.bootstrap.setup import Setup
from coder_tui.cli.arguments import doctor_parser, read_invocation
from coder_tui.cli.config import describe
from coder_tui.cli.output import print_line, redacted
from coder_tui.config.own_files import LOG_NAME, write_private
from coder_tui.config.paths import display_path, find_directories
from coder_tui.config.settings import load_settings
from coder_tui.llm.catalog import available_models
from coder_tui.llm.keys import ModelKeys
from coder_tui.protocol.errors import ConfigError, StorageError, UsageError, UserError
from coder_tui.shell.environment import find_program
from coder_tui.shell.sandbox.sandbox import SandboxKind, SandboxStatus
from coder_tui.storage.store import Store
from coder_tui.workspace.search.search import search_program

FINDINGS = "doctor.txt"
SETTINGS = "settings.txt"
_MOST_OF_A_LOG = 2_000_000
_DEFAULT = "default"


def write_report(findings: str, invocation: Invocation | None, output: str) -> int:
    """Pack the findings, the settings that differ from the defaults, and the ends of the logs."""
    path = Path(output or time.strftime("coder-tui-report-%Y%m%d-%H%M%S.zip"))
    if os.path.lexists(path):
        raise UsageError(f"{path} already exists; choose another name")
    texts = {FINDINGS: findings}
    if invocation is not None:
        texts[SETTINGS] = _describe_settings(invocation)
    texts |= _logs(find_directories(os.environ).log)
    try:
        write_private(path, _packed(texts))
    except OSError as error:
        raise StorageError(f"cannot write {path}: {error.strerror}") from error
    print_line(f"Wrote {path}: {', '.join(texts)}")
    print_line("Recognized secrets were removed. Read the report before you send it.")
    return 0


def _packed(texts: dict[str, str]) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in texts.items():
            archive.writestr(name, redacted(text).encode("utf-8", "replace"))
    return file.getvalue()


def _describe_settings(invocation: Invocation) -> str:
    try:
        lines = describe(load_settings(invocation.sources), invocation.sources)
    except UserError as error:
        return f"{error}\n"
    given = [f"{line.key} = {line.value}  # {line.origin}\n" for line in lines if line.origin != _DEFAULT]
    return "".join(given) or "nothing is set, all defaults apply\n"


def _logs(folder: Path) -> dict[str, str]:
    """Return the logs by name. Links are skipped: they may point to other files."""
    found = sorted(path for path in folder.glob("*.log*") if path.is_file() and not path.is_symlink())
    return {f"log/{path.name}": _end_of(path) for path in found}


def _end_of(path: Path) -> str:
    try:
        with path.open("rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - _MOST_OF_A_LOG))
            text = file.read().decode("utf-8", "replace")
    except OSError as error:
        return f"cannot be read: {error.strerror}\n"
    # Half a line could be half a secret, which would not be recognized as one.
    return text if size <= _MOST_OF_A_LOG else text.partition("\n")[2]


LIBRARIES = ("textual", "litellm", "mcp", "pydantic", "httpx")


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the report. `fix` says what to do if it is not well."""

    name: str
    value: str
    is_well: bool = True
    fix: str = ""


def main(argv: list[str]) -> int:
    arguments = doctor_parser().parse_args(argv)
    if arguments.output and not arguments.report:
        raise UsageError("--output only works with --report")
    findings, invocation = _basics(), None
    try:
        invocation = read_invocation(arguments)
        findings += asyncio.run(_state(invocation))
    except ConfigError as error:
        findings.append(Finding("settings", "cannot be read", is_well=False, fix=str(error)))
    if arguments.report:
        return write_report(_format(findings), invocation, arguments.output)
    print_line(_format(findings))
    return 0 if all(finding.is_well for finding in findings) else 1


async def examine(invocation: Invocation) -> str:
    """Return the same report inside the running program."""
    return _format([*await asyncio.to_thread(_basics), *await _state(invocation)])


def _format(findings: list[Finding]) -> str:
    lines = []
    for finding in findings:
        lines.append(f"{'✓' if finding.is_well else '✗'} {finding.name:<12} {finding.value}")
        if finding.fix:
            lines.append(f"  {'':<12} → {finding.fix}")
    return "\n".join(lines)


def _basics() -> list[Finding]:
    """Check what does not depend on settings: the program, its tools and the terminal."""
    libraries = ", ".join(f"{name} {version(name)}" for name in LIBRARIES)
    # As the tools find it: a program in the workspace does not count.
    git = find_program("git", os.environ, (Path.cwd(),))
    get_git = "" if git else "install git, for example with 'apt install git' or 'brew install git'"
    term, size = os.environ.get("TERM", ""), shutil.get_terminal_size()
    can_draw = term not in ("", "dumb")
    set_term = "" if can_draw else "set TERM, for example to xterm-256color, or use 'coder-tui run'"
    colors = os.environ.get("COLORTERM", "not specified")
    looks = f"{term or 'none'}, {size.columns}×{size.lines}, colors: {colors}"
    return [
        Finding("coder-tui", f"{__version__} on {platform.system()} {platform.machine()}"),
        Finding("python", f"{platform.python_version()} ({sys.executable})"),
        Finding("libraries", libraries),
        Finding("git", git or "not found", bool(git), get_git),
        Finding("ripgrep", " ".join(search_program())),
        Finding("terminal", looks, can_draw, set_term),
    ]


async def _state(invocation: Invocation) -> list[Finding]:
    directories = invocation.directories
    return [
        _settings(invocation),
        *await asyncio.to_thread(_surroundings, invocation),
        await _store(invocation),
        Finding("log", display_path(directories.log / LOG_NAME)),
        await _models(),
    ]


def _settings(invocation: Invocation) -> Finding:
    file = invocation.sources.file
    place = file.label if file else f"none in {display_path(invocation.directories.config)}, defaults apply"
    try:
        load_settings(invocation.sources)
    except UserError as error:
        return Finding("settings", place, is_well=False, fix=str(error))
    return Finding("settings", place, fix="; ".join(invocation.sources.warnings))


def _surroundings(invocation: Invocation) -> list[Finding]:
    try:
        setup = prepare(invocation)
    except UserError:
        return []  # another line reports the mistake
    return [_sandbox(setup.sandbox), _servers(setup)]


def _servers(setup: Setup) -> Finding:
    try:
        missing = missing_servers(setup)
    except UserError as error:
        return Finding("servers", "language servers", is_well=False, fix=str(error))
    count = "all common ones are installed" if not missing else f"{len(missing)} not installed"
    return Finding("servers", f"language servers: {count}", fix="; ".join(missing))


def _sandbox(status: SandboxStatus) -> Finding:
    is_well = status.kind is not SandboxKind.NONE or status.is_chosen
    detail = f" ({status.detail})" if status.kind is SandboxKind.LANDLOCK else ""
    return Finding("sandbox", f"{status.describe()}{detail}", is_well, status.fix)


async def _store(invocation: Invocation) -> Finding:
    path = invocation.directories.database
    try:
        invocation.directories.ensure()
        store = await Store.open(path)
        await store.close()
    except UserError as error:
        return Finding("store", display_path(path), is_well=False, fix=str(error))
    return Finding("store", display_path(path))


async def _models() -> Finding:
    keys = ModelKeys()
    await keys.complete()
    ready = [entry.id for entry in await available_models(keys.environment) if entry.available]
    if ready:
        return Finding("models", f"{len(ready)} ready, first: {ready[0]}")
    fix = "set a key such as ANTHROPIC_API_KEY, or start a local model server; 'coder-tui demo' needs neither"
    return Finding("models", "none ready", is_well=False, fix=fix)
