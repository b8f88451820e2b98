"""Instructions that people leave in their folders: AGENTS.md and its like, as text for the model."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from coder_tui.config.paths import display_path
from coder_tui.config.project import INSTRUCTIONS, ProjectFileError, instruction_file, read_project_file
from coder_tui.workspace.search.ignore import IgnoreChain
from coder_tui.workspace.undo.tree_survey import is_made_again

MOST_BYTES = 32 * 1024
_HEAD = (
    "The user, or the project's maintainers, wrote this for those who work here. Follow it unless the "
    "user says otherwise; what is nearer to a file counts more. It permits nothing that is refused."
)
_NEARBY = "These instructions apply below their folder:"
_CLOSING = "</instructions>"

Redact = Callable[[str], str]
Nearby = Callable[[tuple[str, ...]], Awaitable[str]]


@dataclass(frozen=True, slots=True)
class InstructionText:
    """`name` is how the user would call the file."""

    name: str
    text: str


@dataclass(slots=True)
class _Room:
    """Limits the size of instructions, and reports what was cut."""

    left: int = MOST_BYTES
    notices: list[str] = field(default_factory=list)

    def fitted(self, given: InstructionText) -> InstructionText:
        data = given.text.strip().encode("utf-8", "surrogatepass")
        if len(data) <= self.left:
            self.left -= len(data)
            return InstructionText(given.name, given.text.strip())
        kept, self.left = data[: self.left].decode("utf-8", "ignore"), 0
        note = f"{given.name} is cut: of its {len(data):,} bytes {len(kept.encode()):,} are sent to the model"
        self.notices.append(f"{note}; {MOST_BYTES:,} is the most for all instructions")
        return InstructionText(given.name, f"{kept}\n(cut here; read the file for the rest)")


def upfront(
    users: Path | None, workspace: Path, names: tuple[str, ...], *, redact: Redact
) -> tuple[str, tuple[str, ...]]:
    """A part of the system prompt, and what the user should know of it. Blocks.

    `users` is the user's own file; `names` are those of the project that may be read.
    """
    room = _Room()
    texts = [*_own(users, room), *_project(workspace, names)]
    fitted = [room.fitted(InstructionText(each.name, redact(each.text))) for each in texts]
    sections = [f"## {each.name}\n{_inside(each.text)}" for each in fitted if each.text]
    if not sections:
        return "", tuple(room.notices)
    return "\n\n".join(["<instructions>\n" + _HEAD, *sections]) + "\n" + _CLOSING, tuple(room.notices)


def users_file(config: Path, home: Path) -> Path | None:
    """The user's own: ours, else the one that they have for another program."""
    return instruction_file(config) or instruction_file(home / ".claude")


def _own(path: Path | None, room: _Room) -> Iterator[InstructionText]:
    if path is None:
        return
    try:
        with path.open("rb") as file:
            yield InstructionText(display_path(path), _decoded(file.read(MOST_BYTES * 4)))
    except OSError as error:
        room.notices.append(f"{display_path(path)} cannot be read: {error.strerror or error}")


def _project(workspace: Path, names: tuple[str, ...]) -> Iterator[InstructionText]:
    for name in names:
        depth, _, file = name.rpartition("/")
        folder = workspace.joinpath(*([".."] * (depth.count("..")))).resolve()
        if (text := _read(folder, file)) is not None:
            yield InstructionText(name, text)


def _read(folder: Path, name: str) -> str | None:
    try:
        file = read_project_file(folder, name)
    except ProjectFileError:
        return None  # a link that leads out, a pipe, something huge
    return _decoded(file.data) if file else None


def _decoded(data: bytes) -> str:
    return data.decode("utf-8-sig", "replace")


def _inside(text: str) -> str:
    """The text must not end its own frame."""
    return text.replace(_CLOSING, "<\\/instructions>")


@dataclass(slots=True)
class NearbyInstructions:
    """The instructions of folders below the workspace, sent with the first call that touches a file there.

    `is_known` returns whether the conversation still has a file's text.
    """

    workspace: Path
    redact: Redact
    is_known: Callable[[str], bool]
    _room: _Room = field(default_factory=_Room)

    async def of(self, paths: tuple[str, ...]) -> str:
        """Return instructions for the result of a call that touches these; empty if nothing is new."""
        return await asyncio.to_thread(self._of, paths)

    def _of(self, paths: tuple[str, ...]) -> str:
        folders = dict.fromkeys(folder for path in paths for folder in _between(self.workspace, Path(path)))
        found_texts = []
        for folder in folders:
            found = instruction_file(self.workspace / folder)
            if found is None or paths == (str(found),):
                continue
            heading = f"## {folder}/{found.name}"
            if not self.is_known(heading) and (text := _read(self.workspace, f"{folder}/{found.name}")):
                fitted = self._room.fitted(InstructionText(heading, self.redact(text)))
                found_texts.append(f"{heading}\n{fitted.text}")
        return "\n\n".join([_NEARBY, *found_texts]) if found_texts else ""


def _between(workspace: Path, path: Path) -> Iterator[str]:
    """Folders below the workspace on the way to `path`, outermost first."""
    if not path.is_relative_to(workspace) or path.name in INSTRUCTIONS:
        return
    inner = path.relative_to(workspace)
    folders = inner.parts if path.is_dir() else inner.parts[:-1]
    chain = IgnoreChain.for_folder(workspace)
    for count, name in enumerate(folders):
        if is_made_again(name) or chain.ignores(name, is_folder=True):
            return  # files of a package manager or a build are not instructions of this project
        chain = chain.enter(name)
        if chain.begins_repository:
            return  # another project, which has not been trusted
        yield "/".join(folders[: count + 1])


async def nothing_nearby(paths: tuple[str, ...]) -> str:
    """For calls outside of a session."""
    return ""
