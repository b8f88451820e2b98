"""Ties a call to what was declared for it: the place that was approved is the place that is used."""

from coder_tui.protocol.access import Target, TargetKind
from coder_tui.protocol.errors import ErrorType, ToolError
from coder_tui.tools.base import Access, ToolContext
from coder_tui.workspace.confine import Located, Workspace, folder_or_file, refuse_kernel_tree


def declare_reading(located: Located) -> Access:
    """Declare a place that is read. Of what lies outside nothing is told before that is decided on."""
    refuse_kernel_tree(located)
    if located.is_inside:
        folder_or_file(located)
    return Access((Target(TargetKind.PATH, str(located.path)),))


def locate_approved(workspace: Workspace, path: str, ctx: ToolContext) -> Located:
    """Locate `path` anew for `run`; refuse when it leads elsewhere than when it was approved."""
    located = workspace.locate(path)
    if ctx.access is not None and str(located.path) not in {target.value for target in ctx.access.targets}:
        raise ToolError(
            ErrorType.PERMISSION_DENIED,
            f"{path} led elsewhere when it was approved; it is {located.path} now.",
            "Make the call again.",
        )
    return located
