"""A saved rule applies afterwards, and everything else in the file is unchanged."""

import json
import stat
import tomllib
from pathlib import Path

import pytest

from coder_tui.config.paths import Directories
from coder_tui.config.trust import Trust
from coder_tui.config.write import save_grant, save_rules
from coder_tui.policy.rules import Effect
from coder_tui.protocol.errors import ConfigError, UserError
from coder_tui.protocol.requests import Grant, GrantForm, GrantScope

CONFIG = ".coder-tui/config.toml"


@pytest.fixture
def directories(tmp_path: Path) -> Directories:
    return Directories(*(tmp_path / name for name in ("config", "data", "cache", "log")))


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


def glob(key: str, *patterns: str, scope: GrantScope = GrantScope.USER) -> Grant:
    return Grant(key, patterns, "", GrantForm.GLOB, scope)


def test_a_new_file_is_readable_only_by_its_owner(directories: Directories, project: Path) -> None:
    path = save_grant(glob("bash", "git status*"), project, directories, Trust.load(directories))

    assert path == directories.config / "config.toml"
    assert path.read_text() == '[permission.bash]\n"git status*" = "allow"\n'
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_comments_order_and_mode_stay(directories: Directories, project: Path) -> None:
    directories.config.mkdir()
    path = directories.config / "config.toml"
    path.write_text(
        "# mine\n[ui]\ntheme = 'x'   # dark\n\n[permission.bash] # rules\n"
        '"*" = "ask"\n"ls" = "allow" # harmless\n\n[limits]\nmax_steps = 5\n'
    )
    path.chmod(0o644)

    save_grant(glob("bash", "make test", "make lint"), project, directories, Trust.load(directories))

    assert path.read_text() == (
        "# mine\n[ui]\ntheme = 'x'   # dark\n\n[permission.bash] # rules\n"
        '"*" = "ask"\n"ls" = "allow" # harmless\n"make test" = "allow"\n"make lint" = "allow"\n'
        "\n[limits]\nmax_steps = 5\n"
    )
    assert stat.S_IMODE(path.stat().st_mode) == 0o644


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('[permission]\nbash = "ask"\n', {"bash": {"*": "ask", "ls": "allow"}}),
        (
            '[permission]\nfetch = "deny"\nbash = {"*" = "ask"}\n',
            {"fetch": "deny", "bash": {"*": "ask", "ls": "allow"}},
        ),
        ('[permission]\nfetch = "deny"\n', {"fetch": "deny", "bash": {"ls": "allow"}}),
        ('permission.bash."*" = "ask"\n', {"bash": {"*": "ask", "ls": "allow"}}),
        (
            '[permission.bash]\n"ls" = "ask"\n"l*" = "deny"\n',
            {"bash": {"l*": "deny", "ls": "allow"}},
        ),
        ('permission = {bash = "deny"}\n', {"bash": {"*": "deny", "ls": "allow"}}),
        ("[permission]\n", {"bash": {"ls": "allow"}}),
        ("\ufeff[ui]\n", {"bash": {"ls": "allow"}}),
    ],
)
def test_the_rule_comes_last_whatever_the_form_of_the_table(
    tmp_path: Path, before: str, after: dict[str, object]
) -> None:
    path = tmp_path / "config.toml"
    path.write_text(before)

    save_rules(path, "bash", ("ls",), Effect.ALLOW)

    table = tomllib.loads(path.read_text(encoding="utf-8-sig"))["permission"]
    assert json.dumps(table) == json.dumps(after)


def test_json_is_kept_as_json(tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    path.write_text('{"ui": {"theme": "x"}, "permission": {"bash": "ask"}}')

    save_rules(path, "bash", ("ls", "pwd"), Effect.ALLOW)

    assert json.loads(path.read_text()) == {
        "ui": {"theme": "x"},
        "permission": {"bash": {"*": "ask", "ls": "allow", "pwd": "allow"}},
    }


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("[permission\n", "not valid TOML"),
        ("[permission]\nbahs = 'deny'\n", 'did you mean "permission.bash"'),
        ("[ui]\nthem = 'x'\n", 'unknown key "ui.them"'),
        ("[permission.bash]\n'*' = 'alow'\n", "must be one of"),
    ],
)
def test_a_file_with_a_mistake_is_left_alone(tmp_path: Path, text: str, complaint: str) -> None:
    path = tmp_path / "config.toml"
    path.write_text(text)

    with pytest.raises(ConfigError) as caught:
        save_rules(path, "bash", ("ls",), Effect.ALLOW)

    assert complaint in str(caught.value)
    assert path.read_text() == text
    assert list(tmp_path.iterdir()) == [path]


