"""Play random histories of whole sessions: edits, commands, undos and redos of files, words or both.

    python -m bench.undo_turns --sequences 1000

Between them the user edits files, rejects changes in a review, and resumes the session; and saves files while
a command runs. Each undo and redo must be exact for every file, or leave it and name it; what was saved
during a command is named and can be exported; and when everything that was undone has been done
again, files and words must be as they were before the first undo.
"""

import argparse
import asyncio
import itertools
import json
import random
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from uuid import uuid4

from bench.undo import run
from bench.undo_model import COMMANDS, NAMES, Edge, States, by_hand, check, edges_between, look, states_of
from coder_tui.agent.session import Session
from coder_tui.agent.turn.model_request import ModelChoice
from coder_tui.agent.undo.review import Reviewed, compared, units_of
from coder_tui.agent.undo.undo import UndoResult, UndoScope
from coder_tui.bootstrap.session_factory import SessionFactory
from coder_tui.llm.client import ModelRequest, StreamFinished, StreamItem, TextChunk, ToolCallChunk
from coder_tui.protocol.access import Mode
from coder_tui.protocol.errors import UserError
from coder_tui.protocol.events import Event, RequestOpened, ToolFinished, ToolProgressed
from coder_tui.protocol.messages import FinishReason
from coder_tui.protocol.requests import ApprovalReply, Decision
from coder_tui.storage.store import Store
from tests.fakes.real_tools import setup_in

BEGAN, GO = "began", "go"
"""A command during which the user saves a file creates the first file and waits for the second."""


