"""Run the project's own check after a turn that changed something; a failure goes back to the model.

The user chooses the check of a folder; if a command looks like one, they are asked about it once.
"""

import asyncio
import json
import re
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from uuid import uuid4

from coder_tui.agent.undo.file_changes import SessionChanges
from coder_tui.agent.user_shell import UserCommandRunner
from coder_tui.config.sections import VerifySection
from coder_tui.protocol.access import VERIFY
from coder_tui.protocol.display import TerminalBlock
from coder_tui.protocol.errors import StorageError
from coder_tui.protocol.messages import Attachment
from coder_tui.protocol.outcomes import NoticeLevel
from coder_tui.protocol.requests import Option, Question, QuestionAnswer, QuestionReply, QuestionRequest
from coder_tui.storage.manifest import Change
from coder_tui.storage.session_state import VerifyChoiceTable
from coder_tui.workspace.files.confine import relative_name

CHOSEN = "`{command}` runs after turns that change more than documents. /verify off ends it."
NONE_CHOSEN = "Nothing is checked after turns in this folder; /verify on changes that."
YES, NO, LATER = "Yes", "No", "Not now"
_QUESTION = (
    "`{command}` looks like the check of this project. Run it after every turn that changed something, "
    "so that the agent fixes what fails? Or type another command."
)


@dataclass(eq=False, slots=True)
class VerifyChoices:
    directory: Path
    store: VerifyChoiceTable
    ask: Callable[[QuestionRequest], Awaitable[QuestionReply]]
    notify: Callable[[NoticeLevel, str], None]
    look: Callable[[Path], str]
    _is_offered: bool = field(default=False, init=False)

    async def command(self) -> str:
        return await self.store.get(str(self.directory)) or ""

    async def choose(self, command: str) -> None:
        await self.store.set(str(self.directory), command)

    async def looks_like(self) -> str:
        return await asyncio.to_thread(self.look, self.directory)

    async def offer(self) -> None:
        """Ask, once a folder; who leaves it open is asked again in another session."""
        if self._is_offered or await self._is_chosen():
            return
        command = await self.looks_like()
        if not command or self._is_offered:
            return
        self._is_offered = True
        answer = await self._asked(command)
        # Somebody who is asked may choose by /verify instead.
        if answer.is_given and LATER not in answer.picked and not await self._is_chosen():
            await self._take(answer.text.strip() or (command if YES in answer.picked else ""))

    async def _is_chosen(self) -> bool:
        return await self.store.get(str(self.directory)) is not None

    async def _asked(self, command: str) -> QuestionAnswer:
        options = (
            Option(YES, "From the next turn on."),
            Option(NO, "This is not asked again here."),
            Option(LATER, "Asked again in another session."),
        )
        question = Question(_QUESTION.format(command=command), options, header="Check")
        request_id = uuid4().hex
        asked = QuestionRequest(request_id, f"verify-{request_id}", (question,), tool="verify")
        reply = await self.ask(asked)
        return reply.answers[0] if reply.answers else QuestionAnswer()

    async def _take(self, command: str) -> None:
        await self.choose(command)
        self.notify(NoticeLevel.INFO, CHOSEN.format(command=command) if command else NONE_CHOSEN)


_MOST_READ = 200_000


def checked_in(directory: Path) -> str:
    """A command that looks like the check of the project there; empty where none is seen. Blocks."""
    return next((command for command, is_there in _SIGNS if is_there(directory)), "")


def _text(path: Path) -> str:
    try:
        with path.open(encoding="utf-8", errors="replace") as file:
            return file.read(_MOST_READ)
    except OSError:
        return ""


