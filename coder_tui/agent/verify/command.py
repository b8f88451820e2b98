"""Which check the person chose for a folder; whether one that looks right shall run they are asked once.

Which command looks like a project's own check.
"""

import asyncio
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Protocol
from uuid import uuid4

from coder_tui.protocol.outcomes import NoticeLevel
from coder_tui.protocol.requests import Option, Question, QuestionAnswer, QuestionReply, QuestionRequest

CHOSEN = "`{command}` runs after turns that change more than documents. /verify off ends it."
NONE_CHOSEN = "Nothing is checked after turns in this folder; /verify on changes that."
YES, NO, LATER = "Yes", "No", "Not now"
_QUESTION = (
    "This project looks as if `{command}` checks it. Shall that run after every turn that changed something, "
    "so that the agent mends what fails? Or type another command."
)


class ChoiceStore(Protocol):
    async def verify_choice(self, directory: str) -> str | None:
        """None where the person was never asked; empty where they chose none."""

    async def choose_verify(self, directory: str, command: str) -> None: ...


class Asks(Protocol):
    """Puts a question before the person and waits for what they say, also that nobody is there."""

    async def ask(self, request: QuestionRequest) -> QuestionReply: ...


class VerifyChoices:
    def __init__(
        self,
        directory: Path,
        store: ChoiceStore,
        asker: Asks,
        notify: Callable[[NoticeLevel, str], None],
        look: Callable[[Path], str],
    ) -> None:
        self._directory = directory
        self._store = store
        self._asker = asker
        self._notify = notify
        self._look = look
        self._is_offered = False

    async def command(self) -> str:
        return await self._store.verify_choice(str(self._directory)) or ""

    async def choose(self, command: str) -> None:
        await self._store.choose_verify(str(self._directory), command)

    async def looks_like(self) -> str:
        return await asyncio.to_thread(self._look, self._directory)

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
        return await self._store.verify_choice(str(self._directory)) is not None

    async def _asked(self, command: str) -> QuestionAnswer:
        options = (
            Option(YES, "From the next turn on."),
            Option(NO, "This is not asked again here."),
            Option(LATER, "Asked again in another session."),
        )
        question = Question(_QUESTION.format(command=command), options, header="Check")
        request_id = uuid4().hex
        asked = QuestionRequest(request_id, f"verify-{request_id}", (question,), tool="verify")
        reply = await self._asker.ask(asked)
        return reply.answers[0] if reply.answers else QuestionAnswer()

    async def _take(self, command: str) -> None:
        await self.choose(command)
        self._notify(NoticeLevel.INFO, CHOSEN.format(command=command) if command else NONE_CHOSEN)


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
