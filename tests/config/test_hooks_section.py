"""Hooks in settings: mistakes are reported with their line, however deep they are."""

from pathlib import Path

import pytest

from coder_tui.config.settings import load_settings
from coder_tui.config.settings_file import read_settings_file
from coder_tui.config.sources import Sources
from coder_tui.protocol.errors import ConfigError

GROUP = "[[hooks.PreToolUse]]\n"


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("[hooks]\nPreTolUse = []", '2: unknown key "hooks.PreTolUse"; did you mean "hooks.PreToolUse"?'),
        (
            f'{GROUP}mather = "x"',
            '2: unknown key "hooks.PreToolUse.0.mather"; did you mean "hooks.PreToolUse.0.matcher"?',
        ),
        (
            f"{GROUP}[[hooks.PreToolUse.hooks]]\ncommand = 'x'\ntimout = 3",
            '4: unknown key "hooks.PreToolUse.0.hooks.0.timout"; '
            'did you mean "hooks.PreToolUse.0.hooks.0.timeout"?',
        ),
        (f"{GROUP}hooks = [{{timeout = 3}}]", "2: hooks.PreToolUse.0.hooks.0.command is missing"),
        (
            f"{GROUP}hooks = [{{command = 'x', timeout = 0}}]",
            "2: hooks.PreToolUse.0.hooks.0.timeout must be more than 0, got 0",
        ),
        (
            "[[hooks.Stop]]\nhooks = [{command = 'x', on_failure = 'ask'}]",
            '1: hooks.Stop must be valid (Value error, cannot have on_failure = "ask": only PreToolUse can '
            'ask about a call), got [{"hooks": [{"command": "x", "on_failure": "ask"}]}]',
        ),
    ],
    ids=["event", "group", "hook", "missing", "time", "ask"],
)
def test_a_mistake_names_its_line_and_the_closest_key(tmp_path: Path, text: str, complaint: str) -> None:
    file = tmp_path / "config.toml"
    file.write_text(text)
    with pytest.raises(ConfigError) as caught:
        load_settings(Sources(read_settings_file(file), {}, {}))
    assert str(caught.value).replace(f"{file}:", "") == complaint


def test_a_matcher_must_be_an_expression(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text(f'{GROUP}matcher = "("')
    with pytest.raises(ConfigError, match="is not a valid regular expression: missing"):
        load_settings(Sources(read_settings_file(file), {}, {}))
    file.write_text(f'{GROUP}matcher = "(?!mcp__).*"')
    with pytest.raises(ConfigError, match="are supported here, not"):
        load_settings(Sources(read_settings_file(file), {}, {}))
