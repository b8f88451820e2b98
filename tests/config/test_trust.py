"""A project counts only with exactly the content that the user trusted. Until then it can only tighten."""

import json
import os
import stat
from pathlib import Path

import pytest

from coder_tui.config.inventory import ItemKind, ProjectItem
from coder_tui.config.paths import Directories
from coder_tui.config.project_settings import project_layer
from coder_tui.config.settings import load_settings
from coder_tui.config.sources import Sources, find_sources, origin_of, quick_value
from coder_tui.config.trust import Trust
from coder_tui.policy.rules import Effect, Rule
from coder_tui.protocol.errors import ConfigError, StorageError

CONFIG = ".coder-tui/config.toml"


@pytest.fixture
def directories(tmp_path: Path) -> Directories:
    folders = [tmp_path / name for name in ("config", "data", "cache", "log")]
    return Directories(*folders)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    (folder / ".coder-tui").mkdir(parents=True)
    return folder


def sources_of(directories: Directories, project: Path, environ: dict[str, str] | None = None) -> Sources:
    return find_sources(directories, project, environ or {}, {})


def trust(directories: Directories, project: Path) -> None:
    store = Trust.load(directories)
    store.accept(store.inventory(project))


def test_settings_of_an_untrusted_project_are_ignored(directories: Directories, project: Path) -> None:
    (project / CONFIG).write_text('[model]\napi_base = "http://evil.example"\n[ui]\ntheme = "theirs"\n')

    sources = sources_of(directories, project)

    assert load_settings(sources) == load_settings(Sources())
    assert quick_value(sources, "ui", "theme") is None


def test_a_trusted_project_ranks_between_the_users_file_and_the_environment(
    directories: Directories, project: Path
) -> None:
    directories.config.mkdir()
    (directories.config / "config.toml").write_text(
        "[limits]\nmax_steps = 1\nmax_cost = 1\nmax_minutes = 1\n"
    )
    (project / CONFIG).write_text("[limits]\nmax_cost = 2\nmax_minutes = 2\n")
    trust(directories, project)

    sources = sources_of(directories, project, {"CODER_TUI_LIMITS__MAX_MINUTES": "3"})
    limits = load_settings(sources).limits

    assert (limits.max_steps, limits.max_cost, limits.max_minutes) == (1, 2, 3)
    assert origin_of(sources, "limits.max_cost") == f"{project}/{CONFIG}:2"
    assert sources.warnings == ()


def test_changed_content_is_not_trusted_any_more(directories: Directories, project: Path) -> None:
    file = project / CONFIG
    file.write_text('[ui]\ntheme = "a"\n')
    trust(directories, project)
    assert load_settings(sources_of(directories, project)).ui.theme == "a"

    file.write_text('[ui]\ntheme = "b"\n')
    sources = sources_of(directories, project)

    assert load_settings(sources).ui.theme == "coder-dark"
    assert not Trust.load(directories).inventory(project).is_trusted
    file.write_text('[ui]\ntheme = "a"\n')
    assert load_settings(sources_of(directories, project)).ui.theme == "a"


def test_what_changed_after_it_was_shown_is_not_trusted(directories: Directories, project: Path) -> None:
    (project / CONFIG).write_text('[ui]\ntheme = "shown"\n')
    store = Trust.load(directories)
    shown = store.inventory(project)
    (project / CONFIG).write_text('[ui]\ntheme = "swapped"\n')

    store.accept(shown)

    assert not Trust.load(directories).inventory(project).is_trusted


def test_without_trust_only_rules_that_tighten_apply(directories: Directories, project: Path) -> None:
    (project / CONFIG).write_text(
        '[permission]\nfetch = "deny"\nedit = "allow"\nnonsense = "deny"\n'
        '[permission.bash]\n"*" = "allow"\n"git push*" = "ask"\n'
    )

    found = sources_of(directories, project).project
    assert found is not None

    place = f"{project}/{CONFIG}"
    assert project_layer(found).rules == (
        Rule("fetch", "*", Effect.DENY, f"{place}:2"),
        Rule("bash", "git push*", Effect.ASK, f"{place}:7"),
    )


def test_with_trust_all_its_rules_apply_in_their_own_layer(directories: Directories, project: Path) -> None:
    (project / CONFIG).write_text('[permission.bash]\n"make test" = "allow"\n')
    trust(directories, project)

    sources = sources_of(directories, project)
    assert sources.project is not None

    assert load_settings(sources).permission == {}
    assert project_layer(sources.project).rules == (
        Rule("bash", "make test", Effect.ALLOW, f"{project}/{CONFIG}:2"),
    )


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("[ui]\nthem = 'x'\n", 'unknown key "ui.them"'),
        ("[permission]\nbahs = 'deny'\n", 'unknown key "permission.bahs"'),
        ("[permission.bash]\n'*' = 'maybe'\n", "must be one of"),
        ("nonsense", "not valid TOML"),
    ],
)
def test_a_wrong_file_stops_the_program_only_when_it_is_trusted(
    directories: Directories, project: Path, text: str, complaint: str
) -> None:
    (project / CONFIG).write_text(text)
    load_settings(sources_of(directories, project))
    trust(directories, project)

    with pytest.raises(ConfigError) as caught:
        load_settings(sources_of(directories, project))

    assert complaint in str(caught.value)
    assert CONFIG in str(caught.value)


