"""What can be said behind `coder-tui sessions`."""

import argparse

from coder_tui.cli.arguments import Parser

ACTIONS = "list|search|show|export|rename|delete|restore|decisions"


def sessions_parser() -> Parser:
    parser = Parser(prog="coder-tui sessions", description="Stored sessions.")
    commands = parser.add_subparsers(dest="action", required=True, metavar=ACTIONS)
    listing = commands.add_parser("list", help="newest first")
    listing.add_argument("--all", action="store_true", help="of all folders, not only this one")
    listing.add_argument("--deleted", action="store_true", help="those that can be brought back")
    _add_json(listing)
    search = commands.add_parser("search", help="those in which all words were said")
    search.add_argument("words", nargs="+", metavar="WORDS", help="words, or how they begin")
    search.add_argument("--here", action="store_true", help="only of this folder")
    _add_json(search)
    _add_id(commands.add_parser("show", help="print one"))
    export = _add_id(commands.add_parser("export", help="write one to a file or standard output"))
    export.add_argument("--format", choices=("md", "jsonl", "svg"), default="md")
    export.add_argument("--output", "-o", metavar="FILE", help="a file that does not exist yet")
    export.add_argument("--force", action="store_true", help="replace a file that exists")
    rename = _add_id(commands.add_parser("rename", help="give one another title"))
    rename.add_argument("title", nargs="+", metavar="TITLE")
    delete = _add_id(commands.add_parser("delete", help="delete one; it can be brought back for a while"))
    delete.add_argument("--for-good", action="store_true", help="at once, and for ever")
    _add_id(commands.add_parser("restore", help="bring a deleted one back"))
    _add_json(
        _add_id(commands.add_parser("decisions", help="what was allowed, asked or denied, and by which rule"))
    )
    return parser


def _add_id(parser: argparse.ArgumentParser) -> argparse.ArgumentParser:
    parser.add_argument("id", metavar="ID", help="its id or a unique beginning of it")
    return parser


def _add_json(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print JSON")
