"""The command line: defines every command, flag and help text, and reads them into an invocation.

Cheap, because it runs before the first paint.
"""

import argparse
import difflib
import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

from coder_tui import __version__
from coder_tui.bootstrap.invocation import Invocation, SessionOptions, existing_folder, find_invocation
from coder_tui.cli.output import print_error
from coder_tui.protocol.access import Mode
from coder_tui.protocol.errors import UsageError

MODES = ("ask", "edits", "auto", "plan")
FORMATS = ("text", "json", "stream-json")
USAGE_EXIT = 2
_WORK_IN = "the folder to work in (default: the current one)"
_CHOICE = re.compile(r"invalid choice: '([^']*)' \(choose from (.*)\)")


class Parser(argparse.ArgumentParser):
    """Reports a mistake in one sentence and suggests the closest valid word."""

    def __init__(self, **options: Any) -> None:
        # Without abbreviations: --mode would be read as --model.
        super().__init__(**options, allow_abbrev=False)

    def error(self, message: str) -> NoReturn:
        print_error(f"{self.prog}: {message}{self._nearest(message)}; see '{self.prog} --help'")
        raise SystemExit(USAGE_EXIT)

    def switch(self, name: str, text: str) -> None:
        """Add a flag that takes no value."""
        self.add_argument(name, action="store_true", help=text)

    def repeated(self, name: str, metavar: str, text: str) -> None:
        self.add_argument(name, action="append", default=[], metavar=metavar, help=f"{text}; may be repeated")

    def flags(self) -> "list[argparse.Action]":
        return [action for action in self._actions if action.option_strings]

    def positionals(self) -> "list[argparse.Action]":
        """Return the positional arguments, without actions that have their own parsers."""
        branch = argparse._SubParsersAction
        return [each for each in self._actions if not each.option_strings and not isinstance(each, branch)]

    def sub_parsers(self) -> "dict[str, tuple[Parser, str]]":
        """Return the parser and the help text of each action of this command, by name."""
        branches = [action for action in self._actions if isinstance(action, argparse._SubParsersAction)]
        helps = {row.dest: row.help or "" for action in branches for row in action._get_subactions()}
        found = (item for action in branches for item in action.choices.items())
        return {name: (parser, helps.get(name, "")) for name, parser in found}

    def _nearest(self, message: str) -> str:
        if (choice := _CHOICE.search(message)) is not None:
            near = difflib.get_close_matches(choice[1], choice[2].replace("'", "").split(", "), n=1)
            return f" (did you mean {near[0]}?)" if near else ""
        _, _, tail = message.partition("unrecognized arguments: ")
        if not tail:
            return ""
        flags = {flag.lstrip("-"): flag for action in self._actions for flag in action.option_strings}
        # Without the dashes, which would make all flags look alike.
        found = difflib.get_close_matches(tail.split()[0].partition("=")[0].lstrip("-"), flags, n=1)
        return f" (did you mean {flags[found[0]]}?)" if found else ""


def make_parser(command: str, description: str) -> Parser:
    return Parser(prog=f"coder-tui {command}", description=description)


