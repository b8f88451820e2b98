"""`coder-tui trust`: shows what a project's own files would turn on, and asks the user to trust it or not."""

import argparse
import os
from dataclasses import asdict, replace
from pathlib import Path

from coder_tui.bootstrap.invocation import existing_folder
from coder_tui.cli.arguments import Parser, add_path, make_parser
from coder_tui.cli.output import is_confirmed, print_error, print_json, print_line
from coder_tui.config.inventory import ProjectInventory, ProjectItem
from coder_tui.config.paths import display_path, find_directories
from coder_tui.config.project import CONFIG_NAMES, ProjectFileError, drop_never_used, read_project_file
from coder_tui.config.settings import load_settings
from coder_tui.config.settings_file import parse_settings
from coder_tui.config.sources import Sources
from coder_tui.config.trust import Trust
from coder_tui.protocol.errors import ConfigError
from coder_tui.text.safe_text import safe_line

REFUSED = 1
CANNOT_ASK = "cannot ask without a terminal; add --yes to trust the folder, or --list to only look"
NOTHING = "nothing to trust: the project has no settings, servers or extensions of its own."


def trust_parser() -> Parser:
    parser = make_parser(
        "trust", "Show what a project's own files would turn on, and ask whether you trust it."
    )
    add_path(parser, "the project's folder (default: the current one)")
    answer = parser.add_mutually_exclusive_group()
    answer.add_argument("--yes", action="store_true", help="trust it without asking")
    answer.add_argument("--revoke", action="store_true", help="forget your answer for this folder")
    answer.add_argument("--list", action="store_true", help="only show, do not ask")
    parser.switch("--json", "print the items as JSON")
    return parser


def main(argv: list[str]) -> int:
    arguments = trust_parser().parse_args(argv)
    folder = existing_folder(arguments.path)
    trust = Trust.load(find_directories(os.environ))
    if arguments.revoke:
        count = trust.revoke(folder)
        print_line(f"{display_path(folder)} is no longer trusted." if count else "It was not trusted.")
        return 0
    inventory = trust.inventory(folder)
    if arguments.json:
        print_json(_as_json(inventory, trust), indent=2)
    else:
        _list(inventory, trust)
    if arguments.list or inventory.is_trusted:
        return 0
    return _decide(trust, inventory, arguments)


def _decide(trust: Trust, inventory: ProjectInventory, arguments: argparse.Namespace) -> int:
    if not (arguments.yes or is_confirmed("Trust this project and turn on all of that?", CANNOT_ASK)):
        trust.refuse(inventory)
        print_error("Not trusted. The project's settings are not used.")
        return REFUSED
    trust.accept(inventory)
    print_error(f"Trusted, until these files change: {', '.join(file.name for file in inventory.files)}.")
    return 0


def _list(inventory: ProjectInventory, trust: Trust) -> None:
    if trust.problem:
        print_error(f"coder-tui: {trust.problem}")
    print_line(f"{display_path(existing_folder(inventory.workspace))}: {_state(inventory, trust)}")
    known = tuple(item for item in inventory.items if not item.needs_trust)
    _print_items("Trusting it turns on:" if not inventory.is_trusted else "Turned on:", inventory.questions)
    _print_items("Not affected by trust:", known)
    if mistakes := _mistakes(Path(inventory.workspace)):
        print_line("\nMistakes in its settings, which would stop coder-tui once you trust it:")
        for line in mistakes.splitlines():
            print_line(f"  {line}")


def _mistakes(workspace: Path) -> str:
    """Return mistakes in the settings. A file that cannot be parsed is listed among the items instead."""
    try:
        found = [file for name in CONFIG_NAMES if (file := read_project_file(workspace, name))]
        for file in found:
            settings = parse_settings(workspace / file.name, file.data)
            kept, _ = drop_never_used(settings.values)
            load_settings(Sources(file=replace(settings, values=kept)))
    except ProjectFileError:
        return ""
    except ConfigError as error:
        return str(error)
    return ""


def _print_items(heading: str, items: tuple[ProjectItem, ...]) -> None:
    if not items:
        return
    print_line(f"\n{heading}")
    width = max(len(item.kind) for item in items)
    for item in items:
        # One line each: a line break in a name must not look like another item.
        print_line(safe_line(f"  {item.kind:<{width}}  {item.place}  {item.sentence}"))


def _state(inventory: ProjectInventory, trust: Trust) -> str:
    if not inventory.files:
        return NOTHING
    if inventory.is_trusted:
        return "trusted."
    if trust.is_refused(inventory):
        return "not trusted (you refused these files)."
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
