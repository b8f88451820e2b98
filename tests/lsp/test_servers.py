"""The table of known servers, and how settings change it."""

from pathlib import PurePath

import pytest

from coder_tui.config.sections import LspServerSection
from coder_tui.lsp.servers import KNOWN, Language, build_catalog, language_of
from coder_tui.protocol.errors import ConfigError


def names(table: dict[str, dict[str, object]], language: str) -> list[str]:
    sections = {name: LspServerSection.model_validate(values) for name, values in table.items()}
    return [spec.name for spec in build_catalog(sections).of_language(language)]


def test_the_defaults_are_as_specified() -> None:
    defaults = {spec.language: spec.command for spec in KNOWN if spec.is_default}
    assert defaults == {"sh": ("bash-language-server", "start"), "py": ("pylsp",)}


def test_every_known_server_says_how_it_is_installed() -> None:
    assert [spec.name for spec in KNOWN if not spec.install_command] == []


def test_a_server_can_be_switched_off_by_its_name_or_its_language() -> None:
    assert names({"ruff": {"enabled": False}}, "py") == ["pylsp", "basedpyright", "ty"]
    assert names({"py": {"enabled": False}}, "py") == ["basedpyright", "ruff", "ty"]


def test_all_can_be_off_but_one() -> None:
    table: dict[str, dict[str, object]] = {"*": {"enabled": False}, "pylsp": {"enabled": True}}
    assert (names(table, "py"), names(table, "sh")) == (["pylsp"], [])


def test_a_users_server_is_added_to_those_of_its_language() -> None:
    own: dict[str, object] = {"command": "pyrefly lsp", "extensions": ["py"]}
    assert names({"pyrefly": own}, "py")[-1] == "pyrefly"


def test_a_users_server_can_add_a_language() -> None:
    section = LspServerSection.model_validate(
        {"command": ["zls"], "extensions": [".zig"], "language_id": "zig"}
    )
    catalog = build_catalog({"zls": section})
    language = language_of(PurePath("main.zig"), "", catalog.suffixes)
    assert language == Language("zls", "zig")
    assert [spec.command for spec in catalog.of_language("zls")] == [("zls",)]


def test_settings_of_a_known_server_change_only_what_they_name() -> None:
    section = LspServerSection.model_validate({"settings": {"pylsp": {"x": 1}}, "env": {"A": "b"}})
    spec = build_catalog({"py": section}).of_language("py")[0]
    assert (spec.name, spec.command, dict(spec.settings)) == ("pylsp", ("pylsp",), {"pylsp": {"x": 1}})
    assert dict(spec.environment) == {"A": "b"}


def test_an_unknown_server_needs_a_command_and_extensions() -> None:
    with pytest.raises(ConfigError, match=r"lsp\.mine: .* needs a command and extensions"):
        build_catalog({"mine": LspServerSection()})


@pytest.mark.parametrize(
    ("name", "text", "id"),
    [
        ("a.SH", "", "shellscript"),
        ("a.pyi", "", "python"),
        ("a.tsx", "", "typescriptreact"),
        ("a.h", "", "c"),
        ("run", "#!/bin/bash\n", "shellscript"),
        ("run", "#!/usr/bin/env python3.11\n", "python"),
        ("run", "#!/usr/bin/env -S FOO=1 node --x\n", "javascript"),
        ("run", "#!/usr/bin/perl\n", None),
        ("run", "#!", None),
        ("run", "text", None),
        ("a.txt", "#!/bin/sh\n", None),
    ],
)
def test_a_language_is_known_by_suffix_or_first_line(name: str, text: str, id: str | None) -> None:
    found = language_of(PurePath(name), text, {})
    assert (found.id if found else None) == id
