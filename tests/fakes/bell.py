"""A named pipe by which a program reports that it has come so far."""

import asyncio
import os
from pathlib import Path

_PATIENCE = 60.0


async def wait_for_ring(pipe: Path) -> None:
    """Wait until something is written to the pipe. No thread is left waiting if nobody ever writes."""
    loop, rung = asyncio.get_running_loop(), asyncio.Event()
    # Open for both, it does not wait for a writer.
    bell = os.open(pipe, os.O_RDWR | os.O_NONBLOCK)
    loop.add_reader(bell, rung.set)
    try:
        async with asyncio.timeout(_PATIENCE):
            await rung.wait()
    finally:
        loop.remove_reader(bell)
        os.close(bell)
