"""Variables that load code reach the program in the sandbox, never the sandbox itself."""

import subprocess
from pathlib import Path

import pytest

from coder_tui.shell.environment import split_loading_variables
from coder_tui.shell.sandbox.confinement import NOTHING_MORE
from coder_tui.shell.sandbox.sandbox import SandboxStatus
from tests.fakes.shells import BUBBLEWRAP, LANDLOCK, sandbox_for, skip_without_sandbox


@pytest.mark.parametrize("status", [BUBBLEWRAP, LANDLOCK], ids=["bubblewrap", "landlock"])
def test_variables_of_a_project_for_its_server_act_only_in_the_sandbox(
    status: SandboxStatus, tmp_path: Path
) -> None:
    skip_without_sandbox(status.kind)
    workspace, outside = tmp_path / "workspace", tmp_path / "outside"
    workspace.mkdir()
    outside.mkdir()
    # The loader of an unconfined program writes its trace to a file of this name.
    given = {"PATH": "/usr/bin:/bin", "LD_DEBUG": "libs", "LD_DEBUG_OUTPUT": str(outside / "written")}
    sandbox = sandbox_for(workspace, status)

    with sandbox.launch(("/bin/sh", "-c", 'echo "$LD_DEBUG"'), given, NOTHING_MORE) as launch:
        done = subprocess.run(
            launch.argv, env=launch.environment, pass_fds=launch.descriptors, capture_output=True, check=True
        )

    assert done.stdout.endswith(b"libs\n")
    assert list(outside.iterdir()) == []


def test_only_variables_that_load_code_are_kept_from_the_sandbox() -> None:
    loading = {"LD_PRELOAD": "x.so", "LD_LIBRARY_PATH": "lib", "GCONV_PATH": "g", "LOCPATH": "l"}
    plain = {"PATH": "/bin", "OLD_LD_X": "1", "LANG": "C"}
    assert split_loading_variables({**loading, **plain}) == (plain, loading)
