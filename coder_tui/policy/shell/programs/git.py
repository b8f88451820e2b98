"""git: what reads, what changes the repository, what reaches other machines, what runs programs.

Whether a command of git shows what stands in files, and in which.
"""

import re
from itertools import takewhile
from urllib.parse import urlsplit

from coder_tui.policy.paths import is_secret, is_within, may_name_a_secret
from coder_tui.policy.shell.call import Arguments, Call, FlagTable, Judge, check_text, take_apart
from coder_tui.policy.shell.disk import exists, is_link, resolved
from coder_tui.policy.shell.notes import Notes, Word, joined, literal, named
from coder_tui.policy.shell.programs.git_reading import (
    LISTING_BRANCHES,
    LISTING_STASHES,
    LISTING_TAGS,
    READING_COMMANDS,
)
from coder_tui.policy.shell.repository import runs_programs, tracked_secrets
from coder_tui.protocol.findings import FindingKind

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


_HARMLESS_GLOBALS = frozenset({"--no-pager", "--no-optional-locks", "--literal-pathspecs"})
_VALUED_GLOBALS = frozenset(
    {"-C", "-c", "--git-dir", "--work-tree", "--namespace", "--exec-path", "--config-env"}
)
_NETWORK = frozenset({"clone", "fetch", "pull", "push", "ls-remote", "remote-update", "archive-remote"})
_RUNNING = named("bisect difftool filter-branch gui gitk hook instaweb mergetool rebase send-email submodule")
_WRITING = named(
    "add am apply branch checkout cherry-pick clean clone commit config fetch gc init maintenance merge "
    "mv notes pull prune push rebase reflog remote replace reset restore revert rm sparse-checkout stash "
    "submodule switch tag update-index update-ref worktree write-tree commit-tree symbolic-ref repack "
    "pack-refs bisect lfs filter-branch"
)
_LOSING = frozenset(
    {"checkout", "clean", "reset", "restore", "rm", "switch", "stash", "worktree", "filter-branch"}
)
_HOOKED = frozenset(
    {"commit", "merge", "rebase", "push", "checkout", "switch", "pull", "am", "cherry-pick", "revert"}
)
_DANGEROUS = re.compile(
    r"-c|-x|--config.*|--exec.*|--template.*|--output.*|--extcmd.*|-O.*|--open-files.*|-X.*|--filter-t.*"
)
# Git completes any beginning of them that no other option has.
_DANGEROUS_LONG = (
    *("--upload-pack", "--receive-pack", "--exec", "--config", "--config-file", "--template", "--output"),
    *("--separate-git-dir", "--git-dir", "--work-tree", "--strategy", "--strategy-option", "--expire-to"),
    *("--ext-diff", "--textconv", "--extcmd", "--open-files-in-pager"),
    *("--build-fake-ancestor", "--unsafe-paths"),
)
_DANGEROUS_LETTERS = {"clone": "cu", "merge": "sX", "pull": "sX"}
# What follows them in a cluster is their value.
_VALUED_LETTERS = frozenset("bjmoF")
# They neither look at the working tree nor compare contents, so no setting of a repository matters.
_HARMLESS_ANYWHERE = named(
    "rev-parse rev-list branch tag remote config for-each-ref cat-file show-ref merge-base ls-tree "
    "name-rev version "
    "var count-objects worktree symbolic-ref reflog shortlog check-ignore check-attr"
)
_SHOWING = named(
    "log diff show whatchanged blame annotate grep cat-file diff-tree diff-index diff-files range-diff "
    "stash shortlog"
)
_PATTERN = re.compile(r"[*?\[]")
_STRANGE_URL = re.compile(r"^(ext|fd|file|transport)::?")


def _judge_git(call: Call, notes: Notes) -> None:
    words = _without_globals(list(call.arguments), notes)
    if not words:
        _judge_bare(call, notes)
        return
    command, arguments = words[0].text, words[1:]
    without_flags = " ".join(word.text for word in (*literal("git"), *words))
    notes.other_texts.append(without_flags)
    if all(word.text in _HARMLESS_GLOBALS for word in call.arguments[: len(call.arguments) - len(words)]):
        notes.plain_text = without_flags
    if any(word.may_become_a_flag for word in arguments) or notes.has_more_operands:
        notes.doubt("a file whose name is a flag may be among what git is given")
    _check_place(command, notes)
    if (table := _reading_table(command, arguments)) is not None:
        _judge_reading(command, arguments, table, notes)
    elif command in READING_SHORT and READING_SHORT[command](arguments):
        notes.find(FindingKind.READS, "", "the repository")
    else:
        _judge_writing(command, arguments, notes)


