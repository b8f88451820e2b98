"""Missing names are reserved while commands run, and nothing of that remains."""

from pathlib import Path

from coder_tui.shell.sandbox.protected import Placeholders


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def wanted(root: Path) -> tuple[Path, ...]:
    return (root / ".envrc", root / ".vscode")


def held_in(tmp_path: Path) -> tuple[Placeholders, Path]:
    root = tmp_path / "ws"
    root.mkdir()
    return Placeholders(tmp_path / "guards"), root


def test_missing_names_exist_while_a_command_runs(tmp_path: Path) -> None:
    placeholders, root = held_in(tmp_path)

    with placeholders.reserve(root, wanted(root)) as held:
        during = names_in(root)

    assert (held, during, names_in(root)) == (wanted(root), [".envrc", ".vscode"], [])


def test_files_of_the_user_are_left_alone(tmp_path: Path) -> None:
    placeholders, root = held_in(tmp_path)
    (root / ".vscode").mkdir()

    with placeholders.reserve(root, wanted(root)):
        pass

    assert names_in(root) == [".vscode"]


def test_the_last_of_several_commands_removes_them(tmp_path: Path) -> None:
    """Removing one earlier would leave the other command without its guard."""
    _, root = held_in(tmp_path)
    one, two = Placeholders(tmp_path / "guards"), Placeholders(tmp_path / "guards")
    first, second = one.reserve(root, wanted(root)), two.reserve(root, wanted(root))

    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    between = names_in(root)
    second.__exit__(None, None, None)

    assert (between, names_in(root)) == ([".envrc", ".vscode"], [])


def test_files_that_the_user_puts_there_are_kept(tmp_path: Path) -> None:
    placeholders, root = held_in(tmp_path)

    with placeholders.reserve(root, wanted(root)):
        (root / ".vscode").chmod(0o755)
        (root / ".vscode" / "tasks.json").write_text("{}")

    assert names_in(root) == [".vscode"]


def abandon(placeholders: Placeholders, root: Path) -> None:
    """Leave everything like a program that is killed while a command runs."""
    with placeholders.reserve(root, wanted(root)):
        keeper = next(placeholders.folder.iterdir())
        ledger = (keeper / "made.json").read_text()
    (keeper / "made.json").write_text(ledger)
    for path in wanted(root):
        path.mkdir()


def test_what_a_killed_program_left_is_removed_by_the_next_command(tmp_path: Path) -> None:
    placeholders, root = held_in(tmp_path)
    abandon(placeholders, root)

    with placeholders.reserve(root, wanted(root)):
        pass

    assert names_in(root) == []


def test_what_a_killed_program_left_is_removed_by_the_next_start(tmp_path: Path) -> None:
    placeholders, root = held_in(tmp_path)
    abandon(placeholders, root)

    placeholders.remove_abandoned()

    assert names_in(root) == []


def test_a_start_removes_nothing_of_a_running_command(tmp_path: Path) -> None:
    placeholders, root = held_in(tmp_path)

    with placeholders.reserve(root, wanted(root)):
        Placeholders(tmp_path / "guards").remove_abandoned()
        during = names_in(root)

    assert (during, names_in(root)) == ([".envrc", ".vscode"], [])
