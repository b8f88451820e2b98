"""Background jobs on the screen: counted, listed, read, stopped."""

from coder_tui.shell.jobs import JobState
from coder_tui.ui.lists.background import JobsScreen, how_long
from coder_tui.ui.transcript.pager import PagerScreen
from tests.fakes.screens import Stage, stage

SERVER = JobState("job_1", "npm run dev", True, None, 75.0)
BUILD = JobState("job_2", "make [@click=app.quit]all[/]", False, 2, 3.0)
STOPPED = JobState("job_1", "npm run dev", False, 143, 76.0)


async def opened(s: Stage) -> JobsScreen:
    await s.pilot.press(*"/jobs", "enter")
    await s.until(lambda: isinstance(s.app.screen, JobsScreen))
    await s.pilot.pause()
    assert isinstance(s.app.screen, JobsScreen)
    return s.app.screen


async def test_the_status_counts_running_jobs_and_the_end_of_one_is_reported() -> None:
    async with stage() as s:
        assert "jobs" not in s.drawn().splitlines()[-1]
        s.session.jobs.show(SERVER, BUILD)
        await s.until(lambda: "jobs 1" in s.drawn().splitlines()[-1])
        s.session.jobs.show(STOPPED, BUILD)
        await s.shows("job_1 ended with exit code 143.")
        assert "jobs" not in s.drawn().splitlines()[-1]


async def test_the_list_shows_states_newest_first_and_ignores_control_characters() -> None:
    async with stage() as s:
        s.session.jobs.show(SERVER, BUILD)
        await opened(s)
        rows = [line for line in s.drawn().splitlines() if "job_" in line]
        assert "make [@click=app.quit]all[/]" in rows[0] and "✗ exit 2" in rows[0]
        assert "npm run dev" in rows[1] and "1:15" in rows[1] and "▶ running" in rows[1]
        assert len(rows) == 2


async def test_enter_reads_the_output_and_the_list_stays_open_behind() -> None:
    async with stage() as s:
        s.session.jobs.show(SERVER)
        s.session.jobs.outputs["job_1"] = "listening on 8080\n"
        picker = await opened(s)
        await s.pilot.press("enter")
        await s.until(lambda: isinstance(s.app.screen, PagerScreen) and "listening on 8080" in s.drawn())
        await s.pilot.press("escape")
        await s.until(lambda: s.app.screen is picker)


async def test_only_the_second_press_stops_it() -> None:
    async with stage() as s:
        s.session.jobs.show(SERVER)
        await opened(s)
        await s.pilot.press("x")
        await s.shows("Press x again to stop job_1.")
        assert s.session.jobs.stopped == []
        await s.pilot.press("x")
        await s.until(lambda: s.session.jobs.stopped == ["job_1"])
        s.session.jobs.show(STOPPED)
        await s.shows("✗ exit 143")
        await s.pilot.press("x")
        await s.shows("This job has already ended.")
        assert s.session.jobs.stopped == ["job_1"]


async def test_an_empty_list_says_so() -> None:
    async with stage() as s:
        await opened(s)
        await s.shows("There are no background jobs.")
        await s.pilot.press("enter", "x", "escape")
        await s.until(lambda: s.app.screen is s.screen)


def test_times_read_as_on_a_clock() -> None:
    assert [how_long(seconds) for seconds in (0.4, 75, 3_725)] == ["0:00", "1:15", "1:02:05"]
