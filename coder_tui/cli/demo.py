"""`coder-tui demo`: the same screen with the built-in demo model on a scratch project."""

from coder_tui.cli.arguments import demo_parser
from coder_tui.cli.invocation import read_invocation
from coder_tui.cli.screen import show


def main(argv: list[str]) -> int:
    arguments = demo_parser().parse_args(argv)
    return show(read_invocation(arguments), arguments, is_demo=True)
