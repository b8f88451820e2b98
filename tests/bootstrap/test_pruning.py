"""Old copies are given up behind a session's back, not at every start."""

import asyncio
import os
from pathlib import Path

from coder_tui.bootstrap.undo import Pruning, blobs_of
from tests.fakes.family import DONE, home


async def pruned(pruning: Pruning) -> None:
    pruning.start()
    task = pruning._task
    assert task is not None
    await task


async def test_it_is_done_once_in_a_while(tmp_path: Path) -> None:
    async with home(tmp_path, {"go": [DONE]}) as here:
        setup = here.core.setup
        blobs = blobs_of(setup)

        def leave(content: bytes) -> None:
            digest = blobs.put((content,))
            os.utime(setup.directories.data / "blobs" / digest[:2] / digest[2:], (0, 0))

        leave(b"nobody's")
        await pruned(Pruning(here.core.setup, here.core.store.copies, delay=0))
        first = blobs.sizes()
        leave(b"nobody's either")
        await pruned(Pruning(here.core.setup, here.core.store.copies, delay=0))

        assert (first, len(blobs.sizes())) == ({}, 1)


async def test_a_session_that_ends_does_not_wait_for_it(tmp_path: Path) -> None:
    async with home(tmp_path, {"go": [DONE]}) as here:
        pruning = Pruning(here.core.setup, here.core.store.copies, delay=3600)
        pruning.start()

        async with asyncio.timeout(10):
            await pruning.close()

        assert not (here.core.setup.directories.data / "pruned").exists()