class Obedient:
    """Makes the given calls, one after the other, then says that it is done."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, dict[str, str]]] = []

    async def stream(self, request: ModelRequest) -> AsyncIterator[StreamItem]:
        if not self.calls:
            yield TextChunk("Done.")
            yield StreamFinished(FinishReason.STOP)
            return
        tool, arguments = self.calls.pop(0)
        yield ToolCallChunk(0, uuid4().hex, tool, json.dumps(arguments))
        yield StreamFinished(FinishReason.TOOL_CALLS)

    async def warm(self) -> None:
        return None

    async def close(self) -> None:
        return None


@dataclass
class Expected:
    """What a session should know: its edges, and which turns count."""

    edges: list[Edge] = field(default_factory=list)
    said: list[int] = field(default_factory=list)
    unsaid: list[int] = field(default_factory=list)
    files_undone: set[int] = field(default_factory=set)

    def begin(self, turn: int) -> None:
        """Forget what was undone; files that were kept belong to the turn before."""
        self.edges = [edge for edge in self.edges if not edge.is_undone]
        for edge in self.edges:
            if self.said and edge.turn > self.said[-1]:
                edge.turn = self.said[-1]
        self.unsaid.clear()
        self.files_undone.clear()
        self.said.append(turn)

    def note(self, before: States, after: States, turn: int) -> None:
        """Return the newest turn whose words and files are there: a change belongs to it now."""
        live = [each for each in self.said if each <= turn and each not in self.files_undone]
        owner = live[-1] if live else turn
        self.edges += edges_between(before, after, owner)


@dataclass
class Top:
    """The state before the first undo; a change by others makes it invalid."""

    states: States
    words: list[str]
    is_clean: bool = True


@dataclass
class Play:
    root: Path
    core: SessionFactory
    session: Session
    model: Obedient
    choice: random.Random
    expected: Expected = field(default_factory=Expected)
    top: Top | None = None
    moves: int = 0
    conflicts: int = 0
    returns: int = 0
    exported: int = 0
    saved: set[bytes] = field(default_factory=set)
    """What the user wrote while a command ran."""

    def states(self) -> States:
        return states_of(self.root)

    async def words(self) -> list[str]:
        stored = await self.core.store.load(self.session.id)
        return [message.text for message in stored.messages if message.role == "user"]

    def spoil(self) -> None:
        if self.top is not None:
            self.top.is_clean = False


async def a_turn(play: Play) -> None:
    choice, count = play.choice, play.choice.randrange(3)
    play.model.calls = [choice.choice((_tool, _tool, _command))(play) for _ in range(count)]
    number = play.session.turn + 1
    play.expected.begin(number)
    play.top = None
    steps = len(play.model.calls)
    seen = [play.states()]

    def on_event(event: Event) -> None:
        match event:
            case RequestOpened():
                play.session.answer(event.request.id, ApprovalReply(Decision.ALLOW_ONCE))
            case ToolProgressed() if event.text.startswith(BEGAN):
                _save(play)
                (play.root / GO).touch()
            case ToolFinished():
                # Each call is recorded separately: what a turn did to a file in two steps is two edges.
                seen.append(play.states())
            case _:
                pass

    unsubscribe = play.session.subscribe(on_event)
    await play.session.submit(f"turn {number}")
    unsubscribe()
    assert len(seen) == steps + 1, "a call did not run"
    for before, after in itertools.pairwise(seen):
        play.expected.note(before, after, number)


def _tool(play: Play) -> tuple[str, dict[str, str]]:
    free = [name for name in NAMES if look(play.root / name) is None]
    name = play.choice.choice(free or list(NAMES))
    return "create_file", {"path": name, "content": f"tool {play.choice.random()}\n"}


def _command(play: Play) -> tuple[str, dict[str, str]]:
    first, second = play.choice.sample(NAMES, 2)
    words = play.choice.choice(COMMANDS).format(
        n=play.choice.randrange(1000), a=first, b=second, m=play.choice.choice("04")
    )
    waits = f"echo {BEGAN}; until [ -e {GO} ]; do sleep 0.01; done; " if play.choice.random() < 0.3 else ""
    return "bash", {"command": f"{waits}{words} ; rm -f {GO} ; true {play.choice.random()}"}


def _save(play: Play) -> None:
    path = by_hand(play.root, play.choice, play.expected.edges)
    if path is not None:
        play.saved.add(path.read_bytes())


async def by_user(play: Play) -> None:
    if by_hand(play.root, play.choice, play.expected.edges) is not None:
        play.spoil()


async def reject(play: Play) -> None:
    """Reject, as the user, everything that the session did to one file."""
    files = [
        file
        for file in await play.session.changed_files()
        if str(file.path.relative_to(play.root)) in NAMES and not await play.session.review.stale([file])
    ]
    if not files:
        return
    file = play.choice.choice(files)
    comparison = compared(file, play.root)
    before = play.states()
    try:
        await play.session.review.settle([Reviewed(file, comparison, frozenset(units_of(comparison)))])
    except UserError:
        assert play.states() == before, "a refused review changed something"
        return
    play.expected.note(before, play.states(), play.session.turn)
    play.spoil()


async def undo(play: Play) -> None:
    scope = play.choice.choice((UndoScope.BOTH, UndoScope.BOTH, UndoScope.FILES, UndoScope.CONVERSATION))
    before, top = play.states(), Top(play.states(), await play.words())
    try:
        moved = await play.session.turns.undo(scope)
    except UserError:
        assert play.states() == before
        return
    play.top = play.top or top
    expected = play.expected
    if scope.has_messages:
        assert moved.turn == expected.said.pop()
        expected.unsaid.append(moved.turn)
    edges: list[Edge] = []
    if scope.has_files:
        known = {*expected.said, *expected.unsaid}
        expected.files_undone |= {turn for turn in known if turn >= moved.turn}
        edges = [edge for edge in expected.edges if edge.turn >= moved.turn and not edge.is_undone]
    await _check(play, moved, before, edges, is_undo=True)


async def redo(play: Play) -> None:
    scope = play.choice.choice(
        (UndoScope.BOTH, UndoScope.BOTH, UndoScope.BOTH, UndoScope.FILES, UndoScope.CONVERSATION)
    )
    before = play.states()
    try:
        moved = await play.session.turns.redo(scope)
    except UserError:
        assert play.states() == before
        return
    expected, edges = play.expected, list[Edge]()
    if scope.has_messages and moved.turn in expected.unsaid:
        assert moved.turn == expected.unsaid.pop()
        expected.said.append(moved.turn)
    if scope.has_files and moved.turn in expected.files_undone:
        expected.files_undone.discard(moved.turn)
        edges = [edge for edge in expected.edges if edge.turn == moved.turn and edge.is_undone]
    await _check(play, moved, before, edges, is_undo=False)
    if play.top and play.top.is_clean and not expected.unsaid and not expected.files_undone:
        play.returns += 1
        assert play.states() == play.top.states, "not all files came back"
        assert await play.words() == play.top.words, "not all words came back"


async def _check(play: Play, moved: UndoResult, before: States, edges: list[Edge], *, is_undo: bool) -> None:
    play.moves += 1
    if moved.conflicts:
        play.conflicts += 1
        play.spoil()
    refused = {name for name, _ in moved.conflicts}
    after = play.states()
    check(edges, before, after, refused, is_undo=is_undo)
    if is_undo:
        await _check_saved(play, moved, {name: was for name, was in before.items() if was != after[name]})


async def _check_saved(play: Play, moved: UndoResult, gone: States) -> None:
    """Check that what the user saved during a command, and the undo removed, is named and can be exported."""
    taken = {name: was[1] for name, was in gone.items() if was and was[1] in play.saved}
    if not taken:
        return
    assert set(taken) <= set(moved.seen), (taken, moved.seen, "was undone without a report")
    found = await play.session.turns.export_undone(1)
    kept = {(found.folder / name).read_bytes() for name in found.names}
    assert kept >= set(taken.values()), (taken, "what the user saved was lost")
    play.exported += len(taken)


async def resume(play: Play) -> None:
    identity = play.session.id
    await play.session.close()
    play.session = await play.core.resume(identity)


STEPS: tuple[Callable[[Play], Awaitable[None]], ...] = (
    *(a_turn, a_turn, a_turn, undo, undo, undo, redo, redo, redo, redo),
    *(by_user, reject, resume),
)


async def sequence(folder: Path, seed: int) -> Play:
    """Play one history; fail if an undo or a redo is not exact."""
    choice, root = random.Random(seed), folder / "project"
    root.mkdir()
    for name in NAMES[: choice.randrange(len(NAMES))]:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(f"first {name}\n")
    if seed % 2:
        run(root, "git init -q && git add -A && git -c user.name=n -c user.email=e commit -qm x")
    setup = setup_in(folder / "home", root, Mode.AUTO)
    store = await Store.open(setup.directories.database)
    model = Obedient()
    core = SessionFactory(setup, store, model, ModelChoice("scripted"))
    play = Play(root, core, await core.new_session(), model, choice)
    for _ in range(choice.randrange(8, 24)):
        await choice.choice(STEPS)(play)
    await play.session.close()
    await core.close()
    return play


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sequences", type=int, default=1_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    moves = conflicts = returns = exported = 0
    for seed in range(options.seed, options.seed + options.sequences):
        with tempfile.TemporaryDirectory() as folder:
            try:
                play = asyncio.run(sequence(Path(folder).resolve(), seed))
            except AssertionError as error:
                raise SystemExit(f"seed {seed}: {error}") from error
        moves, conflicts, returns = moves + play.moves, conflicts + play.conflicts, returns + play.returns
        exported += play.exported
    if options.sequences >= 100 and not (conflicts and exported):
        raise SystemExit("no conflict, or no save during a command, ever came up: nothing was tried")
    print(f"{options.sequences} sequences: {moves} undos and redos, {conflicts} with a conflict shown,")
    print(f"{returns} times everything was made again, all exact;")
    print(f"{exported} files that were saved during a command exported again")


if __name__ == "__main__":
    main()
