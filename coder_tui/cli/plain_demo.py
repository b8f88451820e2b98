"""`coder-tui demo --plain`: the built-in demo as text that only grows."""

from coder_tui.cli.arguments import demo_parser
from coder_tui.cli.invocation import read_invocation
from coder_tui.cli.plain import show


def main(argv: list[str]) -> int:
    return show(read_invocation(demo_parser().parse_args(argv)), is_demo=True)
