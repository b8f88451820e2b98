"""A command in the background, in a real terminal: counted, read and stopped by the user."""

from pathlib import Path

from tests.fakes.openai_server import OpenAIServer
from tests.fakes.program import PROGRAM, Program
from tests.fakes.script import Call, Reply
from tests.fakes.tmux import Tmux, needs_tmux

pytestmark = needs_tmux


def test_a_background_job_is_seen_read_and_stopped(tmp_path: Path) -> None:
    program = Program.in_folder(tmp_path)
    serve = Call("bash", {"command": "echo listening; sleep 600", "background": True})
    with OpenAIServer([Reply(calls=(serve,)), Reply(text="It runs.")]) as server:
        command = f"{PROGRAM} --model openai/x --api-base {server.url}"
        with Tmux(command, program.project, program.environment, 80, 24) as tmux:
            tmux.shows("ASK  x")
            tmux.type("serve it")
            tmux.keys("Enter")
            tmux.shows(r"Run this command\?[\s\S]*ready")
            tmux.keys("C-y")
            tmux.shows(r"It runs\.[\s\S]*jobs 1")
            tmux.type("/jobs")
            tmux.keys("Enter")
            tmux.shows(r"job_1  echo listening; sleep 600 .*running")
            tmux.keys("Enter")
            tmux.shows(r"\n *listening *\n")
            tmux.keys("Escape")
            tmux.shows("Background jobs")
            tmux.keys("x")
            tmux.shows("Press x again to stop job_1")
            tmux.keys("x")
            tmux.shows(r"✗ exit")
            tmux.keys("Escape")
            screen = tmux.shows(r"\A(?![\s\S]*Background jobs)[\s\S]*Ask, or describe")
            assert "jobs 1" not in screen
            tmux.keys("C-d")
            tmux.shows("exit code 0")