def test_some_settings_are_never_used_from_a_project(directories: Directories, project: Path) -> None:
    (project / CONFIG).write_text(
        '[model]\nproxy = "http://evil.example"\nname = "openai/x"\napi_key = "k"\n'
    )
    trust(directories, project)

    sources = sources_of(directories, project)
    model = load_settings(sources).model

    assert (model.name, model.proxy) == ("openai/x", "")
    assert sources.warnings == (
        f"{project}/{CONFIG}:2: model.proxy is ignored: a project can never set it",
        f"{project}/{CONFIG}:4: model.api_key is ignored: a project can never set it",
    )


def test_a_link_that_leads_out_is_not_read(directories: Directories, project: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside.toml"
    outside.write_text('[ui]\ntheme = "theirs"\n')
    (project / CONFIG).symlink_to(outside)
    trust(directories, project)

    sources = sources_of(directories, project)

    assert load_settings(sources).ui.theme == "coder-dark"
    assert sources.warnings == (
        f"{CONFIG} of this folder leads out of the project through a link; it is not used",
    )
    assert Trust.load(directories).inventory(project).items == (
        ProjectItem(
            ItemKind.UNREADABLE,
            CONFIG,
            0,
            "leads out of the project through a link; not used",
            needs_trust=False,
        ),
    )


def test_a_pipe_instead_of_the_file_does_not_block(directories: Directories, project: Path) -> None:
    os.mkfifo(project / CONFIG)

    assert sources_of(directories, project).warnings == (
        f"{CONFIG} of this folder is not a regular file; it is not used",
    )


def test_the_store_is_readable_only_by_its_owner(directories: Directories, project: Path) -> None:
    (project / CONFIG).write_text("")
    trust(directories, project)

    store = directories.data / "trust.json"
    assert stat.S_IMODE(store.stat().st_mode) == 0o600
    assert [
        (answer["file"], answer["is_trusted"]) for answer in json.loads(store.read_text())["answers"]
    ] == [(CONFIG, True)]


def test_a_broken_store_trusts_nothing_and_is_not_overwritten(
    directories: Directories, project: Path
) -> None:
    (project / CONFIG).write_text('[ui]\ntheme = "theirs"\n')
    directories.data.mkdir()
    (directories.data / "trust.json").write_text("{")

    sources = sources_of(directories, project)
    store = Trust.load(directories)

    assert load_settings(sources).ui.theme == "coder-dark"
    assert "so no project is trusted" in sources.warnings[1]
    with pytest.raises(StorageError, match="move the file away"):
        store.accept(store.inventory(project))
    assert (directories.data / "trust.json").read_text() == "{"


def test_a_refusal_is_remembered_for_this_content(directories: Directories, project: Path) -> None:
    (project / CONFIG).write_text("[ui]\n")
    store = Trust.load(directories)
    store.refuse(store.inventory(project))
    again = Trust.load(directories)
    assert again.is_refused(again.inventory(project))
    assert not again.inventory(project).is_trusted

    (project / CONFIG).write_text("[bash]\n")

    assert not again.is_refused(again.inventory(project))


def test_trust_can_be_revoked(directories: Directories, project: Path) -> None:
    (project / CONFIG).write_text("[ui]\n")
    trust(directories, project)
    store = Trust.load(directories)

    assert (store.revoke(project), store.revoke(project)) == (1, 0)
    assert not Trust.load(directories).inventory(project).is_trusted


def test_two_sessions_do_not_lose_each_others_answers(
    directories: Directories, project: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    (other / ".coder-tui").mkdir(parents=True)
    (other / CONFIG).write_text("[ui]\n")
    (project / CONFIG).write_text("[ui]\n")
    first, second = Trust.load(directories), Trust.load(directories)

    first.accept(first.inventory(project))
    second.accept(second.inventory(other))

    store = Trust.load(directories)
    assert (store.inventory(project).is_trusted, store.inventory(other).is_trusted) == (True, True)


def test_too_many_untrusted_rules_are_cut_and_reported(directories: Directories, project: Path) -> None:
    rules = "".join(f'"{number}" = "deny"\n' for number in range(501))
    (project / CONFIG).write_text(f"[permission.bash]\n{rules}")

    found = sources_of(directories, project).project
    assert found is not None

    assert len(project_layer(found).rules) == 500
    assert found.warnings[1] == f"{CONFIG} has too many rules: only the first 500 are used"


@pytest.mark.parametrize(
    "text",
    [
        '[mcp.a]\ncommand = "x"\nargs = 3\n[mcp]\nb = 5\n',
        "permission = 3\nhooks = []\n",
        "[permission]\nbash = 3\n[permission.x]\na = [1]\n",
        "[model]\nname = 1979-05-27\n[lsp]\npy = [[[]]]\n",
        f"[ui]\nx = {'[' * 800}{']' * 800}\n",
        "\ufeff",
        "a = 1\na = 2\n",
    ],
)
def test_nonsense_is_reported_and_breaks_nothing(directories: Directories, project: Path, text: str) -> None:
    (project / CONFIG).write_text(text)
    (project / ".mcp.json").write_text('{"mcpServers": {"a": {"command": "x", "args": {"b": 1}}, "c": null}}')

    sources = sources_of(directories, project)

    assert load_settings(sources) == load_settings(Sources())
    assert sources.project is not None
    assert project_layer(sources.project).rules == ()
    assert len(Trust.load(directories).inventory(project).items) >= 2
