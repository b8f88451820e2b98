"""Remembers which content of which project files a person trusts; everything else only tightens.

Extends trust to instructions that a person had written by this program, and approved.
"""

import hashlib
import json
import os
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol

from coder_tui.config.inventory import (
    CLAUDE_SETTINGS,
    FileState,
    ItemKind,
    ProjectInventory,
    ProjectItem,
    agent_item,
    command_item,
    hook_items,
    hooks_file,
    server_items,
    setting_items,
    skill_item,
    tool_item,
)
from coder_tui.config.mcp_files import PROJECT_NAMES, SHARED_NAMES, server_file, server_table
from coder_tui.config.other_programs import surrounding_items
from coder_tui.config.own_files import write_private
from coder_tui.config.paths import Directories, display_path
from coder_tui.config.project import (
    AGENT_FOLDERS,
    ANY_CONTENT,
    COMMAND_FOLDERS,
    CONFIG_NAMES,
    FOLDERS,
    INSTRUCTIONS,
    SKILL_FOLDERS,
    TOOL_FOLDER,
    ProjectFile,
    ProjectFileError,
    extension_names,
    instruction_names,
    read_project_file,
)
from coder_tui.config.settings_file import parse_settings
from coder_tui.protocol.errors import ConfigError, StorageError

STORE_NAME = "trust.json"
GIVEN_AS_TEXT = "is given to the model as text, also when it changes; it permits nothing"
_VERSION = 1


@dataclass(frozen=True, slots=True)
class Answer:
    """What a person said of one file's content; `at` is a time in UTC."""

    workspace: str
    file: str
    sha256: str
    at: str
    is_trusted: bool = True

    @property
    def is_own(self) -> bool:
        """Instructions that the person had written: people are asked about others whatever they say."""
        return self.sha256 != ANY_CONTENT and self.file.rpartition("/")[2] in INSTRUCTIONS


