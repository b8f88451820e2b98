"""Entry point: `coder-tui` and `python -m coder_tui`."""

import sys

from coder_tui.cli.main import run_command


def main() -> None:
    sys.exit(run_command(sys.argv[1:]))


if __name__ == "__main__":
    main()
