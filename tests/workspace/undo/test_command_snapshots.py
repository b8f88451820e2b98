"""What commands do to files can be undone and redone, with git and without; nothing else is touched."""

import asyncio
import os
import random
import subprocess
import sys
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from coder_tui.protocol.access import Mode
from coder_tui.shell.sandbox.sandbox import NOT_LOOKED_FOR
from coder_tui.storage.blobs import BlobStore
from coder_tui.storage.manifest import Change
from coder_tui.storage.store import Store
from coder_tui.workspace.files.confine import Workspace
from coder_tui.workspace.git.git import Git, GitObjects, ReadOnly
from coder_tui.workspace.undo.command_snapshots import CUT_OFF, CommandSnapshots
from coder_tui.workspace.undo.snapshots import Restored, SnapshotStore
from coder_tui.workspace.undo.tree_copies import Baseline, TreeCopies
from coder_tui.workspace.undo.tree_survey import TOO_MANY, SurveyLimits
from tests.workspace.trees import Tree, tree_of

LIMITS = SurveyLimits(most_files=1000, largest_bytes=100_000)


@dataclass
class World:
    root: Path
    copies: Path
    session: str
    store: Store
    commands: CommandSnapshots
    snapshots: SnapshotStore

    async def run(self, command: str, turn: int = 1, *, trusts_git: bool = True) -> tuple[str, ...]:
        """Run a command as the runner does; return the names that it changed."""
        before = await self.commands.before(trusts_git=trusts_git)
        await asyncio.to_thread(run_shell, command, self.root)
        changes = await self.noted(before, turn)
        return tuple(str(change.path.relative_to(self.root)) for change in changes)

    async def noted(self, before: Baseline, turn: int = 1) -> tuple[Change, ...]:
        number = await self.commands.begin(self.session, turn, before)
        return await self.commands.end(self.session, turn, f"call-{turn}", number, before)

    async def undo(self, turn: int = 1) -> Restored:
        return await self.snapshots.restore(self.session, turn)

    async def redo(self, turn: int = 1) -> Restored:
        return await self.snapshots.redo(self.session, turn)

    def tree(self) -> Tree:
        return tree_of(self.root)

    def copied(self) -> int:
        """Bytes."""
        return sum(path.stat().st_size for path in self.copies.glob("*.pack"))


@pytest.fixture(params=["git", "plain"])
async def world(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[World]:
    root = tmp_path / "project"
    (root / "src" / "deep").mkdir(parents=True)
    (root / "a.txt").write_text("one\n")
    (root / "src" / "b.py").write_text("b = 1\n")
    (root / "src" / "deep" / "c.bin").write_bytes(bytes(range(256)))
    (root / "run.sh").write_text("#!/bin/sh\n")
    (root / "run.sh").chmod(0o755)
    (root / "link").symlink_to("a.txt")
    (root / "private").mkdir(mode=0o700)
    if request.param == "git":
        git(root, "init", "-q")
        git(root, "add", "-A")
        git(root, "-c", "user.name=n", "-c", "user.email=e", "commit", "-qm", "first")
    (root / "untracked.txt").write_text("nobody else has this\n")
    store = await Store.open(tmp_path / "data" / "store.db")
    info = await store.sessions.create(str(root), "m", Mode.ASK)
    blobs = BlobStore(tmp_path / "data" / "blobs")
    copies = TreeCopies(tmp_path / "copies", (root,), LIMITS)
    objects = GitObjects(Git(Workspace(root), ReadOnly(NOT_LOOKED_FOR)), root)
    commands = CommandSnapshots(store.command_records, blobs, copies, objects, root)
    yield World(root, tmp_path / "copies", info.id, store, commands, SnapshotStore(store.changes, blobs))
    await store.close()


def run_shell(command: str, root: Path) -> None:
    subprocess.run(["/bin/sh", "-c", command], cwd=root, check=True, capture_output=True)


def git(root: Path, *words: str) -> None:
    subprocess.run(["git", *words], cwd=root, check=True, capture_output=True)


COMMANDS = {
    "changes a file": "echo two >> a.txt",
    "makes a file in new folders": "mkdir -p new/er && echo x > new/er/f",
    "removes a file": "rm untracked.txt",
    "removes a folder": "rm -rf src",
    "renames a file": "mv src/b.py moved.py",
    "renames a folder": "mv src lib",
    "changes a mode": "chmod 600 run.sh",
    "changes a folder's mode": "chmod 700 src",
    "closes a folder": "echo two > src/b.py && rm src/deep/c.bin && chmod 555 src src/deep",
    "makes a closed folder": "mkdir -m 700 new && echo x > new/x && chmod 500 new",
    "removes a private folder": "rm -rf private",
    "turns a link": "ln -sf run.sh link",
    "puts a folder in a file's place": "rm a.txt && mkdir a.txt && echo x > a.txt/x",
    "puts a file in a folder's place": "rm -rf src && echo x > src",
    "puts a link in a folder's place": "rm -rf src && ln -s /tmp src",
    "puts a file in a link's place": "rm link && cp a.txt link",
    "empties everything": "rm -rf a.txt src run.sh link untracked.txt",
    "keeps the time of a file": "touch -r a.txt ref && echo two > a.txt && touch -r ref a.txt && rm ref",
    "swaps two files": "mv a.txt t && mv untracked.txt a.txt && mv t untracked.txt",
}


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS.keys())
async def test_what_a_command_did_is_undone_and_done_again(world: World, command: str) -> None:
    before = world.tree()
    assert await world.run(command)
    after = world.tree()

    assert (await world.undo()).conflicts == ()
    assert world.tree() == before
    assert (await world.redo()).conflicts == ()
    assert world.tree() == after
    # Make closed folders writable again for the cleanup.
    await world.undo()