class Trust:
    """The answers of this person, kept in one file of theirs. The newest about a file counts."""

    def __init__(self, path: Path, answers: tuple[Answer, ...] = (), problem: str = "") -> None:
        self._path = path
        self._answers = answers
        self.problem = problem
        """Why the store could not be read: then nothing is trusted."""

    @classmethod
    def load(cls, directories: Directories) -> "Trust":
        path = directories.data / STORE_NAME
        try:
            return cls(path, _read(path))
        except (OSError, ValueError, TypeError, KeyError, RecursionError) as error:
            return cls(
                path, problem=f"{display_path(path)} cannot be read, so no project is trusted ({error})"
            )

    @property
    def answers(self) -> tuple[Answer, ...]:
        return self._answers

    def trusts(self, workspace: Path, file: ProjectFile) -> bool:
        answer = self._answer(_key(workspace), file.name)
        return answer is not None and answer.is_trusted and answer.sha256 == file.sha256

    def reads(self, workspace: Path, name: str) -> bool:
        """Whether the model may be given a file of instructions: by its own answer, else by any yes here."""
        key = _key(workspace)
        if (answer := self._answer(key, name)) is not None:
            is_as_written = not answer.is_own or answer.sha256 == _digest(workspace, name)
            return answer.is_trusted and is_as_written
        return self._has_yes(key)

    def written(self, workspace: Path) -> tuple[str, ...]:
        """Instructions that the person had written here, and that are still as they approved them."""
        found = ((name, self._answer(_key(workspace), name)) for name in instruction_names(workspace))
        own = tuple(name for name, answer in found if answer is not None and answer.is_own)
        return tuple(name for name in own if self.reads(workspace, name))

    def reads_instructions(self, workspace: Path) -> bool:
        """The same for all of them, those of folders further down included."""
        return all(self.reads(workspace, name) for name in (*instruction_names(workspace), INSTRUCTIONS[0]))

    def inventory(self, workspace: Path) -> ProjectInventory:
        """Look at the folder as it is now; reads files, runs nothing. Blocks."""
        files: list[FileState] = []
        items: list[ProjectItem] = []
        for file, problem in _project_files(workspace):
            if isinstance(file, ProjectFile):
                files.append(FileState(file.name, file.sha256, self.trusts(workspace, file)))
                items += _items(workspace, file)
            else:
                items.append(
                    ProjectItem(ItemKind.UNREADABLE, file, 0, f"{problem}; not used", needs_trust=False)
                )
        for name in instruction_names(workspace):
            is_read, is_own = self.reads(workspace, name), name in self.written(workspace)
            files.append(FileState(name, ANY_CONTENT, is_read, is_own))
            items.append(ProjectItem(ItemKind.INSTRUCTIONS, name, 0, GIVEN_AS_TEXT))
        items += surrounding_items(workspace)
        return ProjectInventory(_key(workspace), tuple(files), tuple(items))

    def accept(self, inventory: ProjectInventory) -> ProjectInventory:
        """Trust the content that was shown; what changed since stays untrusted. Blocks."""
        self._answered(inventory, is_trusted=True)
        return replace(inventory, files=tuple(replace(file, is_trusted=True) for file in inventory.files))

    def refuse(self, inventory: ProjectInventory) -> None:
        """Remember the no, so that the same content does not ask again."""
        self._answered(inventory, is_trusted=False)

    def is_refused(self, inventory: ProjectInventory) -> bool:
        """Whether every file that is not trusted was refused in this very content."""
        waiting = [file for file in inventory.files if not file.is_trusted]
        answers = [self._answer(inventory.workspace, file.name) for file in waiting]
        return bool(waiting) and all(
            answer is not None and answer.sha256 == file.sha256 and not answer.is_trusted
            for answer, file in zip(answers, waiting, strict=True)
        )

    def revoke(self, workspace: Path) -> int:
        """Forget every answer about a folder; returns how many there were."""
        key = _key(workspace)
        self._refresh()
        kept = tuple(answer for answer in self._answers if answer.workspace != key)
        count = len(self._answers) - len(kept)
        self._save(kept)
        return count

    def renew(self, workspace: Path, file: ProjectFile) -> None:
        """Trust one file's new content, which this program wrote itself."""
        self._put([Answer(_key(workspace), file.name, file.sha256, _now())])

    def extend(self, workspace: Path, name: str, before: str | None, after: str) -> None:
        """Read instructions that the person just had written, in exactly this content. Blocks.

        Only where nothing stood there, or what they had written before: other words need a yes of their own.
        """
        key = _key(workspace)
        self._refresh()
        answer = self._answer(key, name)
        was_own = answer is not None and answer.is_own and before and answer.sha256 == _digest_of(before)
        if was_own or (before is None and not self.reads(workspace, name)):
            self._put([Answer(key, name, _digest_of(after), _now())])

    def _has_yes(self, workspace: str) -> bool:
        return any(
            answer.is_trusted and not answer.is_own
            for answer in self._answers
            if answer.workspace == workspace
        )

    def _answer(self, workspace: str, name: str) -> Answer | None:
        found = (answer for answer in self._answers if (answer.workspace, answer.file) == (workspace, name))
        return next(found, None)

    def _answered(self, inventory: ProjectInventory, *, is_trusted: bool) -> None:
        now = _now()
        self._put(
            [Answer(inventory.workspace, file.name, file.sha256, now, is_trusted) for file in inventory.files]
        )

    def _put(self, new: list[Answer]) -> None:
        self._refresh()
        places = {(answer.workspace, answer.file) for answer in new}
        kept = [answer for answer in self._answers if (answer.workspace, answer.file) not in places]
        self._save((*kept, *new))

    def _refresh(self) -> None:
        """Another session may have answered meanwhile."""
        if self.problem:
            raise StorageError(f"{self.problem}; move the file away to start anew")
        try:
            self._answers = _read(self._path)
        except (OSError, ValueError, TypeError, KeyError, RecursionError) as error:
            raise StorageError(f"{display_path(self._path)} cannot be read ({error})") from error

    def _save(self, answers: tuple[Answer, ...]) -> None:
        text = json.dumps({"version": _VERSION, "answers": [asdict(answer) for answer in answers]}, indent=1)
        try:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            write_private(self._path, text.encode())
        except OSError as error:
            raise StorageError(
                f"cannot write {display_path(self._path)}: {error.strerror or error}"
            ) from error
        self._answers = answers


