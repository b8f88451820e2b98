"""What is allowed for good is written to a settings file, but no secret is."""

from pathlib import Path

import pytest

from coder_tui.bootstrap.prepare import load_setup
from coder_tui.bootstrap.toolset import SavedGrants
from coder_tui.config.paths import Directories
from coder_tui.config.sources import Sources
from coder_tui.protocol.errors import UserError
from coder_tui.protocol.requests import Grant, GrantForm, GrantScope


def saved_in(folder: Path) -> SavedGrants:
    directories = Directories(folder / "config", folder / "data", folder / "cache", folder / "log")
    return SavedGrants(load_setup(folder, directories, Sources(), {"MY_SECRET": "known 4711"}))


@pytest.mark.parametrize("secret", ["known 4711", "'Authorization: Bearer abcdefgh12345'"])
async def test_a_grant_with_a_secret_is_not_saved(tmp_path: Path, secret: str) -> None:
    grant = Grant("bash", (f"curl -H {secret} x",), "this", GrantForm.EXACT, GrantScope.USER)
    with pytest.raises(UserError, match="it contains a secret"):
        await saved_in(tmp_path).save(grant)
    assert not (tmp_path / "config/config.toml").exists()


async def test_another_one_is(tmp_path: Path) -> None:
    grant = Grant("bash", ("make test",), "this", GrantForm.EXACT, GrantScope.USER)
    await saved_in(tmp_path).save(grant)
    assert "make test" in (tmp_path / "config/config.toml").read_text()
