"""What else changes while a command runs: by this session, by another one, by the user."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from coder_tui.protocol.access import Mode
from coder_tui.storage.manifest import Change
from coder_tui.workspace.undo.tree_copies import Baseline
from tests.workspace.undo.test_command_snapshots import World, run_shell, world

__all__ = ["world"]
pytestmark = pytest.mark.parametrize("world", ["plain"], indirect=True)


@asynccontextmanager
async def edit(world: World, name: str, content: str, session: str = "") -> AsyncIterator[None]:
    """A tool changes a file; the block is run when it has, and before that is noted."""
    path, owner = world.root / name, session or world.session
    kept = await world.snapshots.before_change(owner, 1, "edit", [path])
    path.parent.mkdir(exist_ok=True)
    path.write_text(content)
    yield
    await world.snapshots.after_change(owner, kept)


async def begun(world: World) -> Baseline:
    return await world.commands.before(trusts_git=True)


def names(changes: tuple[Change, ...]) -> list[str]:
    return [change.path.name for change in changes]


async def test_an_edit_during_a_command_is_recorded_once(world: World) -> None:
    tree, before = world.tree(), await begun(world)
    async with edit(world, "a.txt", "edited\n"), edit(world, "new.txt", "new\n"):
        pass
    run_shell("echo x > made.txt", world.root)
    assert names(await world.noted(before)) == ["made.txt"]
    after = world.tree()

    assert (await world.undo()).conflicts == ()
    assert world.tree() == tree
    assert (await world.redo()).conflicts == ()
    assert world.tree() == after


@pytest.mark.parametrize("first", ["true", "echo before >> a.txt", "rm a.txt"])
@pytest.mark.parametrize("between", ["true", "echo between >> a.txt"])
@pytest.mark.parametrize("last", ["true", "echo after >> a.txt", "rm a.txt"])
async def test_a_command_and_edits_on_one_file_are_undone_together(
    world: World, first: str, between: str, last: str
) -> None:
    tree, before = world.tree(), await begun(world)
    run_shell(first, world.root)
    async with edit(world, "a.txt", "edited\n"):
        pass
    run_shell(between, world.root)
    async with edit(world, "a.txt", "edited again\n"):
        pass
    run_shell(last, world.root)
    await world.noted(before)
    after = world.tree()

    assert (await world.undo()).conflicts == ()
    assert world.tree() == tree
    assert (await world.redo()).conflicts == ()
    assert world.tree() == after


async def test_an_edit_may_restore_what_a_command_removed(world: World) -> None:
    tree, before = world.tree(), await begun(world)
    run_shell("rm -r src/deep; echo two > a.txt", world.root)
    async with edit(world, "src/deep/new.txt", "new\n"), edit(world, "a.txt", "one\n"):
        pass
    run_shell("chmod 700 src/deep; echo three > a.txt", world.root)
    await world.noted(before)

    assert (await world.undo()).conflicts == ()
    assert world.tree() == tree


async def test_a_command_may_remove_an_edit(world: World) -> None:
    tree, before = world.tree(), await begun(world)
    async with edit(world, "new/n.txt", "new\n"), edit(world, "a.txt", "edited\n"):
        pass
    run_shell("rm -r new; echo one > a.txt", world.root)
    await world.noted(before)

    assert (await world.undo()).conflicts == ()
    assert (await world.redo()).conflicts == ()
    assert world.tree() == tree


async def test_an_edit_that_lasts_longer_than_a_command_is_complete(world: World) -> None:
    tree, before = world.tree(), await begun(world)
    run_shell("echo before >> a.txt", world.root)
    async with edit(world, "a.txt", "edited\n"):
        assert await world.noted(before) == ()

    assert (await world.undo()).conflicts == ()
    assert world.tree() == tree


async def test_an_edit_that_began_before_a_command_is_complete(world: World) -> None:
    tree = world.tree()
    async with edit(world, "a.txt", "edited\n"):
        before = await begun(world)
    run_shell("echo after >> a.txt", world.root)
    await world.noted(before)

    assert (await world.undo()).conflicts == ()
    assert world.tree() == tree


async def test_edits_of_another_session_are_not_the_commands(world: World) -> None:
    other = await world.store.sessions.create(str(world.root), "m", Mode.ASK)
    before = await begun(world)
    async with edit(world, "theirs.txt", "theirs\n", other.id), edit(world, "a.txt", "theirs\n", other.id):
        pass
    run_shell("echo two > untracked.txt; echo more >> a.txt", world.root)
    assert names(await world.noted(before)) == ["a.txt", "untracked.txt"]

    assert (await world.undo()).conflicts == ()
    assert (world.root / "theirs.txt").read_text() == "theirs\n"
    assert (world.root / "a.txt").read_text() == "theirs\n", "only what came after it was undone"
    assert (await world.snapshots.restore(other.id, 1)).conflicts == ()
    assert (world.root / "a.txt").read_text() == "one\n"
