"""The contract of a tool: it declares, the runner decides, it runs.

Also what tools that name a path share: its parameter, its declaration, and the check of an approved place.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import Any, ClassVar, Generic, TypeVar

from pydantic import BaseModel, ConfigDict

from coder_tui.policy.command import ShellCommand
from coder_tui.protocol.access import Target, TargetKind, ToolKind
from coder_tui.protocol.comparison import Comparison
from coder_tui.protocol.display import DisplayBlock
from coder_tui.protocol.errors import ErrorType, ToolError
from coder_tui.protocol.messages import Attachment
from coder_tui.workspace.files.confine import Located, Workspace, folder_or_file, refuse_kernel_tree

JsonObject = dict[str, Any]
"""A result for the model: wire data."""


class Params(BaseModel):
    """The arguments of a tool; unknown keys are refused, so that a model notices its mistake."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class NoParams(Params):
    # No docstring: pydantic would send it to models as a description.
    pass


class Audience(StrEnum):
    COMMON = "common"
    MAIN = "main"
    SUB = "sub"


@dataclass(frozen=True, slots=True)
class ProposedText:
    """A file before and after; None if it does not exist. `after` of a moved file already exists."""

    path: Path
    before: str | None
    after: str | None


@dataclass(frozen=True, slots=True)
class Access:
    """What `run` would touch, and the preview for the user who decides.

    `fingerprint` ties an approval to what was shown (a content hash); `run` checks it again.
    """

    targets: tuple[Target, ...]
    preview: DisplayBlock | None = None
    is_undoable: bool = False
    fingerprint: str = ""
    facts: tuple[str, ...] = ()
    command: ShellCommand | None = None
    """The parts of a command and what they were found to do."""
    sandbox: str = ""
    """How a command would be confined, in a few words."""
    files: tuple[Comparison, ...] = field(default=(), repr=False)
    """The preview's diff as data; empty if single hunks cannot be refused."""
    asks_again: str = ""
    """Why the user must be asked although a rule allows it: what they allowed has changed."""
    proposed: tuple[ProposedText, ...] = field(default=(), repr=False)
    """The texts that an edit would write."""
    failure: ToolError | None = field(default=None, repr=False)
    """Why an edit cannot be made. It may quote the file, so the runner raises it only if that may be read."""


@dataclass(frozen=True, slots=True)
class ToolResult:
    """A result for both sides: `for_model` becomes JSON, `for_user` a widget.

    `summary` replaces the call's.
    """

    for_model: JsonObject
    for_user: DisplayBlock
    summary: str = ""
    changed_paths: tuple[str, ...] = ()
    attachments: tuple[Attachment, ...] = ()
    """Pictures for a model that can see them."""

    @property
    def is_ok(self) -> bool:
        return bool(self.for_model.get("ok", True))

    def with_fields(self, fields: JsonObject) -> "ToolResult":
        """Return a copy whose JSON for the model has these fields added or replaced."""
        return replace(self, for_model={**self.for_model, **fields})


def no_progress(text: str) -> None:
    """Ignore progress, for calls that nobody watches."""


@dataclass(frozen=True, slots=True)
class ToolContext:
    """Facts about one call; services come through the constructor. Cancelling the task cancels the call."""

    session_id: str
    call_id: str
    directory: Path
    message_id: str = ""
    agent: str = "build"
    progress: Callable[[str], None] = field(default=no_progress)
    access: Access | None = None
    """What was declared and approved; set when `run` is called."""
    sees_images: bool = False
    """Whether the calling model can see pictures."""
    refused_hunks: tuple[str, ...] = ()
    """Hunks of the declared files that must not be written, by id."""


ParamsT = TypeVar("ParamsT", bound=Params)


class Tool(ABC, Generic[ParamsT]):
    """One thing a model can do. Its description is in `<name>.txt` next to the module."""

    name: str
    kind: ClassVar[ToolKind]
    display_name: str
    params: type[ParamsT]
    audience: ClassVar[Audience] = Audience.COMMON
    editable: ClassVar[str] = ""
    """The parameter that the user may edit in the approval, if any."""
    permission: str
    """The key in the permission settings, shared by similar tools: `read`, `edit`, `bash`, …"""

    described: str = ""
    """The description for the model, if it does not come from a file."""

    def description(self) -> str | None:
        return self.described or None

    def variables(self) -> dict[str, object]:
        """Return the values for the `${…}` placeholders of the description."""
        return {}

    @abstractmethod
    def summary(self, params: ParamsT) -> str:
        """Return one line for the call's widget."""

    @abstractmethod
    async def access(self, params: ParamsT, ctx: ToolContext) -> Access | None:
        """Declare what `run` would touch, including reads, with a preview; None if nothing."""

    @abstractmethod
    async def run(self, params: ParamsT, ctx: ToolContext) -> ToolResult:
        """Do the work. Raise `ToolError` for what the model can fix."""


class PureTool(Tool[ParamsT]):
    """Touches nothing that must be declared."""

    async def access(self, params: ParamsT, ctx: ToolContext) -> None:
        return None


class PathParams(Params):
    path: str


PathParamsT = TypeVar("PathParamsT", bound=PathParams)


class PathReadingTool(Tool[PathParamsT]):
    """Reads one file or folder."""

    kind = ToolKind.READ
    permission = "read"

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    def variables(self) -> dict[str, object]:
        return {"directory": self._workspace.root}

    def summary(self, params: PathParamsT) -> str:
        return params.path

    async def access(self, params: PathParamsT, ctx: ToolContext) -> Access:
        return declare_reading(self._workspace.locate(params.path))


def declare_reading(located: Located) -> Access:
    """Declare a path to be read. Nothing about an outside path is revealed before the decision."""
    refuse_kernel_tree(located)
    if located.is_inside:
        folder_or_file(located)
    return Access((Target(TargetKind.PATH, str(located.path)),))


def locate_approved(workspace: Workspace, path: str, ctx: ToolContext) -> Located:
    """Locate `path` again for `run`; refuse if it leads elsewhere than when it was approved."""
    located = workspace.locate(path)
    check_same_place(located, path, ctx)
    return located


def check_same_place(located: Located, path: str, ctx: ToolContext) -> None:
    """Refuse a path that is not one of those that were approved."""
    if ctx.access is not None and str(located.path) not in {target.value for target in ctx.access.targets}:
        raise ToolError(
            ErrorType.PERMISSION_DENIED,
            f"{path} led elsewhere when it was approved; it now leads to {located.path}.",
            "Make the call again.",
        )
