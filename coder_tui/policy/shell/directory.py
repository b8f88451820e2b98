"""Which folder each step of a line runs in, as far as `cd` tells."""

import posixpath
from dataclasses import dataclass, field

from coder_tui.policy.shell.links import resolved
from coder_tui.policy.shell.notes import Notes, joined
from coder_tui.policy.shell.words import Step

MOST_FOLDERS = 8


@dataclass(slots=True)
class DirectoryTracker:
    """A `cd` may fail, and after `;` or `||` nobody knows whether it did: then every folder so far counts."""

    directories: tuple[str, ...]
    seen: dict[str, None] = field(init=False)

    def __post_init__(self) -> None:
        self.seen = dict.fromkeys(self.directories)

    def enter(self, step: Step) -> None:
        if step.before not in {"&&", "|", ""}:
            self.directories = tuple(self.seen)

    def change(self, step: Step, notes: Notes) -> None:
        words = [word for word in step.words[1:] if word.text != "--"]
        if len(words) != 1 or not words[0].text or words[0].text.startswith(("-", "+")):
            notes.doubt("it is not clear which folder cd leads to")
            return
        word = words[0]
        if word.glob:
            notes.doubt("a pattern after cd may become any folder")
        notes.read(word, "cd goes there")
        # The shell itself forgets what stands before `..`, links or not.
        whole = tuple(joined(directory, word.text) for directory in self.directories)
        there = tuple(posixpath.normpath(path) for path in whole)
        if ".." in word.text.split("/") and any(map(_is_ambiguous, whole)):
            notes.doubt("shells differ on the folder above a link")
        self.seen.update(dict.fromkeys(there))
        stays = step.is_in_pipeline or step.after == "&"
        self.directories = tuple(self.seen) if stays else there
        if len(self.seen) > MOST_FOLDERS:
            notes.doubt("it changes the folder too often to be followed")
            self.seen = dict.fromkeys(tuple(self.seen)[:MOST_FOLDERS])


def _is_ambiguous(path: str) -> bool:
    """Where the folder that the text names is not there, bash goes where the kernel would."""
    return resolved(path) != resolved(posixpath.normpath(path))
