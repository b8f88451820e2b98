"""Entry point: `coder-tui` and `python -m coder_tui`."""

import gc
import sys


def main() -> None:
    # Imports make no garbage, and looking for it took a tenth of the time to the first paint.
    gc.disable()
    from coder_tui.cli.main import run_command

    sys.exit(run_command(sys.argv[1:]))


if __name__ == "__main__":
    main()
