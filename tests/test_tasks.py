"""Work that finishes although its caller is cancelled, and tasks that nobody awaits."""

import asyncio

import pytest

from coder_tui.tasks import BackgroundTasks, finish_despite_cancel


class Work:
    """Goes on until it may end; fails with `error` if there is one."""

    def __init__(self, error: Exception | None = None) -> None:
        self.may_end = asyncio.Event()
        self.is_done = False
        self._error = error

    async def run(self) -> str:
        await self.may_end.wait()
        self.is_done = True
        if self._error is not None:
            raise self._error
        return "done"


async def cancelled_twice(work: Work) -> asyncio.CancelledError:
    """Cancel a caller two times while the work goes on; return what it raises after the work has ended."""
    caller = asyncio.ensure_future(finish_despite_cancel(work.run()))
    for _ in range(2):
        await asyncio.sleep(0)
        caller.cancel()
    await asyncio.sleep(0)
    assert not caller.done()
    work.may_end.set()
    with pytest.raises(asyncio.CancelledError) as caught:
        await caller
    return caught.value


async def test_the_result_is_handed_on() -> None:
    work = Work()
    work.may_end.set()
    assert await finish_despite_cancel(work.run()) == "done"


async def test_an_error_is_handed_on() -> None:
    work = Work(ValueError("no"))
    work.may_end.set()
    with pytest.raises(ValueError, match="no"):
        await finish_despite_cancel(work.run())


async def test_work_finishes_however_often_its_caller_is_cancelled() -> None:
    work = Work()
    interruption = await cancelled_twice(work)
    assert (work.is_done, interruption.__cause__) == (True, None)


async def test_an_error_during_a_cancellation_is_its_cause() -> None:
    error = ValueError("no")
    assert (await cancelled_twice(Work(error))).__cause__ is error


async def test_a_cancellation_that_meets_the_end_is_not_lost() -> None:
    work = Work()
    caller = asyncio.ensure_future(finish_despite_cancel(work.run()))
    await asyncio.sleep(0)
    work.may_end.set()
    # The next turn of the loop runs the work to its end, before its caller is woken.
    await asyncio.sleep(0)
    assert work.is_done
    caller.cancel()
    with pytest.raises(asyncio.CancelledError):
        await caller


async def test_closing_waits_for_the_end_of_all_tasks() -> None:
    tasks = BackgroundTasks()
    ended: list[str] = []

    async def linger(name: str) -> None:
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0)
            ended.append(name)

    for name in ("one", "two"):
        tasks.start(linger(name))
    await asyncio.sleep(0)
    await tasks.close()
    await asyncio.sleep(0)
    assert (sorted(ended), len(tasks)) == (["one", "two"], 0)


async def test_waiting_cancels_nothing() -> None:
    tasks, work = BackgroundTasks(), Work()
    task = tasks.start(work.run())
    await tasks.wait(0.0)
    assert not task.done()
    work.may_end.set()
    await tasks.wait()
    assert task.result() == "done"