def session_parser() -> Parser:
    """`coder-tui [PATH]`: the full-screen session."""
    parser = Parser(
        prog="coder-tui",
        description="A coding agent for the terminal. You see everything it does and decide what it may do.",
        epilog=_commands_help(),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_path(parser, _WORK_IN)
    parser.add_argument("--version", action="version", version=f"coder-tui {__version__}")
    _add_session(parser, can_resume=True)
    _add_screen(parser)
    return parser


def demo_parser() -> Parser:
    parser = make_parser(
        "demo", "Try the full screen with the built-in demo model and a scratch project. Needs no key."
    )
    _add_screen(parser)
    return parser


def run_parser() -> Parser:
    parser = make_parser("run", "Run one prompt without a screen and exit.")
    parser.add_argument("-p", "--prompt", metavar="TEXT", help="the prompt (default: standard input)")
    parser.add_argument("--format", choices=FORMATS, default="text", help="the output format (default: text)")
    parser.add_argument("--max-turns", type=_positive, metavar="N", help="stop after N model calls")
    parser.add_argument("--max-cost", type=float, metavar="DOLLARS", help="stop after spending this much")
    parser.add_argument("--directory", "-C", default=".", metavar="PATH", help=_WORK_IN)
    _add_session(parser, can_resume=True)
    return parser


def acp_parser() -> Parser:
    parser = make_parser(
        "acp", "Serve an editor over the Agent Client Protocol, on standard input and output."
    )
    _add_session(parser)
    return parser


def serve_parser() -> Parser:
    parser = make_parser(
        "serve", "Serve the screen to a browser on this machine. Each tab is a separate session."
    )
    add_path(parser, _WORK_IN)
    parser.add_argument(
        "--host", default="127.0.0.1", metavar="ADDRESS", help="the address to listen on (default: 127.0.0.1)"
    )
    parser.add_argument(
        "--port", type=int, default=0, metavar="N", help="the port to listen on (default: a free one)"
    )
    parser.add_argument(
        "--token-file",
        metavar="FILE",
        help="a file with the access token, or - for standard input (default: a new token)",
    )
    parser.switch("--demo", "serve the built-in demo")
    _add_theme(parser)
    _add_session(parser)
    return parser


def tool_parser() -> Parser:
    parser = make_parser("tool", "List the tools, or run one.")
    commands = parser.add_subparsers(dest="action", required=True, metavar="list|call")
    listing = commands.add_parser("list", help="list the tools that an agent and a model would get")
    listing.switch("--json", "print OpenAI function definitions as JSON")
    listing.switch("--sub", "list the tools of a sub-agent")
    listing.add_argument("--model", default="", help="the model whose tools are listed")
    listing.add_argument(
        "--agent", dest="shown_agent", default="", metavar="NAME", help="the agent whose tools are listed"
    )
    add_common(listing)
    call = commands.add_parser("call", help="run one tool, with permissions and checks as in a session")
    _add_call(call, "NAME")
    return parser


def policy_parser() -> Parser:
    parser = make_parser("policy", "Check whether a call would be allowed. Nothing is run.")
    commands = parser.add_subparsers(dest="action", required=True, metavar="check")
    check = commands.add_parser(
        "check", help="show whether a call is allowed, needs approval or is refused, and why"
    )
    check.switch("--json", "print the decision as JSON")
    _add_call(check, "TOOL")
    return parser


def config_parser() -> Parser:
    parser = make_parser(
        "config",
        "Show the settings and where each comes from. 'path' shows the folders, 'check' checks "
        "the settings, 'key' lists API keys. 'key PROVIDER' saves a key in the system keyring; it is typed "
        "without being shown, or read from standard input.",
    )
    parser.add_argument(
        "action", nargs="?", choices=("path", "show", "check", "key"), default="show", help="default: show"
    )
    parser.add_argument(
        "provider", nargs="?", default="", metavar="PROVIDER", help="the provider of the key, for 'key'"
    )
    parser.switch("--delete", "with 'key': delete the key from the keyring")
    add_common(parser)
    return parser


def doctor_parser() -> Parser:
    parser = make_parser("doctor", "Check what is installed, what is missing, and how to fix it.")
    parser.switch("--report", "pack the results and the logs into a file for a bug report")
    parser.add_argument(
        "--output", "-o", default="", metavar="FILE", help="the file to write the report to; must not exist"
    )
    add_common(parser)
    return parser


def add_path(parser: Parser, text: str) -> None:
    parser.add_argument("path", nargs="?", default=".", metavar="PATH", help=text)


def _add_call(parser: Parser, metavar: str) -> None:
    parser.add_argument("name", nargs="?", metavar=metavar, help="the name of the tool")
    parser.add_argument("arguments", nargs="?", metavar="JSON", help="its arguments as a JSON object")
    parser.switch("--stdin", 'read one {"tool", "args"} object per line and print one result per line')
    add_common(parser)
    _add_mode(parser)


def _add_session(parser: Parser, *, can_resume: bool = False) -> None:
    parser.add_argument(
        "--model",
        metavar="NAME",
        help="a model as litellm names it, such as anthropic/…, openai/… or ollama/…; or demo",
    )
    parser.add_argument("--api-base", metavar="URL", help="the address of an OpenAI-compatible server")
    add_common(parser)
    if can_resume:
        _add_resume(parser)
    _add_mode(parser)
    parser.add_argument(
        "--agent", metavar="NAME", help="the agent to use: build (default), plan, or one of your own"
    )


def add_common(parser: Parser) -> None:
    parser.add_argument("--config", metavar="FILE", help="use this settings file instead of your own")
    parser.repeated("--add-dir", "DIR", "add another folder to the workspace")


def _add_resume(parser: Parser) -> None:
    group = parser.add_mutually_exclusive_group()
    group.add_argument(
        "--continue", dest="continue_", action="store_true", help="continue the newest session of this folder"
    )
    group.add_argument("--resume", metavar="ID", help="continue the stored session with this id")
    parser.switch("--fork", "with --continue or --resume: continue in a copy of the session")


def _add_mode(parser: Parser) -> None:
    parser.add_argument("--permission", choices=MODES, help="what may run without asking (default: ask)")


def _add_theme(parser: Parser) -> None:
    parser.add_argument("--theme", metavar="NAME", help="the color theme, built in or your own")


def add_look(parser: Parser) -> None:
    _add_theme(parser)
    parser.switch("--no-mouse", "do not use the mouse, so that the terminal can select text")
    parser.switch("--ascii", "draw with ASCII characters only")


def _add_screen(parser: Parser) -> None:
    add_look(parser)
    parser.switch("--plain", "print plain text instead of drawing a screen; for screen readers and pipes")
    parser.switch("--print-transcript", "print the whole session after the screen closes")


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text} is not a positive number")
    return int(text)


