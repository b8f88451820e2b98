"""A project and a Python below /tmp are visible, although commands have their own /tmp."""

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from coder_tui.shell.sandbox import bubblewrap
from coder_tui.shell.sandbox.confinement import NOTHING_MORE
from coder_tui.shell.sandbox.sandbox import SandboxStatus
from tests.fakes.shells import BUBBLEWRAP, LANDLOCK, sandbox_for, skip_without_sandbox

NAMES = ("environment", "python", "code")


@pytest.fixture(params=["/tmp", "/var/tmp"])
def base(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Create a folder with a workspace, a virtual environment, its Python, our code and another file."""
    with tempfile.TemporaryDirectory(dir=request.param) as name:
        base = Path(name, "with a space")
        for part in ("workspace", "other", *NAMES):
            (base / part / "lib").mkdir(parents=True)
            (base / part / "lib" / "file").write_text(f"{part}\n")
        monkeypatch.setattr(sys, "prefix", str(base / "environment"))
        monkeypatch.setattr(sys, "base_prefix", str(base / "python"))
        monkeypatch.setattr(bubblewrap, "_OUR_CODE", base / "code")
        yield base


def run(base: Path, status: SandboxStatus, script: str) -> str:
    """Return what a confined shell prints that runs in the workspace."""
    sandbox = sandbox_for(base / "workspace", status)
    argv = ("/bin/sh", "-c", script, "sh", *(str(base / name / "lib" / "file") for name in NAMES))
    with sandbox.launch(argv, {"PATH": "/usr/bin:/bin"}, NOTHING_MORE) as launch:
        done = subprocess.run(
            launch.argv,
            env=launch.environment,
            pass_fds=launch.descriptors,
            cwd=base / "workspace",
            capture_output=True,
            text=True,
            check=False,
        )
    sandbox.close()
    return done.stdout


@pytest.mark.parametrize("status", [BUBBLEWRAP, LANDLOCK], ids=["bubblewrap", "landlock"])
def test_the_workspace_and_the_python_in_use_are_seen_and_only_the_workspace_is_written(
    base: Path, status: SandboxStatus
) -> None:
    skip_without_sandbox(status.kind)
    script = 'cat lib/file "$@"; echo new > lib/file; for name; do echo new > "$name"; done'

    assert run(base, status, script).split() == ["workspace", *NAMES]
    written = {path.parents[1].name for path in base.glob("*/lib/file") if path.read_text() == "new\n"}
    assert written == {"workspace"}


@pytest.mark.needs("bubblewrap")
def test_other_files_there_stay_hidden(base: Path) -> None:
    assert run(base, BUBBLEWRAP, f'ls "{base}/other" 2>/dev/null || echo hidden') == "hidden\n"
