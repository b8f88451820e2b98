"""A stored session in the real program: played back in a terminal and exported as pictures."""

import json
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from coder_tui.resources import sample_project
from tests.fakes.program import COMMANDS_RUN, PROGRAM, Program
from tests.fakes.tmux import Tmux, needs_tmux


@dataclass(frozen=True)
class Recorded:
    program: Program
    session_id: str

    def files(self) -> dict[str, bytes]:
        """Of the project, but for what is drawn there."""
        paths = (path for path in self.program.project.rglob("*") if path.is_file())
        return {path.name: path.read_bytes() for path in paths if path.suffix != ".svg"}


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Recorded]:
    """The demo's work, done without a screen."""
    program = Program.in_folder(tmp_path_factory.mktemp("recorded"))
    for name in ("cart.py", "test_cart.py", "README.md"):
        (program.project / name).write_bytes((sample_project() / name).read_bytes())
    done = program.run("run", "--model", "demo", "--permission", "auto", "-p", "show me", **COMMANDS_RUN)
    assert done.returncode == 0, done.stderr
    (session,) = json.loads(program.run("sessions", "list", "--json").stdout)
    yield Recorded(program, session["id"])


@needs_tmux
def test_a_session_is_shown_again_without_doing_anything(recorded: Recorded) -> None:
    program, before = recorded.program, recorded.files()
    command = (
        f"env -u OPENAI_API_KEY -u ANTHROPIC_API_KEY {PROGRAM} replay {recorded.session_id[:10]} --speed 0.01"
    )
    with Tmux(command, program.project, program.environment, 80, 24) as tmux:
        tmux.shows("you  show me")
        tmux.keys("Space")
        tmux.shows(r"Paused \d+/20")
        tmux.keys("Right")
        tmux.shows("I am the built-in demo model")
        tmux.keys("Right")
        tmux.shows("todowrite")
        tmux.type("hello")
        tmux.keys("End")
        tmux.shows("The end 20/20")
        tmux.shows("That is all")
        assert "hello" not in tmux.screen()
        tmux.keys("Escape")
        tmux.shows("exit code 0")
    assert recorded.files() == before
    (session,) = json.loads(program.run("sessions", "list", "--json").stdout)
    assert session["message_count"] == 18


def test_an_unknown_session_and_a_wrong_speed_are_reported(recorded: Recorded) -> None:
    unknown = recorded.program.run("sessions", "export", "nope", "--format", "svg")
    wrong = recorded.program.run("replay", "x", "--speed", "0")

    assert (unknown.returncode, "no session 'nope'" in unknown.stderr) == (1, True)
    assert (wrong.returncode, "0 must be above 0" in wrong.stderr) == (2, True)


def test_pictures_are_written_unless_a_file_exists(recorded: Recorded) -> None:
    program, folder = recorded.program, recorded.program.project
    command = ("sessions", "export", recorded.session_id, "--format", "svg", "-o", "work.svg")
    (folder / "work.svg").write_text("mine")

    refused = program.run(*command)
    forced = program.run(*command, "--force")

    names = sorted(path.name for path in folder.glob("work-*.svg"))
    assert (refused.returncode, "work.svg already exists" in refused.stderr) == (2, True)
    assert (forced.returncode, len(names) > 1) == (0, True), forced.stderr
    assert forced.stdout.splitlines() == [f"Wrote {name}" for name in names]
    assert all((folder / name).read_text().startswith("<svg") for name in names)
    assert (folder / "work.svg").read_text() == "mine"