def _commands_help() -> str:
    lines = [f"  {name:<10} {help_text}" for name, help_text in COMMANDS.items()]
    return "\n".join(["commands:", *lines, "", "Run 'coder-tui COMMAND --help' for details."])


COMMANDS = {
    "demo": "try the screen with the built-in demo model; needs no key",
    "run": "run one prompt without a screen",
    "acp": "serve an editor over the Agent Client Protocol",
    "serve": "serve the screen to a browser",
    "tool": "list the tools, or call one",
    "policy": "check whether a call would be allowed",
    "sessions": "list, search, show, export or delete stored sessions",
    "replay": "play back a stored session without a model",
    "models": "list the models you can use",
    "skill": "list, create and validate skills",
    "lsp": "show and install language servers",
    "mcp": "list, add, remove, test and log in to MCP servers",
    "trust": "show what a project's own files would turn on, and trust it",
    "completion": "print a script that completes commands in your shell",
    "config": "show settings and where they come from; save API keys",
    "doctor": "check what is installed, what is missing, and how to fix it",
}


def nearest_command(word: str) -> str:
    near = difflib.get_close_matches(word, COMMANDS, n=1)
    return near[0] if near else ""


def split_command(argv: Sequence[str]) -> tuple[str, list[str]]:
    """Split off the command. No command means the session itself."""
    if list(argv) == ["help"]:
        return "", ["--help"]
    if argv and argv[0] in COMMANDS:
        return argv[0], list(argv[1:])
    return "", list(argv)


def read_invocation(arguments: argparse.Namespace, path: str = ".") -> Invocation:
    """Read the flags that this command has."""
    given: dict[str, Any] = vars(arguments)
    options = SessionOptions(
        settings={
            ("model", "name"): given.get("model"),
            ("model", "api_base"): given.get("api_base"),
            ("limits", "max_steps"): given.get("max_turns"),
            ("limits", "max_cost"): given.get("max_cost"),
            ("ui", "theme"): given.get("theme"),
        },
        config=given.get("config") or "",
        mode=Mode(given["permission"]) if given.get("permission") else None,
        added=tuple(given.get("add_dir") or ()),
        resume=given.get("resume"),
        is_continued=bool(given.get("continue_")),
        agent=given.get("agent") or "",
        is_fork=bool(given.get("fork")),
    )
    return find_invocation(_session_folder(path) if "path" in given else existing_folder(path), options)


def _session_folder(text: str) -> Path:
    """Return the folder. If there is none, the word may be a mistyped command."""
    if re.fullmatch(r"[A-Za-z][\w-]*", text) and not os.path.lexists(text):
        near = nearest_command(text)
        hint = f"did you mean '{near}'?" if near else "see 'coder-tui --help'"
        raise UsageError(f"there is no folder or command named {text}; {hint}")
    return existing_folder(text)
