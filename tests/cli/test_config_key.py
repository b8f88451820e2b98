"""`coder-tui config key`: what is saved in the keyring, and what is printed."""

import io
from pathlib import Path

import pytest

from coder_tui.cli.config import key_command
from coder_tui.protocol.errors import UsageError, UserError
from tests.fakes.keyrings import FakeKeyring, NoKeyring
from tests.fakes.program import Program

KEY = "a-key-without-any-shape"


def typed(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(text))


def test_a_key_from_standard_input_is_saved_and_not_shown(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    typed(monkeypatch, f"{KEY}\n")
    keyring = FakeKeyring()
    assert key_command("OpenAI", is_deletion=False, keyring=keyring) == 0
    assert keyring.keys == {"OPENAI_API_KEY": KEY}
    said = capsys.readouterr()
    assert "Saved the OpenAI key in the system keyring." in said.out
    assert KEY not in said.out + said.err


def test_a_key_is_deleted(capsys: pytest.CaptureFixture[str]) -> None:
    keyring = FakeKeyring({"OPENAI_API_KEY": KEY})
    key_command("openai", is_deletion=True, keyring=keyring)
    key_command("openai", is_deletion=True, keyring=keyring)
    assert keyring.keys == {}
    assert capsys.readouterr().out.splitlines() == [
        "The OpenAI key was deleted from the system keyring.",
        "The OpenAI key is not in the system keyring.",
    ]


def test_without_a_keyring_the_variable_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    typed(monkeypatch, f"{KEY}\n")
    with pytest.raises(UserError, match="no system keyring; set GEMINI_API_KEY in your shell"):
        key_command("gemini", is_deletion=False, keyring=NoKeyring())


def test_an_invalid_key_is_not_saved(monkeypatch: pytest.MonkeyPatch) -> None:
    typed(monkeypatch, "my key\n")
    keyring = FakeKeyring()
    with pytest.raises(UserError, match="the key was not saved"):
        key_command("gemini", is_deletion=False, keyring=keyring)
    assert keyring.keys == {}


def test_an_unknown_provider_names_the_known_ones() -> None:
    with pytest.raises(UsageError, match="unknown provider acme; choose one of anthropic, openai"):
        key_command("acme", is_deletion=False, keyring=FakeKeyring())


def test_without_a_provider_it_shows_where_keys_come_from(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "OPENAI_API_KEY", "XAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    key_command("", is_deletion=False, keyring=FakeKeyring({"ANTHROPIC_API_KEY": "another-key-1234"}))
    said = capsys.readouterr().out.splitlines()
    assert said[:2] == ["anthropic    system keyring", "openai       OPENAI_API_KEY"]
    assert said[-1] == "xai          none; set XAI_API_KEY"


def test_the_installed_program_reports_that_there_is_no_keyring(tmp_path: Path) -> None:
    program = Program.in_folder(tmp_path)
    done = program.run("config", "key", "openai", stdin=f"{KEY}\n")
    assert (done.returncode, done.stdout) == (1, "")
    assert "this machine has no system keyring; set OPENAI_API_KEY in your shell instead" in done.stderr
    assert KEY not in done.stderr
