"""The parser of the command line: every command, flag and help text."""

import argparse
import difflib
import re
from collections.abc import Sequence
from typing import Any, NoReturn

from coder_tui import __version__
from coder_tui.cli.output import complain

MODES = ("ask", "edits", "auto", "plan")
FORMATS = ("text", "json", "stream-json")
FASTEST = 1000.0
SHELLS = ("bash", "zsh", "fish")
USAGE_EXIT = 2
_CHOICE = re.compile(r"invalid choice: '([^']*)' \(choose from (.*)\)")


class Parser(argparse.ArgumentParser):
    """Says what is wrong in one sentence, with the nearest thing that would be right."""

    def __init__(self, **options: Any) -> None:
        # A flag that is cut short would mean another one: --mode plan is no model.
        super().__init__(**options, allow_abbrev=False)

    def error(self, message: str) -> NoReturn:
        complain(f"{self.prog}: {message}{self._nearest(message)}; see '{self.prog} --help'")
        raise SystemExit(USAGE_EXIT)

    def flags(self) -> "list[argparse.Action]":
        return [action for action in self._actions if action.option_strings]

    def words(self) -> "list[argparse.Action]":
        """What is told by its place, but for actions that have parsers of their own."""
        branch = argparse._SubParsersAction
        return [each for each in self._actions if not each.option_strings and not isinstance(each, branch)]

    def sub_parsers(self) -> "dict[str, tuple[Parser, str]]":
        """What an action of this command takes, and what it does; by its name."""
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
        # Without the dashes, which all flags have in common.
        found = difflib.get_close_matches(tail.split()[0].partition("=")[0].lstrip("-"), flags, n=1)
        return f" (did you mean {flags[found[0]]}?)" if found else ""


def session_parser() -> Parser:
    """`coder-tui [PATH]`: the full-screen session."""
    parser = Parser(
        prog="coder-tui",
        description="A coding agent for the terminal: everything shown, nothing done unasked.",
        epilog=_commands_help(),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "path", nargs="?", default=".", metavar="PATH", help="the folder to work in (default: here)"
    )
    parser.add_argument("--version", action="version", version=f"coder-tui {__version__}")
    _add_model(parser)
    add_common(parser)
    _add_resume(parser)
    _add_mode(parser)
    _add_agent(parser)
    _add_screen(parser)
    return parser


def demo_parser() -> Parser:
    parser = Parser(
        prog="coder-tui demo",
        description="The full screen with the built-in demo model on a scratch project.",
    )
    _add_screen(parser)
    return parser


def run_parser() -> Parser:
    parser = Parser(prog="coder-tui run", description="Run one prompt without a screen.")
    parser.add_argument("-p", "--prompt", metavar="TEXT", help="the prompt (default: standard input)")
    parser.add_argument("--format", choices=FORMATS, default="text", help="what is printed (default: text)")
    parser.add_argument("--max-turns", type=_positive, metavar="N", help="stop after N model calls")
    parser.add_argument("--max-cost", type=float, metavar="DOLLARS", help="stop when this much was spent")
    parser.add_argument("--directory", "-C", default=".", metavar="PATH", help="the folder to work in")
    _add_model(parser)
    add_common(parser)
    _add_resume(parser)
    _add_mode(parser)
    _add_agent(parser)
    return parser


def acp_parser() -> Parser:
    parser = Parser(
        prog="coder-tui acp",
        description="Serve an editor over the Agent Client Protocol, on standard input and output.",
    )
    _add_model(parser)
    add_common(parser)
    _add_mode(parser)
    _add_agent(parser)
    return parser


def serve_parser() -> Parser:
    parser = Parser(
        prog="coder-tui serve",
        description="Serve the screen to a browser on this machine; each tab is a session of its own.",
    )
    parser.add_argument(
        "path", nargs="?", default=".", metavar="PATH", help="the folder to work in (default: here)"
    )
    parser.add_argument("--host", default="127.0.0.1", metavar="ADDRESS", help="where to listen (127.0.0.1)")
    parser.add_argument("--port", type=int, default=0, metavar="N", help="which port (default: a free one)")
    parser.add_argument(
        "--token-file",
        metavar="FILE",
        help="where the token of the address stands; - reads it (default: new)",
    )
    parser.add_argument("--demo", action="store_true", help="serve the built-in demo")
    parser.add_argument("--theme", metavar="NAME", help="a theme of yours or of the program's")
    _add_model(parser)
    add_common(parser)
    _add_mode(parser)
    _add_agent(parser)
    return parser