def _has_npm_test(folder: Path) -> bool:
    try:
        script = json.loads(_text(folder / "package.json"))["scripts"]["test"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return False
    # What npm itself puts there.
    return isinstance(script, str) and "no test specified" not in script


def _has_pytest(folder: Path) -> bool:
    if (folder / "pytest.ini").exists() or (folder / "conftest.py").exists():
        return True
    has_tests = (folder / "tests").is_dir() or any(folder.glob("test_*.py"))
    return has_tests and any((folder / name).exists() for name in ("pyproject.toml", "setup.py", "setup.cfg"))


_SIGNS: tuple[tuple[str, Callable[[Path], bool]], ...] = (
    ("make test", lambda folder: re.search(r"^test\s*:", _text(folder / "Makefile"), re.M) is not None),
    ("pytest -q", _has_pytest),
    ("npm test", _has_npm_test),
    ("cargo test", lambda folder: (folder / "Cargo.toml").exists()),
    ("go test ./...", lambda folder: (folder / "go.mod").exists()),
)


OUTPUT = "output of the check"
MOST_CHARACTERS = 8_000
_LINES_OF_ERROR = 40
_DOCUMENTS = frozenset({".md", ".mdx", ".txt", ".rst", ".adoc"})
_NOT_DOCUMENTS = re.compile(r"(requirements|constraints).*\.txt|CMakeLists\.txt")
_TROUBLE = re.compile(r"error|fail|assert|traceback|panic|exception", re.IGNORECASE)
_TIMED_OUT = 124


@dataclass(eq=False, slots=True)
class Verifier:
    """Checks one session; `turn` returns the number of the running turn.

    `unseen` counts commands that may have changed something unnoticed.
    """

    rules: VerifySection
    choices: VerifyChoices
    commands: UserCommandRunner
    changes: SessionChanges
    turn: Callable[[], int]
    notify: Callable[[NoticeLevel, str], None]
    unseen: Callable[[], int]
    _unseen_before: int = field(default=0, init=False)
    _passed: "_Work | None" = field(default=None, init=False)
    _rounds: tuple[int, int] = field(default=(0, 0), init=False)
    newest: str = field(default="", init=False)
    """How the newest check ended, in a few words; empty before the first."""
    _is_unchecked: bool = field(default=False, init=False)

    async def after_turn(self) -> "Failure | None":
        """Check the work when the model has ended; return the failure to report to it, if any."""
        turn = self.turn()
        if not self.rules.enabled or not self._is_worth(await self._work(turn)):
            return None
        command = await self.command()
        if not command:
            self._is_unchecked = True
            return None
        return await self._check(command, turn)

    async def _work(self, turn: int) -> "_Work":
        return _Work(await self.changes.touched(turn), self.unseen())

    def _is_worth(self, work: "_Work") -> bool:
        """Return whether something other than documents may have changed since the last check."""
        before, self._unseen_before = self._unseen_before, work.unseen
        names = [relative_name(change.path, self.commands.directory) for change in work.changes]
        return work != self._passed and (work.unseen > before or not only_documents(names))

    async def command(self) -> str:
        """Return the command of the settings, else the one that the user chose for this folder."""
        return self.rules.command or await self.choices.command()

    async def offer(self) -> None:
        """Ask the user between turns whether they want a check; called by interactive front ends."""
        if not self._is_unchecked:
            return
        self._is_unchecked = False
        try:
            await self.choices.offer()
        except StorageError as error:
            self.notify(NoticeLevel.WARNING, str(error))

    async def run_now(self, command: str) -> TerminalBlock | None:
        limit = round(self.rules.timeout_sec * 1000)
        # Not tracked: what the check changes, or the user while it runs, is not the agent's work.
        shown = await self.commands.run(command, label=VERIFY, answer="verify.command", timeout_ms=limit)
        if shown is not None:
            self.newest = f"last check {'failed' if shown.exit_code else 'passed'}: {shown.command}"
        return shown

    async def _check(self, command: str, turn: int) -> "Failure | None":
        number = self._rounds[1] + 1 if self._rounds[0] == turn else 1
        self._rounds = (turn, number)
        shown = await self.run_now(command)
        if shown is None or not shown.exit_code:
            # What the user asks for after that is new work.
            self._rounds, self._passed = (turn, 0), await self._work(turn)
            return None
        if number > self.rules.max_rounds:
            words = f"The check still fails after {self.rules.max_rounds} rounds: {command}"
            self.notify(NoticeLevel.WARNING, words)
            return None
        return failure(shown, number, self.rules.max_rounds)


@dataclass(frozen=True, slots=True)
class _Work:
    """What a turn changed, and how many commands may have changed more."""

    changes: tuple[Change, ...]
    unseen: int


@dataclass(frozen=True, slots=True)
class Failure:
    """Only `words` are ours: what a check prints is the project's, and gives no orders."""

    words: str
    output: Attachment


async def no_check() -> Failure | None:
    """Check nothing."""
    return None


Check = Callable[[], Awaitable[Failure | None]]


def only_documents(names: Iterable[str]) -> bool:
    """Return True also if nothing was changed at all."""
    return all(_is_document(PurePath(name)) for name in names)


def _is_document(path: PurePath) -> bool:
    if _NOT_DOCUMENTS.fullmatch(path.name):
        return False
    return path.suffix.lower() in _DOCUMENTS or (len(path.parts) > 1 and path.parts[0] == "docs")


def failure(shown: TerminalBlock, number: int, most: int) -> Failure:
    end = "ran too long and was stopped" if shown.exit_code == _TIMED_OUT else f"ended with {shown.exit_code}"
    words = (
        f"The project's check `{shown.command}` {end} after your changes (round {number} of {most}). "
        "Fix what they broke; if it failed before them or cannot be fixed here, say so."
    )
    return Failure(words, Attachment(OUTPUT, relevant(shown.output)))


def relevant(output: str) -> str:
    """Return a short output whole; of a long one, the first error and the end."""
    text = output.strip()
    if len(text) <= MOST_CHARACTERS:
        return text
    lines = text.splitlines()
    first = next((place for place, line in enumerate(lines) if _TROUBLE.search(line)), 0)
    head = "\n".join(lines[max(0, first - 2) : first + _LINES_OF_ERROR])[: MOST_CHARACTERS // 2]
    tail = text[len(text) - MOST_CHARACTERS // 2 :].partition("\n")[2]
    return f"{head}\n[…]\n{tail}"