def _judge_bare(call: Call, notes: Notes) -> None:
    if not call.arguments or any(
        word.text not in {"--version", "--help", "-v", "-h"} for word in call.arguments
    ):
        notes.doubt("git is given no command")


def _without_globals(words: list[Word], notes: Notes) -> list[Word]:
    while (
        words and words[0].text.startswith("-") and words[0].text not in {"--version", "--help", "-v", "-h"}
    ):
        word = words.pop(0)
        if word.text in _HARMLESS_GLOBALS:
            continue
        notes.doubt(f"git {word.text.partition('=')[0]} changes where or how git works")
        if word.text in _VALUED_GLOBALS and words:
            words.pop(0)
    return [] if words and words[0].text.startswith("-") else words


def _check_place(command: str, notes: Notes) -> None:
    """A repository that lies inside the workspace brings its own settings, and those can name programs."""
    for directory in notes.place.directories:
        if any(_is_nested_repository(folder) for folder in _below_roots(directory, notes.place.roots)):
            notes.doubt("another repository lies there, whose settings may run programs")
        elif command not in _HARMLESS_ANYWHERE and runs_programs(directory):
            notes.doubt("the repository's settings make git run programs (a filter, fsmonitor, textconv …)")


def _below_roots(directory: str, roots: tuple[str, ...]) -> list[str]:
    folders = []
    current = resolved(directory) or directory
    while current not in roots and any(current.startswith(root.rstrip("/") + "/") for root in roots):
        folders.append(current)
        current = current.rpartition("/")[0]
    return folders


def _is_nested_repository(folder: str) -> bool:
    has_bare_parts = all(exists(f"{folder}/{name}") for name in ("HEAD", "objects", "refs"))
    return has_bare_parts or exists(f"{folder}/.git")


def _reading_table(command: str, arguments: list[Word]) -> FlagTable | None:
    first = arguments[0].text if arguments else ""
    match command:
        case "branch" if all(word.is_flag for word in arguments) or _is_listing(arguments):
            return LISTING_BRANCHES
        case "tag" if all(word.is_flag for word in arguments) or _is_listing(arguments):
            return LISTING_TAGS
        case "stash" if first in {"list", "show"}:
            return LISTING_STASHES
        case "reflog" if first in {"", "show"} or first.startswith("-"):
            return READING_COMMANDS["log"]
        case _:
            return READING_COMMANDS.get(command)


def _is_listing(arguments: list[Word]) -> bool:
    return any(
        word.text in {"--list", "-l", "--contains", "--merged", "--no-merged", "--points-at", "-n"}
        for word in arguments
    )


def _judge_reading(command: str, arguments: list[Word], table: FlagTable, notes: Notes) -> None:
    found = take_apart(arguments, table, notes)
    notes.find(FindingKind.READS, "", "the repository")
    if any("%G" in word.text or "signature" in word.text for word in arguments):
        notes.doubt("looking at signatures runs a program that the repository can name")
    for word in found.operands if command in _SHOWING else ():
        _check_operand(word, notes)
    check_text(found.operands, notes)
    note_tracked_secrets(command, found, notes)
    for word in found.given.get("-L", []):
        _check_operand(word, notes)
    if command == "cat-file" and not found.has("-t", "-s", "-e", "-p") and len(found.operands) < 2:
        notes.doubt("git cat-file waits for input")


def _check_operand(word: Word, notes: Notes) -> None:
    """A revision, a path, or `revision:path`; what leads outside or to a secret is looked at as a path."""
    if word.doubt:
        notes.doubt(word.doubt)
    if word.text.startswith((":!", ":^", ":(exclude)")):
        return
    # git looks for patterns by itself, in what was quoted as well, and in hidden names.
    for text in {word.text, word.text.rpartition(":")[2], word.text.rpartition(")")[2]}:
        if _PATTERN.search(text) and may_name_a_secret(text):
            notes.doubt(f"{text} may stand for a file with secrets")
        is_outside = text.startswith("/") or ".." in text.split("/")
        if is_outside or is_secret(text) or _leads_away(text, notes):
            notes.read(Word(text))


def _leads_away(text: str, notes: Notes) -> bool:
    """Outside its repository git compares files that it was never told of: through a link, too."""
    return any(is_link(joined(directory, text)) for directory in notes.place.directories)


