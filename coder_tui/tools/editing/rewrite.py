"""Turns a file's whole new content into its text: lines that stay keep their bytes, the rest its style."""

from coder_tui.diffs.line_match import matching_runs
from coder_tui.diffs.lines import split_lines
from coder_tui.tools.editing.view import to_line_feeds
from coder_tui.workspace.files import TextFile, show


def rewritten(before: TextFile, content: str) -> str:
    """Return `content` with the newlines, undecodable bytes and final-newline state of the file."""
    old = split_lines(before.text)
    new = split_lines(_with_same_end(before.text, to_line_feeds(content)))
    result = [line.replace("\n", before.newline) for line in new]
    for run in matching_runs([to_line_feeds(show(line)) for line in old], new):
        result[run.new : run.new + run.length] = old[run.old : run.old + run.length]
    return "".join(result)


def _with_same_end(before: str, content: str) -> str:
    if not before or not content:
        return content
    if before.endswith("\n"):
        return content if content.endswith("\n") else f"{content}\n"
    return content.removesuffix("\n")