def tool_parser() -> Parser:
    parser = Parser(prog="coder-tui tool", description="Look at the tools, or run one.")
    commands = parser.add_subparsers(dest="action", required=True, metavar="list|call")
    listing = commands.add_parser("list", help="the tool set that an agent and model would get")
    listing.add_argument("--json", action="store_true", help="OpenAI function definitions as JSON")
    listing.add_argument("--sub", action="store_true", help="the set of a sub-agent")
    listing.add_argument("--model", default="", help="the model whose set is shown")
    listing.add_argument(
        "--agent", dest="shown_agent", default="", metavar="NAME", help="the agent whose set is shown"
    )
    add_common(listing)
    call = commands.add_parser("call", help="run one tool through the whole runner")
    call.add_argument("name", nargs="?", metavar="NAME", help="the tool")
    call.add_argument("arguments", nargs="?", metavar="JSON", help="its arguments")
    call.add_argument(
        "--stdin", action="store_true", help='read lines of {"tool", "args"}, answer a line each'
    )
    add_common(call)
    _add_mode(call)
    return parser


def policy_parser() -> Parser:
    parser = Parser(prog="coder-tui policy", description="Ask what policy says of a call; nothing is run.")
    commands = parser.add_subparsers(dest="action", required=True, metavar="check")
    check = commands.add_parser("check", help="the verdict on one call")
    check.add_argument("name", nargs="?", metavar="TOOL")
    check.add_argument("arguments", nargs="?", metavar="JSON")
    check.add_argument("--json", action="store_true", help="print the verdict as JSON")
    check.add_argument(
        "--stdin", action="store_true", help='read lines of {"tool", "args"}, answer a line each'
    )
    add_common(check)
    _add_mode(check)
    return parser


def models_parser() -> Parser:
    parser = Parser(
        prog="coder-tui models", description="What could be used, and what is missing for the rest."
    )
    parser.add_argument("--json", action="store_true", help="print JSON")
    return parser


def config_parser() -> Parser:
    parser = Parser(
        prog="coder-tui config",
        description="Where settings come from. 'key' keeps a model key in the system keyring: it is read "
        "without being shown, or from standard input; without a provider it tells what is there.",
    )
    parser.add_argument("action", nargs="?", choices=("path", "show", "check", "key"), default="show")
    parser.add_argument("provider", nargs="?", default="", metavar="PROVIDER", help="whose key, for 'key'")
    parser.add_argument("--delete", action="store_true", help="delete that key from the keyring")
    add_common(parser)
    return parser


def doctor_parser() -> Parser:
    parser = Parser(
        prog="coder-tui doctor", description="What is installed, reachable, missing, and how to mend it."
    )
    parser.add_argument("--report", action="store_true", help="pack this and the logs for a bug report")
    parser.add_argument("--output", "-o", default="", metavar="FILE", help="the report's file, a new one")
    add_common(parser)
    return parser


def trust_parser() -> Parser:
    parser = Parser(
        prog="coder-tui trust",
        description="Show what a project's own files would switch on, and ask whether they may.",
    )
    parser.add_argument(
        "path", nargs="?", default=".", metavar="PATH", help="the project's folder (default: here)"
    )
    answer = parser.add_mutually_exclusive_group()
    answer.add_argument("--yes", action="store_true", help="trust it without a question")
    answer.add_argument("--revoke", action="store_true", help="forget what was said of it")
    answer.add_argument("--list", action="store_true", help="only look")
    parser.add_argument("--json", action="store_true", help="print the items as JSON")
    return parser