async def test_a_folder_that_stays_is_closed_again(world: World) -> None:
    await world.run("mkdir new && echo x > new/x && chmod 500 new")
    run_shell("chmod 700 new && echo > new/mine && chmod 500 new", world.root)

    await world.undo()

    assert world.tree()["new"] == ("folder", b"", 0o500)
    (world.root / "new").chmod(0o700)
    assert sorted(path.name for path in (world.root / "new").iterdir()) == ["mine"]


async def test_a_name_that_a_sandbox_keeps_free_is_nothing_that_a_command_took_away(world: World) -> None:
    before = world.tree()
    for name in (".vscode", ".mcp.json"):
        (world.root / name).mkdir(mode=0o555)

    assert await world.run("echo two > a.txt; rmdir .vscode .mcp.json") == ("a.txt",)
    await world.undo()
    assert world.tree() == before


@pytest.mark.parametrize("world", ["plain"], indirect=True)
async def test_a_name_that_is_kept_free_makes_no_repository(world: World) -> None:
    (world.root / ".gitignore").write_text("a.txt\n")
    (world.root / ".git").mkdir(mode=0o555)

    assert await world.run("echo two > a.txt; rmdir .git") == ("a.txt",)


async def test_a_command_that_only_looks_changes_nothing(world: World) -> None:
    assert await world.run("cat a.txt; touch a.txt") == ()


async def test_what_the_user_has_changed_since_stays(world: World) -> None:
    await world.run("echo two >> a.txt; echo x > new.txt; rm untracked.txt")
    (world.root / "a.txt").write_text("mine\n")

    restored = await world.undo()

    assert [conflict.path.name for conflict in restored.conflicts] == ["a.txt"]
    assert (world.root / "a.txt").read_text() == "mine\n"
    assert (world.root / "untracked.txt").read_text() == "nobody else has this\n"
    assert not (world.root / "new.txt").exists()


async def test_what_the_user_changed_between_two_commands_is_not_the_commands(world: World) -> None:
    await world.run("echo two >> a.txt", turn=1)
    (world.root / "untracked.txt").write_text("mine\n")
    await world.run("echo three >> a.txt", turn=2)

    assert (await world.undo(turn=1)).conflicts == ()
    assert (world.root / "a.txt").read_text() == "one\n"
    assert (world.root / "untracked.txt").read_text() == "mine\n"


@pytest.mark.parametrize("world", ["git"], indirect=True)
async def test_what_git_has_is_not_copied_unless_the_command_may_write_there(world: World) -> None:
    await world.run("true")
    assert world.copied() == len("nobody else has this\n"), "only the file that git does not know"

    await world.run("true", trusts_git=False)
    assert world.copied() > 256


@pytest.mark.parametrize("world", ["git"], indirect=True)
async def test_the_repository_may_go_when_everything_was_copied(world: World) -> None:
    before = world.tree()
    await world.run("rm -rf src a.txt .git", trusts_git=False)

    assert (await world.undo()).conflicts == ()
    assert world.tree() == before


@pytest.mark.parametrize("world", ["git"], indirect=True)
async def test_a_file_that_was_ignored_before_is_never_taken_for_the_commands_own(world: World) -> None:
    (world.root / ".gitignore").write_text("*.env\n")
    (world.root / "secret.env").write_text("mine\n")

    changed = await world.run("echo > .gitignore; echo more >> secret.env")

    assert changed == (".gitignore",)
    assert (await world.undo()).conflicts == ()
    assert (world.root / "secret.env").read_text() == "mine\nmore\n"


@pytest.mark.parametrize("world", ["git"], indirect=True)
async def test_a_tracked_file_counts_though_a_pattern_ignores_it(world: World) -> None:
    (world.root / ".gitignore").write_text("*.txt\n")

    assert await world.run("echo two > a.txt") == ("a.txt",)
    await world.undo()
    assert (world.root / "a.txt").read_text() == "one\n"


async def test_what_is_not_covered_is_said(world: World) -> None:
    (world.root / "large.bin").write_bytes(bytes(LIMITS.largest_bytes + 1))
    (world.root / "node_modules").mkdir()
    (world.root / ".gitignore").write_text("node_modules\n")

    assert await world.run("echo > large.bin") == ()

    said = await world.commands.uncovered(world.session, 1)
    assert "large.bin (too large)" in said
    assert "node_modules (" in said


