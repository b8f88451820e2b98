"""Whether a command of git shows what stands in files, and in which."""

from coder_tui.policy.paths import is_within
from coder_tui.policy.shell.flags import Arguments
from coder_tui.policy.shell.links import exists, resolved
from coder_tui.policy.shell.notes import Notes, joined
from coder_tui.policy.shell.tracked import tracked_secrets
from coder_tui.policy.shell.words import Word, named

# They show contents unless they are told to sum up.
_BY_ITSELF = named("diff show whatchanged diff-tree diff-index diff-files range-diff grep")
_WHEN_TOLD = named("log stash reflog")
_PATCHES = named(
    "-p -u -U -W -c -L --patch --unified --function-context --word-diff --word-diff-regex --color-words "
    "--patch-with-raw --patch-with-stat --cc --remerge-diff --binary --check --diff-merges -m"
)
_SUMS = named(
    "-s -l -q -X --no-patch --raw --stat --compact-summary --numstat --shortstat --dirstat --cumulative "
    "--summary --name-only --name-status --quiet --files-with-matches --files-without-match --count"
)
_MAGIC = frozenset("*?[:")


def note_tracked_secrets(command: str, found: Arguments, notes: Notes) -> None:
    """A secret that the repository keeps is read like any other."""
    if not _shows_contents(command, found):
        return
    for directory in notes.place.directories:
        secrets = tracked_secrets(resolved(directory) or directory)
        if secrets is None:
            notes.doubt("it cannot be told whether the repository keeps secrets")
        for path in _within(secrets or (), directory, found):
            notes.read(Word(path), "the repository keeps it, and its content may be shown")


def _shows_contents(command: str, found: Arguments) -> bool:
    if command in _WHEN_TOLD or (command in _BY_ITSELF and found.has(*_SUMS)):
        return command != "grep" and found.has(*_PATCHES)
    return command in _BY_ITSELF


def _within(secrets: tuple[str, ...], directory: str, found: Arguments) -> list[str]:
    """Those in the paths that it is limited to; git itself refuses what could be a version as well."""
    places = [joined(directory, word.text) for word in found.operands if _MAGIC.isdisjoint(word.text)]
    limits = tuple(path for place in places if exists(place) and (path := resolved(place)))
    return [secret for secret in secrets if not limits or is_within(secret, limits)]
