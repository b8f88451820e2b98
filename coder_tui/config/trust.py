"""Store which content of which project files the user trusts.

Files that are not trusted can only make things stricter. Instructions that the user had this program write,
and approved, are trusted as well.
"""

import hashlib
import json
import os
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from coder_tui.config import project
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
    other_program_items,
    server_items,
    setting_items,
    skill_item,
    tool_item,
)
from coder_tui.config.mcp_files import PROJECT_NAMES, SHARED_NAMES, server_file, server_table
from coder_tui.config.own_files import write_private
from coder_tui.config.paths import Directories, display_path
from coder_tui.config.project import ProjectFile, ProjectFileError, read_project_file
from coder_tui.config.settings_file import parse_settings
from coder_tui.protocol.errors import ConfigError, StorageError

STORE_NAME = "trust.json"
GIVEN_AS_TEXT = "is passed to the model as text, including later changes; it cannot grant permissions"
_VERSION = 1


@dataclass(frozen=True, slots=True)
class Answer:
    """The user's answer about the content of one file. `at` is a time in UTC."""

    workspace: str
    file: str
    sha256: str
    at: str
    is_trusted: bool = True

    @property
    def is_own(self) -> bool:
        """Whether these are instructions that the user had written. Others are trusted with any content."""
        return self.sha256 != project.ANY_CONTENT and self.file.rpartition("/")[2] in project.INSTRUCTIONS


class Trust:
    """The answers of the user, stored in one file. The newest answer about a file counts."""

    def __init__(self, path: Path, answers: tuple[Answer, ...] = (), problem: str = "") -> None:
        self._path = path
        self.answers = answers
        self.problem = problem
        """Why the store could not be read. Then nothing is trusted."""

    @classmethod
    def load(cls, directories: Directories) -> "Trust":
        path = directories.data / STORE_NAME
        try:
            return cls(path, _read(path))
        except (OSError, ValueError, TypeError, KeyError, RecursionError) as error:
            return cls(
                path, problem=f"{display_path(path)} cannot be read, so no project is trusted ({error})"
            )

    def trusts(self, workspace: Path, file: ProjectFile) -> bool:
        answer = self._answer(_key(workspace), file.name)
        return answer is not None and answer.is_trusted and answer.sha256 == file.sha256

    def may_read(self, workspace: Path, name: str) -> bool:
        """Return whether the model may get an instruction file, by the answer about it or the project."""
        key = _key(workspace)
        if (answer := self._answer(key, name)) is not None:
            is_as_written = not answer.is_own or answer.sha256 == _digest(workspace, name)
            return answer.is_trusted and is_as_written
        return self._is_trusted_folder(key)

    def own_instructions(self, workspace: Path) -> tuple[str, ...]:
        """Return the instructions that the user had written here, if unchanged since they approved them."""
        found = ((name, self._answer(_key(workspace), name)) for name in project.instruction_names(workspace))
        own = tuple(name for name, answer in found if answer is not None and answer.is_own)
        return tuple(name for name in own if self.may_read(workspace, name))

    def may_read_instructions(self, workspace: Path) -> bool:
        """Return whether the model may get all instruction files, including those of subfolders."""
        return all(
            self.may_read(workspace, name)
            for name in (*project.instruction_names(workspace), project.INSTRUCTIONS[0])
        )

    def inventory(self, workspace: Path) -> ProjectInventory:
        """List what the folder contains now. Reads files, runs nothing. Blocks."""
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
        for name in project.instruction_names(workspace):
            is_read, is_own = self.may_read(workspace, name), name in self.own_instructions(workspace)
            files.append(FileState(name, project.ANY_CONTENT, is_read, is_own))
            items.append(ProjectItem(ItemKind.INSTRUCTIONS, name, 0, GIVEN_AS_TEXT))
        items += other_program_items(workspace)
        return ProjectInventory(_key(workspace), tuple(files), tuple(items))

    def accept(self, inventory: ProjectInventory) -> ProjectInventory:
        """Trust the content that was shown. What changed since stays untrusted. Blocks."""
        self._answered(inventory, is_trusted=True)
        return replace(inventory, files=tuple(replace(file, is_trusted=True) for file in inventory.files))

    def refuse(self, inventory: ProjectInventory) -> None:
        """Store the refusal, so that the same content is not asked about again."""
        self._answered(inventory, is_trusted=False)

    def is_refused(self, inventory: ProjectInventory) -> bool:
        """Return whether every file that is not trusted was refused with exactly this content."""
        waiting = [file for file in inventory.files if not file.is_trusted]
        answers = [self._answer(inventory.workspace, file.name) for file in waiting]
        return bool(waiting) and all(
            answer is not None and answer.sha256 == file.sha256 and not answer.is_trusted
            for answer, file in zip(answers, waiting, strict=True)
        )

    def revoke(self, workspace: Path) -> int:
        """Delete every answer about a folder. Returns how many there were."""
        key = _key(workspace)
        self._refresh()
        kept = tuple(answer for answer in self.answers if answer.workspace != key)
        count = len(self.answers) - len(kept)
        self._save(kept)
        return count

    def trust_content(self, workspace: Path, file: ProjectFile) -> None:
        """Trust the new content of a file, which this program wrote."""
        self._put([Answer(_key(workspace), file.name, file.sha256, _now())])

    def trust_written(self, workspace: Path, name: str, before: str | None, after: str) -> None:
        """Trust instructions that the user just had written, with exactly this content. Blocks.

        Only if the file was missing or already theirs: other content needs its own answer.
        """
        key = _key(workspace)
        self._refresh()
        answer = self._answer(key, name)
        was_own = answer is not None and answer.is_own and before and answer.sha256 == _digest_of(before)
        if was_own or (before is None and not self.may_read(workspace, name)):
            self._put([Answer(key, name, _digest_of(after), _now())])

    def _is_trusted_folder(self, workspace: str) -> bool:
        return any(
            answer.is_trusted and not answer.is_own
            for answer in self.answers
            if answer.workspace == workspace
        )

    def _answer(self, workspace: str, name: str) -> Answer | None:
        found = (answer for answer in self.answers if (answer.workspace, answer.file) == (workspace, name))
        return next(found, None)

    def _answered(self, inventory: ProjectInventory, *, is_trusted: bool) -> None:
        now = _now()
        self._put(
            [Answer(inventory.workspace, file.name, file.sha256, now, is_trusted) for file in inventory.files]
        )

    def _put(self, new: list[Answer]) -> None:
        self._refresh()
        places = {(answer.workspace, answer.file) for answer in new}
        kept = [answer for answer in self.answers if (answer.workspace, answer.file) not in places]
        self._save((*kept, *new))

    def _refresh(self) -> None:
        """Read the answers again, because another session may have added some."""
        if self.problem:
            raise StorageError(f"{self.problem}; move the file away to start with an empty one")
        try:
            self.answers = _read(self._path)
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
        self.answers = answers


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
    """Yield each file that needs trust, or its name and why it cannot be read."""
    names = [*project.CONFIG_NAMES, *PROJECT_NAMES, CLAUDE_SETTINGS]
    # One by one, so that one unusable folder does not affect the others.
    for folder in project.FOLDERS:
        try:
            names += project.extension_names(workspace, (folder,))
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
    """Read a file, reduced to the parts that are used here, so that trust does not depend on the rest."""
    if name == CLAUDE_SETTINGS:
        return hooks_file(workspace, name)
    return server_file(workspace, name) if name in PROJECT_NAMES else read_project_file(workspace, name)


