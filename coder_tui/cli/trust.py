"""`coder-tui trust`: what a project would switch on, and the person's yes or no to it."""

import argparse
import os
import sys
from dataclasses import asdict, replace
from pathlib import Path

from coder_tui.bootstrap.invocation import existing_folder
from coder_tui.cli.arguments import trust_parser
from coder_tui.cli.output import complain, say, say_json
from coder_tui.config.inventory import ProjectInventory, ProjectItem
from coder_tui.config.paths import display_path, find_directories
from coder_tui.config.project import CONFIG_NAMES, ProjectFileError, read_project_file, split_never
from coder_tui.config.settings import load_settings
from coder_tui.config.settings_file import parse_settings
from coder_tui.config.sources import Sources
from coder_tui.config.trust import Trust
from coder_tui.protocol.errors import ConfigError, UsageError
from coder_tui.text.safe_text import safe_line

REFUSED = 1
NOTHING = "There is nothing here to trust: no settings, servers or extensions of the project's own."


def main(argv: list[str]) -> int:
    arguments = trust_parser().parse_args(argv)
    folder = existing_folder(arguments.path)
    trust = Trust.load(find_directories(os.environ))
    if arguments.revoke:
        count = trust.revoke(folder)
        say(f"{display_path(folder)} is not trusted any more." if count else "It was not trusted.")
        return 0
    inventory = trust.inventory(folder)
    if arguments.json:
        say_json(_as_json(inventory, trust), indent=2)
    else:
        _list(inventory, trust)
    if arguments.list or inventory.is_trusted:
        return 0
    return _decide(trust, inventory, arguments)


def _decide(trust: Trust, inventory: ProjectInventory, arguments: argparse.Namespace) -> int:
    if not (arguments.yes or _is_agreed()):
        trust.refuse(inventory)
        complain("Not trusted; nothing of it is used.")
        return REFUSED
    trust.accept(inventory)
    complain(f"Trusted, in exactly this content ({', '.join(file.name for file in inventory.files)}).")
    return 0


def _is_agreed() -> bool:
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise UsageError("to trust a folder needs a terminal to ask on, or --yes; --list only looks")
    sys.stderr.write("\nTrust this project, and switch all of that on? [y/N] ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def _list(inventory: ProjectInventory, trust: Trust) -> None:
    if trust.problem:
        complain(f"coder-tui: {trust.problem}")
    say(f"{display_path(existing_folder(inventory.workspace))}: {_state(inventory, trust)}")
    known = tuple(item for item in inventory.items if not item.needs_trust)
    _say_items("Trust switches on:" if not inventory.is_trusted else "Switched on:", inventory.questions)
    _say_items("Worth knowing (trust does not change these):", known)
    if mistakes := _mistakes(Path(inventory.workspace)):
        say("\nMistakes in it, which stop the program once it is trusted:")
        for line in mistakes.splitlines():
            say(f"  {line}")


def _mistakes(workspace: Path) -> str:
    """What would be complained of; a file that cannot even be parsed is among the items."""
    try:
        found = [file for name in CONFIG_NAMES if (file := read_project_file(workspace, name))]
        for file in found:
            settings = parse_settings(workspace / file.name, file.data)
            kept, _ = split_never(settings.values)
            load_settings(Sources(file=replace(settings, values=kept)))
    except ProjectFileError:
        return ""
    except ConfigError as error:
        return str(error)
    return ""


def _say_items(heading: str, items: tuple[ProjectItem, ...]) -> None:
    if not items:
        return
    say(f"\n{heading}")
    width = max(len(item.kind) for item in items)
    for item in items:
        # One line each: a line break in a name must not pass for another item.
        say(safe_line(f"  {item.kind:<{width}}  {item.place}  {item.sentence}"))


def _state(inventory: ProjectInventory, trust: Trust) -> str:
    if not inventory.files:
        return NOTHING
    if inventory.is_trusted:
        return "trusted."
    if trust.is_refused(inventory):
        return "not trusted (you said no to this content)."
    changed = [file.name for file in inventory.files if _was_trusted(trust, inventory, file.name)]
    return f"not trusted; changed since you trusted it: {', '.join(changed)}." if changed else "not trusted."


def _was_trusted(trust: Trust, inventory: ProjectInventory, name: str) -> bool:
    is_trusted = any(file.is_trusted for file in inventory.files if file.name == name)
    return not is_trusted and any(
        answer.is_trusted
        for answer in trust.answers
        if (answer.workspace, answer.file) == (inventory.workspace, name)
    )


def _as_json(inventory: ProjectInventory, trust: Trust) -> dict[str, object]:
    return {
        "workspace": inventory.workspace,
        "trusted": inventory.is_trusted,
        "refused": trust.is_refused(inventory),
        "files": [asdict(file) for file in inventory.files],
        "items": [asdict(item) for item in inventory.items],
    }
