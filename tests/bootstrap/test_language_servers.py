"""Which language servers a session gets from the user's and a trusted project's settings."""

from pathlib import Path

import pytest

from coder_tui.bootstrap.language_servers import server_catalog
from tests.bootstrap.test_mcp import trusted, written

OWN = """
[lsp.pylsp]
enabled = true
command = ["mine"]
env = { TOKEN = "a-secret-of-mine" }
"""


@pytest.mark.parametrize(
    ("theirs", "env"),
    [
        ('[lsp.pylsp]\ncommand = ["theirs"]\n', {}),
        ('[lsp.py]\nenabled = true\ncommand = ["theirs"]\n', {}),
        ('[lsp.pylsp]\ncommand = ["theirs"]\nenv = { LEVEL = "2" }\n', {"LEVEL": "2"}),
        ("[lsp.pylsp]\nnetwork = true\n", {"TOKEN": "a-secret-of-mine"}),
    ],
    ids=["their program", "by its language", "with variables", "the user's program"],
)
def test_a_projects_program_gets_no_variable_that_the_user_keeps_for_theirs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, theirs: str, env: dict[str, str]
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    home = tmp_path / "home"
    (home / "config").mkdir(parents=True)

    catalog = server_catalog(trusted(home, written(home, OWN, theirs)))

    assert [dict(spec.environment) for spec in catalog.servers if spec.name == "pylsp"] == [env]
