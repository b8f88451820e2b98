"""The contract of a tool: it declares, the runner decides, it runs."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any, ClassVar, Generic, TypeVar

from pydantic import BaseModel, ConfigDict

from coder_tui.policy.shell.analyse import ShellCommand
from coder_tui.protocol.access import Target, ToolKind
from coder_tui.protocol.display import DisplayBlock
from coder_tui.protocol.errors import ToolError
from coder_tui.protocol.messages import Attachment

JsonObject = dict[str, Any]
"""A result on its way to the model: wire data."""


class Params(BaseModel):
    """Arguments of a tool; unknown keys are refused, so that a model learns of its mistake."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Audience(StrEnum):
    COMMON = "common"
    MAIN = "main"
    SUB = "sub"


@dataclass(frozen=True, slots=True)
class ProposedText:
    """A file as it is and as it would be, None where it is not there; one that moves is there already."""

    path: Path
    before: str | None
    after: str | None


@dataclass(frozen=True, slots=True)
class Access:
    """What `run` would touch, and how that looks to a person who must decide.

    `fingerprint` binds an approval to what was shown (a content hash); `run` checks it again.
    """

    targets: tuple[Target, ...]
    preview: DisplayBlock | None = None
    is_undoable: bool = False
    fingerprint: str = ""
    facts: tuple[str, ...] = ()
    command: ShellCommand | None = None
    """For a command: its parts and what they were found to do."""
    sandbox: str = ""
    """How a command would be confined, in a few words."""
    is_divisible: bool = False
    """Whether single hunks of the preview, a diff, can be left out."""
    asks_again: str = ""
    """Why a person must be asked though a rule allows it: what they allowed has changed since."""
    proposed: tuple[ProposedText, ...] = field(default=(), repr=False)
    """For an edit: the texts that it would write."""
    failure: ToolError | None = field(default=None, repr=False)
    """Why an edit cannot be made. It may quote the file, so the runner raises it only if that may be read."""


@dataclass(frozen=True, slots=True)
class ToolResult:
    """Two faces: `for_model` becomes JSON, `for_user` a widget. `summary` replaces the call's own."""

    for_model: JsonObject
    for_user: DisplayBlock
    summary: str = ""
    changed_paths: tuple[str, ...] = ()
    attachments: tuple[Attachment, ...] = ()
    """Pictures for a model that sees."""

    @property
    def is_ok(self) -> bool:
        return bool(self.for_model.get("ok", True))


def no_progress(text: str) -> None:
    """For calls that nobody watches."""


@dataclass(frozen=True, slots=True)
class ToolContext:
    """Facts of one call; services come by constructor. Cancelling the task cancels the call."""

    session_id: str
    call_id: str
    directory: Path
    message_id: str = ""
    agent: str = "build"
    progress: Callable[[str], None] = field(default=no_progress)
    access: Access | None = None
    """What was declared and approved, as `run` sees it."""
    sees_images: bool = False
    """Whether the model that called can look at pictures."""
    refused_hunks: tuple[int, ...] = ()
    """Hunks of the preview that must not be written."""


ParamsT = TypeVar("ParamsT", bound=Params)


class Tool(ABC, Generic[ParamsT]):
    """One thing a model can do. The description stands beside the module as `<name>.txt`."""

    name: str
    kind: ClassVar[ToolKind]
    display_name: str
    params: type[ParamsT]
    audience: ClassVar[Audience] = Audience.COMMON
    editable: ClassVar[str] = ""
    """The parameter that a person may rewrite in the approval, where there is one."""
    permission: str
    """The key that settings use for it and its like: `read`, `edit`, `bash`, …"""

    described: str = ""
    """The whole text for the model, where that does not come from a file."""

    def description(self) -> str | None:
        return self.described or None

    def variables(self) -> dict[str, object]:
        """Values for the `${…}` places of the description."""
        return {}

    @abstractmethod
    def summary(self, params: ParamsT) -> str:
        """One line for the call's widget."""

    @abstractmethod
    async def access(self, params: ParamsT, ctx: ToolContext) -> Access | None:
        """Say what `run` would touch (reading too) and show it; None touches nothing."""

    @abstractmethod
    async def run(self, params: ParamsT, ctx: ToolContext) -> ToolResult:
        """Do the work. Raise `ToolError` for what the model can mend."""