def _read(path: Path) -> tuple[Answer, ...]:
    try:
        text = path.read_text(encoding="utf-8")
    except (FileNotFoundError, NotADirectoryError):
        return ()
    stored = json.loads(text)
    if stored["version"] != _VERSION:
        raise ValueError(f"unknown version {stored['version']}")
    return tuple(Answer(**answer) for answer in stored["answers"])


def _project_files(workspace: Path) -> Iterator[tuple[ProjectFile | str, str]]:
    """Each file that trust is about, or its name and why it cannot be read."""
    names = [*CONFIG_NAMES, *PROJECT_NAMES, CLAUDE_SETTINGS]
    # One by one: a folder that cannot be used must not take the others with it.
    for folder in FOLDERS:
        try:
            names += extension_names(workspace, (folder,))
        except ProjectFileError as error:
            yield folder, str(error)
    for name in names:
        try:
            file = _read_as_used(workspace, name)
        except ProjectFileError as error:
            yield name, str(error)
            continue
        if file is not None:
            yield file, ""


def _read_as_used(workspace: Path, name: str) -> ProjectFile | None:
    """Of another program's settings only what is used here, so that trust does not hang on the rest."""
    if name == CLAUDE_SETTINGS:
        return hooks_file(workspace, name)
    return server_file(workspace, name) if name in PROJECT_NAMES else read_project_file(workspace, name)


def _items(workspace: Path, file: ProjectFile) -> Iterator[ProjectItem]:
    if file.name.startswith(SKILL_FOLDERS):
        yield skill_item(file.name)
        return
    if file.name.startswith(AGENT_FOLDERS):
        yield agent_item(file.name, file.data)
        return
    if file.name in PROJECT_NAMES:
        yield from _server_items(workspace, file)
        return
    if file.name.startswith(COMMAND_FOLDERS):
        yield command_item(file.name, file.data)
        return
    if file.name.startswith(TOOL_FOLDER):
        yield tool_item(file.name)
        return
    if file.name == CLAUDE_SETTINGS:
        yield from hook_items(file)
        return
    if file.name not in CONFIG_NAMES:
        yield ProjectItem(ItemKind.EXTENSION, file.name, 0, "extends the program")
        return
    try:
        settings = parse_settings(workspace / file.name, file.data)
    except ConfigError as error:
        yield ProjectItem(ItemKind.UNREADABLE, file.name, 0, str(error), needs_trust=False)
        return
    yield from setting_items(settings, file.name)


def _server_items(workspace: Path, file: ProjectFile) -> Iterator[ProjectItem]:
    """As they would be read: what a stricter reader would refuse must not be hidden by that."""
    try:
        servers = server_table(file)
    except ProjectFileError as error:
        yield ProjectItem(ItemKind.UNREADABLE, file.name, 0, f"{error}; not used", needs_trust=False)
        return
    try:
        settings = None if file.name in SHARED_NAMES else parse_settings(workspace / file.name, file.data)
    except ConfigError:
        settings = None

    def line(server: str) -> int:
        return settings.line(("mcpServers", server)) if settings else 0

    yield from server_items(servers, file.name, line)


def _digest(workspace: Path, name: str) -> str:
    try:
        file = read_project_file(workspace, name)
    except ProjectFileError:
        return ""
    return file.sha256 if file else ""


def _digest_of(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _key(workspace: Path) -> str:
    return os.path.realpath(workspace)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


class Vouching(Protocol):
    """Both methods block."""

    def covers(self, name: str) -> bool:
        """Whether sessions read this file, or would if there were one."""

    def vouch(self, path: Path, before: str | None, after: str) -> None:
        """The person had `after` written where `before` stood, None for nothing. May raise `StorageError`."""


class NoVouching:
    """For a session without a store of answers."""

    def covers(self, name: str) -> bool:
        return False

    def vouch(self, path: Path, before: str | None, after: str) -> None:
        return


@dataclass(frozen=True, slots=True)
class ProjectVouching:
    """Answers are read anew each time: another session may have given some."""

    directories: Directories
    workspace: Path

    def covers(self, name: str) -> bool:
        return not (self.workspace / name).exists() or Trust.load(self.directories).reads(
            self.workspace, name
        )

    def vouch(self, path: Path, before: str | None, after: str) -> None:
        if os.path.realpath(path.parent) == os.path.realpath(self.workspace):
            Trust.load(self.directories).extend(self.workspace, path.name, before, after)