def _judge_writing(command: str, arguments: list[Word], notes: Notes) -> None:
    for word in arguments:
        if word.doubt:
            notes.doubt(word.doubt)
        if _is_dangerous(command, word.text):
            notes.doubt(f"{word.text} can make git run a program or write elsewhere")
    if command not in _WRITING | _NETWORK | _RUNNING:
        notes.doubt(f"git {command} is not a command that is known; it may be an alias that runs anything")
        notes.unknown("git " + command)
        return
    _doubt_two_faced(command, arguments, notes)
    if command in _RUNNING:
        notes.doubt(f"git {command} runs other programs")
        notes.runs(f"git {command}")
    for root in notes.place.roots or notes.place.directories:
        notes.find(FindingKind.WRITES, f"{root.rstrip('/')}/.git", f"git {command} changes the repository")
    if command in _LOSING:
        for directory in notes.place.directories:
            notes.find(
                FindingKind.DELETES, directory, f"git {command} can discard work that is not committed"
            )
    if command in _HOOKED:
        notes.runs("the repository's hooks", f"git {command} runs them")
    if command in _NETWORK or (
        command == "remote" and arguments and arguments[0].text in {"update", "show", "prune"}
    ):
        notes.network(_host(arguments), f"git {command}")
    _check_written_paths(command, arguments, notes)


def _is_dangerous(command: str, text: str) -> bool:
    name, _, value = text.partition("=")
    if _DANGEROUS.fullmatch(text) or _STRANGE_URL.match(text) or _STRANGE_URL.match(value):
        return True
    if name.startswith("--"):
        return len(name) > 2 and any(option.startswith(name) for option in _DANGEROUS_LONG)
    if not text.startswith("-"):
        return False
    letters = takewhile(lambda letter: letter not in _VALUED_LETTERS, text[1:])
    return not set(letters).isdisjoint(_DANGEROUS_LETTERS.get(command, ""))


def _doubt_two_faced(command: str, arguments: list[Word], notes: Notes) -> None:
    """Commands that mostly look: whoever allows them hardly means that they may change things."""
    if command in {"remote", "config", "reflog", "symbolic-ref", "update-ref"}:
        notes.doubt(f"git {command} changes settings or history here, and is mostly used to look")
    if command in {"branch", "tag"} and any(word.is_flag for word in arguments):
        notes.doubt(f"git {command} changes or removes what is there")


def _check_written_paths(command: str, arguments: list[Word], notes: Notes) -> None:
    for word in arguments:
        if word.is_flag or "://" in word.text:
            continue
        is_outside = word.text.startswith("/") or ".." in word.text.split("/")
        if is_outside and command != "commit":
            notes.write(word, f"git {command} may change it", is_own=True)
        elif command in {"add", "rm", "mv"} and is_secret(word.text):
            notes.read(word, f"git {command} names it")


def _host(arguments: list[Word]) -> str:
    for word in arguments:
        if "://" in word.text:
            return urlsplit(word.text).hostname or ""
        if match := re.match(r"(?:[\w.-]+@)([\w.-]+):", word.text):
            return match[1]
    return ""


def _is_remote_listing(arguments: list[Word]) -> bool:
    return [word.text for word in arguments] in ([], ["-v"], ["--verbose"], ["get-url", "origin"])


def _is_config_reading(arguments: list[Word]) -> bool:
    """Only names whose values cannot be credentials."""
    texts = [word.text for word in arguments if word.text not in {"--get", "--global", "--local"}]
    return (
        len(texts) == 1
        and re.fullmatch(r"(user|core|init|branch|pull|push)\.[\w.-]+|remote\.[\w-]+\.url", texts[0])
        is not None
    )


def _is_worktree_listing(arguments: list[Word]) -> bool:
    return [word.text for word in arguments] in (["list"], ["list", "--porcelain"])


def _is_symbolic_reading(arguments: list[Word]) -> bool:
    return sum(not word.is_flag for word in arguments) == 1 and all(
        word.text in {"--short", "-q", "--quiet"} for word in arguments if word.is_flag
    )


def _is_lfs_reading(arguments: list[Word]) -> bool:
    return bool(arguments) and arguments[0].text in {"ls-files", "env", "status"} and len(arguments) == 1


READING_SHORT = {
    "remote": _is_remote_listing,
    "config": _is_config_reading,
    "worktree": _is_worktree_listing,
    "symbolic-ref": _is_symbolic_reading,
    "lfs": _is_lfs_reading,
}
GIT: dict[str, Judge] = {"git": _judge_git}