def test_a_misspelled_key_is_never_written(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="unknown key"):
        save_rules(tmp_path / "config.toml", "bahs", ("ls",), Effect.ALLOW)

    assert list(tmp_path.iterdir()) == []


def test_a_linked_file_stays_linked(tmp_path: Path) -> None:
    real = tmp_path / "dotfiles.toml"
    real.write_text("")
    link = tmp_path / "config.toml"
    link.symlink_to(real)

    save_rules(link, "bash", ("ls",), Effect.ALLOW)

    assert link.is_symlink()
    assert tomllib.loads(real.read_text()) == {"permission": {"bash": {"ls": "allow"}}}


def test_unusual_patterns_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    pattern = "echo \"a\\b\" 'c' [x] = #\t ü"

    save_rules(path, "bash", (pattern,), Effect.ALLOW)

    assert tomllib.loads(path.read_text()) == {"permission": {"bash": {pattern: "allow"}}}


def test_a_folder_that_cannot_be_written_is_reported(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    with pytest.raises(ConfigError, match="cannot write"):
        save_rules(tmp_path / "file" / "config.toml", "bash", ("ls",), Effect.ALLOW)


def test_a_new_project_file_is_trusted_at_once(directories: Directories, project: Path) -> None:
    trust = Trust.load(directories)

    path = save_grant(glob("bash", "make *", scope=GrantScope.PROJECT), project, directories, trust)

    assert path == project / CONFIG
    assert path.read_text() == '[permission.bash]\n"make *" = "allow"\n'
    assert Trust.load(directories).inventory(project).is_trusted


def test_a_trusted_project_stays_trusted_with_the_new_rule(directories: Directories, project: Path) -> None:
    (project / ".coder-tui").mkdir()
    (project / CONFIG).write_text("# ours\n")
    trust = Trust.load(directories)
    trust.accept(trust.inventory(project))

    save_grant(glob("bash", "make *", scope=GrantScope.PROJECT), project, directories, trust)

    assert (project / CONFIG).read_text().startswith("# ours\n")
    assert Trust.load(directories).inventory(project).is_trusted


def test_saving_a_rule_does_not_trust_an_untrusted_project(directories: Directories, project: Path) -> None:
    (project / ".coder-tui").mkdir()
    text = '[permission]\nbash = "allow"\n'
    (project / CONFIG).write_text(text)
    trust = Trust.load(directories)

    with pytest.raises(UserError, match="not trusted"):
        save_grant(glob("bash", "make *", scope=GrantScope.PROJECT), project, directories, trust)

    assert (project / CONFIG).read_text() == text
    assert not trust.inventory(project).is_trusted


@pytest.mark.parametrize("name", [".coder-tui", CONFIG])
def test_a_project_file_behind_a_link_is_not_written(
    directories: Directories, project: Path, tmp_path: Path, name: str
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    if name == CONFIG:
        (project / ".coder-tui").mkdir()
        (project / name).symlink_to(outside / "config.toml")
    else:
        (project / name).symlink_to(outside)

    with pytest.raises(UserError, match="leads out"):
        save_grant(glob("bash", "x", scope=GrantScope.PROJECT), project, directories, Trust.load(directories))

    assert list(outside.iterdir()) == []


def test_exact_paths_and_folders_become_rules_for_the_same_files(
    directories: Directories, project: Path
) -> None:
    trust = Trust.load(directories)
    file, folder = str(project / "a.py"), str(project)

    def saved(form: GrantForm, pattern: str, scope: GrantScope) -> list[str]:
        path = save_grant(Grant("edit", (pattern,), "", form, scope), project, directories, trust)
        return list(tomllib.loads(path.read_text())["permission"]["edit"])

    assert saved(GrantForm.EXACT, file, GrantScope.USER) == [file]
    assert saved(GrantForm.FOLDER, folder, GrantScope.USER) == [file, f"{folder}/*"]
    assert saved(GrantForm.EXACT, file, GrantScope.PROJECT) == ["a.py"]
    assert saved(GrantForm.FOLDER, f"{folder}/src", GrantScope.PROJECT) == ["a.py", "src/*"]


def test_a_grant_that_a_rule_would_widen_is_not_saved(directories: Directories, project: Path) -> None:
    grant = Grant("bash", ("rm *.o",), "", GrantForm.EXACT, GrantScope.USER)

    with pytest.raises(UserError, match="are wildcards in rules"):
        save_grant(grant, project, directories, Trust.load(directories))

    assert not directories.config.exists()
