"""Programs that a command line would run from its current folder."""

import pytest

from coder_tui.policy.relative_programs import relative_program


@pytest.mark.parametrize(
    ("command", "found"),
    [
        ("./check.sh", "./check.sh"),
        ("hooks/check --fast", "hooks/check"),
        ("FOO=1 timeout 3 ../x", "../x"),
        ("true && exec './a b'", "./a b"),
        ("if true; then ./z; fi", "./z"),
        ("cat | python3 guard.py", "guard.py"),
        ("/bin/bash -e ./guard.sh", "./guard.sh"),
        (". ./environment", "./environment"),
        ("cd hooks && ./x", "./x"),
        ("sh -c './x'", "./x"),
        ("cd ~/hooks && ./x", ""),
        ("~/hooks/x", ""),
        ('"$CODER_TUI_PROJECT_DIR"/hooks/x', ""),
        ("python3 -m guard", ""),
        ("bash -c 'echo ok'", ""),
        ("jq -r .path ./a.json", ""),
        ("make -s test >&2 || exit 2", ""),
    ],
)
def test_a_program_from_the_folder_is_found(command: str, found: str) -> None:
    assert relative_program(command, "/tmp") == found
