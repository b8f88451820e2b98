"""What the screen asks about a project, and what an answer changes."""

from pathlib import Path

import pytest

from coder_tui.bootstrap.invocation import Invocation, TrustQuestion
from coder_tui.config.paths import Directories
from coder_tui.config.sources import find_sources, quick_value

LOOSER = '[permission.bash]\n"rm *" = "allow"\n[ui]\ntheme = "theirs"\n'


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    (folder / ".coder-tui").mkdir(parents=True)
    return folder


def started(project: Path) -> TrustQuestion:
    directories = Directories(*(project.parent / name for name in ("config", "data", "cache", "log")))
    return TrustQuestion(
        Invocation(project, directories, find_sources(directories, project, {}, {}), None, ())
    )


def write(project: Path, text: str) -> None:
    (project / ".coder-tui" / "config.toml").write_text(text)


async def test_yes_lets_the_settings_in_at_once_and_is_not_asked_for_again(project: Path) -> None:
    write(project, LOOSER)
    trust = started(project)
    inventory = await trust.question()
    assert inventory is not None
    assert quick_value(trust.invocation.sources, "ui", "theme") is None
    await trust.accept(inventory)
    assert quick_value(trust.invocation.sources, "ui", "theme") == "theirs"
    assert await started(project).question() is None


async def test_no_is_remembered_for_this_content_only(project: Path) -> None:
    write(project, LOOSER)
    trust = started(project)
    inventory = await trust.question()
    assert inventory is not None
    await trust.refuse(inventory)
    assert quick_value(trust.invocation.sources, "ui", "theme") is None
    assert await started(project).question() is None
    write(project, LOOSER + "\n")
    assert await started(project).question() is not None


async def test_a_file_that_changed_while_it_was_asked_about_stays_out(project: Path) -> None:
    write(project, LOOSER)
    trust = started(project)
    inventory = await trust.question()
    assert inventory is not None
    write(project, LOOSER + "# more\n")
    await trust.accept(inventory)
    assert quick_value(trust.invocation.sources, "ui", "theme") is None
    assert await started(project).question() is not None


@pytest.mark.parametrize("text", [None, '[permission.bash]\n"rm *" = "deny"\n'])
async def test_what_loosens_nothing_is_not_asked_about(project: Path, text: str | None) -> None:
    if text is not None:
        write(project, text)
    assert await started(project).question() is None
