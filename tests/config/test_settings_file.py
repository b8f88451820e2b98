"""Settings files that cannot be read, each with its sentence."""

from pathlib import Path

import pytest

from coder_tui.config.settings_file import SettingsFile, read_settings_file
from coder_tui.protocol.errors import ConfigError


def _refusal(path: Path, content: bytes) -> str:
    path.write_bytes(content)
    with pytest.raises(ConfigError) as caught:
        read_settings_file(path)
    return str(caught.value).replace(f"{path.parent}/", "")


def test_a_file_that_is_not_there_is_none(tmp_path: Path) -> None:
    assert read_settings_file(tmp_path / "config.toml") is None


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        (
            "c.toml",
            b"[ui]\ntheme 5",
            "c.toml:2:7: not valid TOML: expected '=' after a key in a key/value pair",
        ),
        ("c.toml", b"[ui]\ntheme = ", "c.toml:2:9: not valid TOML: invalid value"),
        ("c.toml", b"a = 1\na = 2\n", "c.toml:2:6: not valid TOML: cannot overwrite a value"),
        ("c.toml", b"a = 1\nb = '\xff'", "c.toml:2: not UTF-8 text; save the file as UTF-8"),
        ("c.toml", b"#" * 1_000_001, "c.toml is larger than 1000000 bytes: not a settings file"),
        ("c.toml", b"a = " + b"[" * 100_000, "c.toml: tables are nested too deeply; use fewer levels"),
        (
            "c.json",
            b'{\n "a" 1\n}',
            "c.json:2:6: not valid JSON: expecting ':' delimiter",
        ),
        ("c.json", b"[]", "c.json:1: must be a JSON object"),
    ],
)
def test_a_wrong_file_names_line_and_column(tmp_path: Path, name: str, content: bytes, sentence: str) -> None:
    assert _refusal(tmp_path / name, content) == sentence


def test_a_number_too_long_to_convert_does_not_crash(tmp_path: Path) -> None:
    assert _refusal(tmp_path / "c.toml", b"a = " + b"9" * 5000).startswith(
        "c.toml:1:1: not valid TOML: exceeds"
    )


def test_an_unreadable_file_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "config.toml").mkdir()
    with pytest.raises(ConfigError) as caught:
        read_settings_file(tmp_path / "config.toml")
    assert str(caught.value) == f"cannot read {tmp_path}/config.toml: Is a directory"


def test_a_byte_order_mark_is_allowed(tmp_path: Path) -> None:
    path = tmp_path / "c.toml"
    path.write_bytes(b"\xef\xbb\xbfa = 1")
    assert read_settings_file(path) == SettingsFile(path, "a = 1", {"a": 1})


def test_a_place_falls_back_to_the_key_around_it() -> None:
    file = SettingsFile(Path("/x/c.toml"), "a = 1\n[b]\nc = {}", {})
    assert [file.place(path) for path in (("b", "c", "d"), ("b", 7), ("z",))] == [
        "/x/c.toml:3",
        "/x/c.toml:2",
        "/x/c.toml:1",
    ]
