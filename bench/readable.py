"""Check that everything on every screen can be read, in every theme: contrast, room, distinct colors.

uv run python -m bench.readable
"""

import asyncio

from tests.fakes.rendered import look
from tests.fakes.views import VIEWS


def main() -> int:
    wrong = 0
    for name in VIEWS:
        found = asyncio.run(look(name, share=1)).faults
        wrong += len(found)
        print(f"{name:<24} {found or 'all can be read'}", flush=True)
    print(f"{len(VIEWS)} screens, {wrong} faults")
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
