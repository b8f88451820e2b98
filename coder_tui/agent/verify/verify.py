"""After a turn that changed something the project's own check runs; what fails goes back to the model."""

import re
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from pathlib import PurePath

from coder_tui.agent.undo.file_changes import SessionChanges
from coder_tui.agent.undo.review import name_of
from coder_tui.agent.user_shell import ShownCommands
from coder_tui.agent.verify.command import VerifyChoices
from coder_tui.protocol.access import VERIFY
from coder_tui.protocol.display import TerminalBlock
from coder_tui.protocol.errors import StorageError
from coder_tui.protocol.messages import Attachment
from coder_tui.protocol.outcomes import NoticeLevel
from coder_tui.storage.manifest import Change

OUTPUT = "output of the check"
MOST_CHARACTERS = 8_000
_LINES_OF_ERROR = 40
_DOCUMENTS = frozenset({".md", ".mdx", ".txt", ".rst", ".adoc"})
_NOT_DOCUMENTS = re.compile(r"(requirements|constraints).*\.txt|CMakeLists\.txt")
_TROUBLE = re.compile(r"error|fail|assert|traceback|panic|exception", re.IGNORECASE)
_TIMED_OUT = 124


@dataclass(frozen=True, slots=True)
class VerifyRules:
    """The section `verify` of the settings."""

    is_enabled: bool = True
    command: str = ""
    max_rounds: int = 3
    timeout_sec: float = 300


class Verifier:
    """Serves one session; `turn` tells the number of the running one."""

    def __init__(
        self,
        rules: VerifyRules,
        choices: VerifyChoices,
        commands: ShownCommands,
        changes: SessionChanges,
        turn: Callable[[], int],
        notify: Callable[[NoticeLevel, str], None],
        unseen: Callable[[], int],
    ) -> None:
        """`unseen` counts commands of which nobody can tell whether they changed something."""
        self._rules = rules
        self.choices = choices
        self._commands = commands
        self._changes = changes
        self._turn = turn
        self._notify = notify
        self._unseen = unseen
        self._unseen_before = 0
        self._passed: _Work | None = None
        self._rounds: tuple[int, int] = (0, 0)
        self.newest = ""
        """How the newest check ended, in a few words; empty before there was one."""
        self._is_unchecked = False

    async def after_turn(self) -> "Failure | None":
        """When the model has ended: what it must hear, if anything."""
        turn = self._turn()
        if not self._rules.is_enabled or not self._is_worth(await self._work(turn)):
            return None
        command = await self.command()
        if not command:
            self._is_unchecked = True
            return None
        return await self._check(command, turn)

    async def _work(self, turn: int) -> "_Work":
        return _Work(await self._changes.touched(turn), self._unseen())

    def _is_worth(self, work: "_Work") -> bool:
        """Whether something may be otherwise that was not checked yet, and is no document."""
        before, self._unseen_before = self._unseen_before, work.unseen
        names = [name_of(change.path, self._commands.directory) for change in work.changes]
        return work != self._passed and (work.unseen > before or not only_documents(names))

    async def command(self) -> str:
        """The one in the settings, else what the person chose for this folder."""
        return self._rules.command or await self.choices.command()

    async def offer(self) -> None:
        """Called between turns by whoever has a person before them: is there a check that they want?"""
        if not self._is_unchecked:
            return
        self._is_unchecked = False
        try:
            await self.choices.offer()
        except StorageError as error:
            self._notify(NoticeLevel.WARNING, str(error))

    async def run_now(self, command: str) -> TerminalBlock | None:
        limit = round(self._rules.timeout_sec * 1000)
        # Not watched: what the check does, or the person meanwhile, is no work of the agent's.
        shown = await self._commands.run(command, label=VERIFY, answer="verify.command", timeout_ms=limit)
        if shown is not None:
            self.newest = f"last check {'failed' if shown.exit_code else 'passed'}: {shown.command}"
        return shown

    async def _check(self, command: str, turn: int) -> "Failure | None":
        number = self._rounds[1] + 1 if self._rounds[0] == turn else 1
        self._rounds = (turn, number)
        shown = await self.run_now(command)
        if shown is None or not shown.exit_code:
            # What the person asks for after that is other work.
            self._rounds, self._passed = (turn, 0), await self._work(turn)
            return None
        if number > self._rules.max_rounds:
            words = f"The check still fails after {self._rules.max_rounds} rounds: {command}"
            self._notify(NoticeLevel.WARNING, words)
            return None
        return failure(shown, number, self._rules.max_rounds)


@dataclass(frozen=True, slots=True)
class _Work:
    """What a turn did, as far as it was seen; with how many commands beside it was not."""

    changes: tuple[Change, ...]
    unseen: int


@dataclass(frozen=True, slots=True)
class Failure:
    """Ours are only the `words`: what a check prints is the project's, and asks for nothing."""

    words: str
    output: Attachment


async def no_check() -> Failure | None:
    """For turns after which nothing is checked."""
    return None


Check = Callable[[], Awaitable[Failure | None]]


def only_documents(names: Iterable[str]) -> bool:
    """Also where nothing was changed at all."""
    return all(_is_document(PurePath(name)) for name in names)


def _is_document(path: PurePath) -> bool:
    if _NOT_DOCUMENTS.fullmatch(path.name):
        return False
    return path.suffix.lower() in _DOCUMENTS or (len(path.parts) > 1 and path.parts[0] == "docs")


def failure(shown: TerminalBlock, number: int, most: int) -> Failure:
    end = "ran too long and was stopped" if shown.exit_code == _TIMED_OUT else f"ended with {shown.exit_code}"
    words = (
        f"The project's check `{shown.command}` {end} after your changes (round {number} of {most}). "
        "Mend what they broke; where it failed before them or cannot be mended here, say so."
    )
    return Failure(words, Attachment(OUTPUT, relevant(shown.output)))


def relevant(output: str) -> str:
    """All of a short output; of a long one the first trouble and the end."""
    text = output.strip()
    if len(text) <= MOST_CHARACTERS:
        return text
    lines = text.splitlines()
    first = next((place for place, line in enumerate(lines) if _TROUBLE.search(line)), 0)
    head = "\n".join(lines[max(0, first - 2) : first + _LINES_OF_ERROR])[: MOST_CHARACTERS // 2]
    tail = text[len(text) - MOST_CHARACTERS // 2 :].partition("\n")[2]
    return f"{head}\n[…]\n{tail}"
