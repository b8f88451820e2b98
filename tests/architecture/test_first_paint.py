"""What the real program has done by its first paint: counted, since times depend on the machine."""

import os
import pty
import subprocess
import sys
import termios
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
ALLOWED = Path(__file__).with_name("first_paint.txt")
PACKAGES = {"coder_tui", "platformdirs", "rich", "textual", "tree_sitter", "typing_extensions"}
"""Installed packages that may be loaded by then: Textual and what it needs, and one of ours."""
UNNEEDED = {"hashlib", "json", "multiprocessing", "sqlite3", "xml"}
"""Parts of the standard library that cost, and that a hello-world of Textual does without."""

# Letters are let through as soon as there is a prompt on the screen: that is the moment to look.
PROGRAM = """
import os, shutil, sys
from pathlib import Path

begun, sought = [], []
sys.addaudithook(lambda event, _: begun.append(event) if event in ("os.fork", "subprocess.Popen") else None)
which = shutil.which
shutil.which = lambda name, *rest, **named: sought.append(name) or which(name, *rest, **named)

from textual._context import active_app
from textual.screen import Screen
from coder_tui.cli.main import run_command
from coder_tui.ui.keymap import TypeAhead

layouts = []
lay_out = Screen._refresh_layout
def counted(self, *arguments, **named):
    layouts.append(self)
    return lay_out(self, *arguments, **named)
Screen._refresh_layout = counted

async def painted(self):
    widgets = active_app.get().screen.query("*")
    counts = [str(len(widgets)), str(len(layouts)), " ".join(begun), " ".join(sought)]
    Path(sys.argv[1]).write_text("\\n".join([*counts, *sys.modules]))
    os._exit(0)
TypeAhead.release_letters = painted
run_command(["--model", "demo"])
"""


@dataclass(frozen=True, slots=True)
class FirstPaint:
    widgets: int
    layouts: int
    processes: list[str]
    programs: list[str]
    """What was looked for on `PATH`."""
    modules: frozenset[str]

    @property
    def packages(self) -> set[str]:
        return {name.partition(".")[0] for name in self.modules}


@pytest.fixture(scope="module")
def first_paint(tmp_path_factory: pytest.TempPathFactory) -> FirstPaint:
    folder = tmp_path_factory.mktemp("first")
    found = folder / "found"
    outer, inner = pty.openpty()
    termios.tcsetwinsize(inner, (30, 100))
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder), "TERM": "xterm-256color"}
    environment["PYTHONPATH"] = str(ROOT)
    command = [sys.executable, "-c", PROGRAM, str(found)]
    done = subprocess.run(
        command, stdin=inner, stdout=inner, stderr=inner, cwd=folder, env=environment, timeout=60, check=False
    )
    os.close(inner)
    os.close(outer)
    assert (done.returncode, found.is_file()) == (0, True)
    widgets, layouts, processes, programs, *modules = found.read_text().splitlines()
    return FirstPaint(int(widgets), int(layouts), processes.split(), programs.split(), frozenset(modules))


def test_only_listed_modules_are_loaded_before_the_first_paint(first_paint: FirstPaint) -> None:
    """What a new part needs is imported where it is used, or with the widgets of the session screen."""
    ours = {name for name in first_paint.modules if name.partition(".")[0] == "coder_tui"}
    assert sorted(ours - set(ALLOWED.read_text().split())) == []


def test_the_list_of_modules_for_the_first_paint_names_no_other(first_paint: FirstPaint) -> None:
    assert sorted(set(ALLOWED.read_text().split()) - first_paint.modules) == []


def test_no_other_package_is_loaded_before_the_first_paint(first_paint: FirstPaint) -> None:
    installed = first_paint.packages - sys.stdlib_module_names - {"__main__", "__mp_main__", "sitecustomize"}
    assert sorted(name for name in installed - PACKAGES if not name.startswith("_")) == []
    assert sorted(first_paint.packages & UNNEEDED) == []


def test_the_first_paint_shows_few_widgets_after_few_layouts(first_paint: FirstPaint) -> None:
    assert first_paint.widgets <= 6
    assert first_paint.layouts <= 5


def test_nothing_is_looked_for_or_started_before_the_first_paint(first_paint: FirstPaint) -> None:
    """Language servers, the model's process, git: all of them start after it, while the user types."""
    assert (first_paint.processes, first_paint.programs) == ([], [])