async def test_what_undo_does_not_cover_is_reported(world: World) -> None:
    (world.root / ".gitignore").write_text("")
    await world.run(f"echo two > a.txt; head -c {LIMITS.largest_bytes + 1} /dev/zero > big", turn=2)

    assert await world.commands.uncovered(world.session, 2) == (
        "Undo does not cover big (too large); nor .git, what background jobs did, "
        "and places outside this folder."
    )
    assert await world.commands.uncovered(world.session, 3) == "", "no command ran"


@pytest.mark.parametrize("world", ["git"], indirect=True)
async def test_a_tracked_file_is_not_among_what_git_ignores(world: World) -> None:
    (world.root / ".gitignore").write_text("*.txt\n")

    await world.run("rm a.txt")

    assert "Undo does not cover untracked.txt (ignored by git);" in await world.commands.uncovered(
        world.session, 1
    )


async def test_a_command_that_never_ended_is_said(world: World) -> None:
    before = await world.commands.before(trusts_git=True)
    await world.commands.begin(world.session, 1, before)

    assert (await world.commands.uncovered(world.session, 1)).startswith(CUT_OFF)


async def test_with_too_many_files_what_is_new_is_left_alone(world: World) -> None:
    many = TreeCopies(world.copies / "few", (world.root,), SurveyLimits(most_files=3))
    before = many.take_baseline((), frozenset())
    (world.root / "zz.txt").write_text("perhaps the user's\n")
    (world.root / "a.txt").write_text("two\n")

    touched = many.touched(before)
    assert set(touched.paths) == {str(world.root / "a.txt")}
    assert touched.uncovered[str(world.root)] == TOO_MANY


async def test_a_file_changed_within_a_tick_of_the_clock_is_seen(world: World) -> None:
    for number in range(20):
        assert await world.run(f"printf %03d {number} > tick", turn=number + 1) == ("tick",)


async def test_missing_copies_are_made_again(world: World) -> None:
    await world.run("true", trusts_git=False)
    for pack in world.copies.glob("*.pack"):
        pack.unlink()
    before = world.tree()

    await world.run("rm -rf src untracked.txt", trusts_git=False)

    assert (await world.undo()).conflicts == ()
    assert world.tree() == before


OPERATIONS = (
    "echo {n} >> {a}",
    "rm -rf {a}",
    "mkdir -p {a}.d && echo {n} > {a}.d/f",
    "[ ! -e {a} ] || mv {a} {b}.moved",
    "[ -f {a} ] && chmod 6{m}4 {a} || true",
    "ln -sfn {b} {a}.link",
    "cp -r src {a}.copy",
)


@pytest.mark.parametrize("seed", range(6))
async def test_random_commands_edits_and_undos_end_exact(world: World, seed: int) -> None:
    """Undo every turn in the end; the trees on the way back are those of the way forward."""
    choice = random.Random(seed)
    trees = [world.tree()]
    for turn in range(1, 6):
        names = [name for name in world.tree() if not name.startswith(".git")] or ["a.txt"]
        words = " ; ".join(
            choice.choice(OPERATIONS).format(
                n=turn, a=choice.choice(names), b=choice.choice(names), m=choice.choice("04")
            )
            for _ in range(3)
        )
        before = await world.commands.before(trusts_git=True)
        await asyncio.to_thread(run_shell, f"{words}; true", world.root)
        await world.noted(before, turn)
        trees.append(world.tree())
    for turn in range(5, 0, -1):
        assert (await world.undo(turn)).conflicts == (), os.linesep.join(map(str, trees))
        assert world.tree() == trees[turn - 1]


async def test_another_program_in_the_folder_takes_no_copies_away(world: World, tmp_path: Path) -> None:
    """A second process keeps its copies elsewhere while the first one lives."""
    await world.run("true", trusts_git=False)
    copied = world.copied()
    code = (
        "import sys; from pathlib import Path\n"
        "from coder_tui.workspace.undo.tree_copies import TreeCopies\n"
        "from coder_tui.workspace.undo.tree_survey import SurveyLimits\n"
        "TreeCopies(Path(sys.argv[1]), (Path(sys.argv[2]),), SurveyLimits()).take_baseline((), frozenset())\n"
    )
    other = [sys.executable, "-c", code, str(world.copies), str(world.root)]
    await asyncio.to_thread(subprocess.run, other, check=True)

    assert world.copied() == copied
    assert list((tmp_path / "copies-2").glob("*.pack"))
    before = world.tree()
    await world.run("rm -rf src a.txt", trusts_git=False)
    assert (await world.undo()).conflicts == ()
    assert world.tree() == before


async def test_a_folder_that_became_a_link_to_itself_is_restored(world: World) -> None:
    before = world.tree()

    await world.run("echo x > a.txt; rm -r src; ln -s src src")

    assert (await world.undo()).conflicts == ()
    assert world.tree() == before