def replay_parser() -> Parser:
    parser = Parser(
        prog="coder-tui replay",
        description="Show a stored session again on the screen, without a model: nothing runs and nothing "
        "is written.",
    )
    parser.add_argument("id", metavar="ID", help="its id or a unique beginning of it")
    parser.add_argument("--speed", type=_speed, default=1.0, metavar="N", help="N times as fast (default: 1)")
    parser.add_argument("--theme", metavar="NAME", help="a theme of yours or of the program's")
    parser.add_argument("--no-mouse", action="store_true", help="leave the mouse to the terminal")
    parser.add_argument("--ascii", action="store_true", help="draw with plain characters only")
    return parser


def completion_parser() -> Parser:
    parser = Parser(
        prog="coder-tui completion",
        description="Print the script that lets a shell complete this program's command line. "
        "bash: source <(coder-tui completion bash); zsh: source <(coder-tui completion zsh), after compinit; "
        "fish: coder-tui completion fish | source.",
    )
    parser.add_argument("shell", nargs="?", choices=SHELLS, help="the shell to print it for")
    parser.add_argument("--sessions", action="store_true", help=argparse.SUPPRESS)
    return parser


def _add_model(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--model", metavar="NAME", help="as litellm names it: anthropic/…, openai/…, ollama/…; or demo"
    )
    parser.add_argument("--api-base", metavar="URL", help="the address of an OpenAI-compatible server")


def add_common(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--config", metavar="FILE", help="use this settings file in place of your own")
    parser.add_argument(
        "--add-dir",
        action="append",
        default=[],
        metavar="DIR",
        help="a further folder that belongs to the workspace",
    )


def _add_resume(parser: argparse.ArgumentParser) -> None:
    group = parser.add_mutually_exclusive_group()
    group.add_argument(
        "--continue", dest="continue_", action="store_true", help="go on with this folder's newest session"
    )
    group.add_argument("--resume", metavar="ID", help="go on with a stored session")
    parser.add_argument("--fork", action="store_true", help="with either: go on with a copy of it")


def _add_mode(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--permission", choices=MODES, help="how much runs without a question (default: ask)")


def _add_agent(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--agent", metavar="NAME", help="who works: build (the default), plan, or an agent of yours"
    )


def _add_screen(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--theme", metavar="NAME", help="a theme of yours or of the program's")
    parser.add_argument("--no-mouse", action="store_true", help="leave the mouse to the terminal")
    parser.add_argument("--ascii", action="store_true", help="draw with plain characters only")
    parser.add_argument(
        "--plain", action="store_true", help="no screen: text that only grows, for screen readers and pipes"
    )
    parser.add_argument(
        "--print-transcript", action="store_true", help="print the whole session when the screen is left"
    )


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text} is not a positive number")
    return int(text)


def _speed(text: str) -> float:
    try:
        value = float(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{text} is no number") from error
    if not 0 < value <= FASTEST:
        raise argparse.ArgumentTypeError(f"{text} is not above 0 and at most {FASTEST:g}")
    return value


def _commands_help() -> str:
    lines = [f"  {name:<10} {help_text}" for name, help_text in COMMANDS.items()]
    return "\n".join(["commands:", *lines, "", "'coder-tui COMMAND --help' tells more of each."])


COMMANDS = {
    "demo": "the screen with the built-in demo model, no key needed",
    "run": "one prompt without a screen",
    "acp": "serve an editor over the Agent Client Protocol",
    "serve": "the screen in a browser",
    "tool": "list the tools, or call one",
    "policy": "what policy says of a call",
    "sessions": "list, search, show, export or delete stored sessions",
    "replay": "show a stored session again, without a model",
    "models": "what models could be used",
    "skill": "list skills, begin one, check one",
    "lsp": "which language servers there are, and getting more",
    "mcp": "list, add, remove, test and log in to MCP servers",
    "trust": "what a project would switch on, and whether it may",
    "completion": "let the shell complete this command line",
    "config": "where each setting comes from",
    "doctor": "what is installed, missing, and how to mend it",
}


def nearest_command(word: str) -> str:
    near = difflib.get_close_matches(word, COMMANDS, n=1)
    return near[0] if near else ""


def split_command(argv: Sequence[str]) -> tuple[str, list[str]]:
    """The command and the rest; no command means the session itself."""
    if list(argv) == ["help"]:
        return "", ["--help"]
    if argv and argv[0] in COMMANDS:
        return argv[0], list(argv[1:])
    return "", list(argv)
