"""Commands in files: formats, folders, names that are taken, and trust."""

from pathlib import Path

import pytest

from coder_tui.config.paths import Directories
from coder_tui.config.trust import Trust
from coder_tui.skills.command_files import (
    CommandFile,
    CommandFileError,
    Dialect,
    ExtensionPlaces,
    FoundCommands,
    find_commands,
    read_command,
)

FULL = b"""---
description: Fixes an issue
argument-hint: [number] [priority]
allowed-tools: Read, Bash(git diff:*)
model: openai/gpt
agent: plan
subtask: true
---
Fix $1.
"""


def test_markdown_with_every_field() -> None:
    assert read_command("git/fix.md", FULL, "fix.md", is_own=True) == CommandFile(
        "git:fix",
        "Fix $1.",
        Dialect.MARKDOWN,
        "fix.md",
        "Fixes an issue",
        "[number] [priority]",
        ("Read, Bash(git diff:*)",),
        "openai/gpt",
        "plan",
        is_subtask=True,
    )


def test_markdown_without_a_head_and_toml() -> None:
    plain = read_command("Fix.md", b"# Fix it\n\nnow\n", "x", is_own=True)
    assert (plain.name, plain.description, plain.body) == ("fix", "Fix it", "# Fix it\n\nnow")
    made = read_command("a/b.toml", b'description = "D"\nprompt = "Do {{args}}"\n', "x", is_own=False)
    assert made == CommandFile("a:b", "Do {{args}}", Dialect.TOML, "x", "D", is_own=False)


@pytest.mark.parametrize(
    ("inner", "data", "problem"),
    [
        ("a b.md", b"x", "x: 'a b' is not a valid command name; not used"),
        ("a.md", b"---\ndescription: [\n---\nx", "x:3: not valid YAML"),
        ("a.md", b"\xff", "x:1: not UTF-8 text; not used"),
        ("a.md", b"  \n", "x: the command has no prompt; not used"),
        ("a.toml", b"prompt = 3", "x: the command has no prompt; not used"),
        ("a.toml", b"prompt = ", "x:1:10: not valid TOML"),
        ("a.md", b"x" * 100_001, "x: its prompt is longer than 100000 characters; not used"),
    ],
    ids=["name", "head", "bytes", "empty", "number", "toml", "long"],
)
def test_problems_are_reported(inner: str, data: bytes, problem: str) -> None:
    with pytest.raises(CommandFileError) as caught:
        read_command(inner, data, "x", is_own=True)
    assert str(caught.value).startswith(problem)


class Folders:
    """The user's folder and a project, to put files into."""

    def __init__(self, base: Path) -> None:
        self.home, self.project = base / "home", base / "project"
        own = self.home / "own"
        self.directories = Directories(own, base / "data", base / "cache", base / "log")
        self.places = ExtensionPlaces(self.project, self.directories, self.home, {})

    def put(self, path: Path, text: str) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def trust(self) -> None:
        trust = Trust.load(self.directories)
        trust.accept(trust.inventory(self.project))

    def found(self, *taken: str) -> FoundCommands:
        return find_commands(self.places, Trust.load(self.directories), frozenset(taken))


@pytest.fixture
def folders(tmp_path: Path) -> Folders:
    return Folders(tmp_path)


def test_every_folder_is_looked_through_and_the_later_wins(folders: Folders) -> None:
    for folder in (".claude/commands", ".gemini/commands", ".config/opencode/command", "own/commands"):
        folders.put(folders.home / folder / "same.md", folder)
    folders.put(folders.home / ".gemini/commands/git/go.toml", 'prompt = "x"')
    assert [(each.name, each.body) for each in folders.found().commands] == [
        *(("git:go", "x"), ("same", "own/commands")),
    ]


def test_a_projects_commands_need_trust_in_their_content(folders: Folders) -> None:
    for folder in (".claude/commands", ".opencode/commands", ".gemini/commands", ".coder-tui/commands"):
        ending, text = (".toml", 'prompt = "x"') if "gemini" in folder else (".md", "x")
        folders.put(folders.project / folder / f"{folder[1:3]}{ending}", text)
    assert folders.found() == FoundCommands(
        problems=(
            "found .claude/commands/cl.md and 3 more commands, not used: this folder is not trusted; "
            "run 'coder-tui trust' to review them",
        )
    )
    folders.trust()
    assert [each.name for each in folders.found().commands] == ["cl", "co", "ge", "op"]
    folders.put(folders.project / ".claude/commands/cl.md", "changed")
    assert [each.name for each in folders.found().commands] == ["co", "ge", "op"]


def test_a_name_that_is_taken_gets_a_prefix(folders: Folders) -> None:
    folders.put(folders.home / "own/commands/help.md", "x")
    folders.put(folders.home / "own/commands/mine.md", "x")
    for name in ("help", "mine", "new"):
        folders.put(folders.project / f".claude/commands/{name}.md", "y")
    folders.trust()
    assert [(each.name, each.is_own) for each in folders.found("help").commands] == [
        *(("mine", True), ("new", False), ("project:help", False)),
        *(("project:mine", False), ("user:help", True)),
    ]


def test_a_link_that_leads_out_of_the_project_is_not_read(folders: Folders, tmp_path: Path) -> None:
    folders.put(tmp_path / "secret.md", "secret")
    (folders.project / ".claude/commands").mkdir(parents=True)
    (folders.project / ".claude/commands/x.md").symlink_to(tmp_path / "secret.md")
    folders.trust()
    assert folders.found() == FoundCommands(
        problems=(".claude/commands/x.md: leads out of the project through a link; not used",)
    )