def _items(workspace: Path, file: ProjectFile) -> Iterator[ProjectItem]:
    if file.name.startswith(project.SKILL_FOLDERS):
        yield skill_item(file.name)
    elif file.name.startswith(project.AGENT_FOLDERS):
        yield agent_item(file.name, file.data)
    elif file.name in PROJECT_NAMES:
        yield from _server_items(workspace, file)
    elif file.name.startswith(project.COMMAND_FOLDERS):
        yield command_item(file.name, file.data)
    elif file.name.startswith(project.TOOL_FOLDER):
        yield tool_item(file.name)
    elif file.name == CLAUDE_SETTINGS:
        yield from hook_items(file)
    elif file.name in project.CONFIG_NAMES:
        yield from _setting_items(workspace, file)
    else:
        yield ProjectItem(ItemKind.EXTENSION, file.name, 0, "extends the program")


def _setting_items(workspace: Path, file: ProjectFile) -> Iterator[ProjectItem]:
    try:
        settings = parse_settings(workspace / file.name, file.data)
    except ConfigError as error:
        yield ProjectItem(ItemKind.UNREADABLE, file.name, 0, str(error), needs_trust=False)
    else:
        yield from setting_items(settings, file.name)


def _server_items(workspace: Path, file: ProjectFile) -> Iterator[ProjectItem]:
    """Yield the servers as they would be read, so that a stricter parser cannot hide any."""
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


@dataclass(frozen=True, slots=True)
class TrustedWrites:
    """Trusts what the user has this program write to a project.

    Both methods block. They read the answers again each time, because another session may have added some.
    """

    directories: Directories
    workspace: Path

    def covers(self, name: str) -> bool:
        """Return whether sessions read this file, or would read it if it existed."""
        return not (self.workspace / name).exists() or Trust.load(self.directories).may_read(
            self.workspace, name
        )

    def vouch(self, path: Path, before: str | None, after: str) -> None:
        """Trust `after`, which the user had written to replace `before`. May raise `StorageError`."""
        if os.path.realpath(path.parent) == os.path.realpath(self.workspace):
            Trust.load(self.directories).trust_written(self.workspace, path.name, before, after)
