"""A command can reach what its findings name."""

import socket
from dataclasses import replace
from pathlib import Path

import pytest

from coder_tui.policy.shell.analysis import analyze_command
from coder_tui.shell.sandbox.confinement import NOTHING_MORE, Confinement, confinement_for


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "home").mkdir()
    (tmp_path / "ws").mkdir()
    return tmp_path / "ws"


def confined(root: Path, command: str, patterns: tuple[str, ...] = ()) -> Confinement:
    home = root.parent / "home"
    analysis = analyze_command(command, str(root), home=str(home), roots=(str(root),))
    return confinement_for(analysis, (root,), home, patterns)


@pytest.mark.parametrize("command", ["ls", "pytest -q", "echo x > a", "make", "$(unknown)"])
def test_work_in_the_workspace_needs_nothing_more(root: Path, command: str) -> None:
    # What it reads matters only for hidden paths.
    assert replace(confined(root, command), visible=()) == NOTHING_MORE


def test_without_an_analysis_nothing_is_granted(root: Path) -> None:
    assert confinement_for(None, (root,), root.parent) == NOTHING_MORE


def test_a_download_has_the_network(root: Path) -> None:
    assert confined(root, "curl https://example.org") == Confinement(network=True)


@pytest.mark.parametrize(
    ("command", "has_network"),
    [
        ("make deploy", True),
        ("cd sub && make deploy", True),
        ("ls; make deploy", True),
        ("make other", False),
        ("make deploy; python3 x.py", False),
        ("make deploy $(x)", False),
    ],
)
def test_a_setting_gives_the_network_only_to_what_it_names(
    root: Path, command: str, has_network: bool
) -> None:
    assert confined(root, command, ("make deploy*",)).network is has_network


def test_a_commit_writes_the_repository_but_not_its_setup(root: Path) -> None:
    (root / ".git").mkdir()

    made = confined(root, "git commit -m x")

    assert (made.git, made.git_setup, made.network) == ((str(root / ".git"),), False, False)


@pytest.mark.parametrize("command", ["git config user.name a", "git commit -m x && git remote add o u"])
def test_a_command_that_configures_git_may_write_its_configuration(root: Path, command: str) -> None:
    (root / ".git").mkdir()

    assert confined(root, command).git_setup


def test_a_commit_in_a_part_of_a_repository_writes_the_one_around_it(root: Path) -> None:
    (root.parent / ".git").mkdir()

    assert str(root.parent / ".git") in confined(root, "git commit -m x").git


def test_a_repository_named_by_a_flag_is_the_one_that_is_written(root: Path) -> None:
    (root / "sub" / ".git").mkdir(parents=True)

    made = confined(root, "git -C sub commit -m x")

    assert (str(root / "sub" / ".git") in made.git, made.git_setup) == (True, False)


def test_a_push_may_use_keys_and_the_agent(root: Path) -> None:
    made = confined(root, "git push")

    assert (made.network, made.sockets) == (True, True)
    assert str(root.parent / "home" / ".ssh") in made.visible


def test_paths_outside_are_files_or_folders(root: Path) -> None:
    home = root.parent / "home"
    (home / "site").mkdir()
    (home / "notes").touch()

    made = confined(root, "touch ~/notes ~/new/deep/file && rm -r ~/site")

    assert (made.folders, set(made.files)) == (
        (str(home / "site"),),
        {str(home / "notes"), str(home / "new")},
    )


def test_guarded_names_that_a_command_writes_plainly_are_opened(root: Path) -> None:
    made = confined(root, "echo x > .vscode/tasks.json; echo x > .coder-tui/config.toml")

    assert made.unguarded == (str(root / ".vscode"),)


def test_a_socket_that_is_named_can_be_used(root: Path) -> None:
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(root / "s"))

        assert confined(root, "cat s").sockets
        assert not confined(root, "cat t").sockets
