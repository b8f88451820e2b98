"""Settings of what is kept so that turns can be undone."""

from pydantic import Field

from coder_tui.config.section import Section


class UndoSection(Section):
    """`commands`: whether the files of the workspace are looked at before and after each command."""

    commands: bool = True
    most_files: int = Field(default=50_000, ge=0)
    largest_file_mb: float = Field(default=10, ge=0)
    keep_days: float = Field(default=30, gt=0)
    keep_mb: float = Field(default=2000, ge=0)
