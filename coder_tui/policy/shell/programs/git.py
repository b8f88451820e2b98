"""git: which commands read, change the repository, reach other machines or run programs.

Commands that show file contents are checked for secrets that the repository tracks.
"""

import re
from itertools import takewhile
from urllib.parse import urlsplit

from coder_tui.policy.paths import is_secret, is_within, may_name_a_secret
from coder_tui.policy.shell.call import Arguments, Call, FlagTable, Judge, check_text, parse_arguments
from coder_tui.policy.shell.disk import exists, is_link, resolved
from coder_tui.policy.shell.notes import CommandNotes, Word, joined, literal, named
from coder_tui.policy.shell.programs.git_reading import (
    LISTING_BRANCHES,
    LISTING_STASHES,
    LISTING_TAGS,
    READING_COMMANDS,
)
from coder_tui.policy.shell.repository import runs_programs, tracked_secrets
from coder_tui.protocol.findings import FindingKind

# They show contents unless flags ask for a summary.
_BY_DEFAULT = named("diff show whatchanged diff-tree diff-index diff-files range-diff grep")
_WITH_FLAG = named("log stash reflog")
_PATCHES = named(
    "-p -u -U -W -c -L --patch --unified --function-context --word-diff --word-diff-regex --color-words "
    "--patch-with-raw --patch-with-stat --cc --remerge-diff --binary --check --diff-merges -m"
)
_SUMS = named(
    "-s -l -q -X --no-patch --raw --stat --compact-summary --numstat --shortstat --dirstat --cumulative "
    "--summary --name-only --name-status --quiet --files-with-matches --files-without-match --count"
)
_MAGIC = frozenset("*?[:")


def note_tracked_secrets(command: str, found: Arguments, notes: CommandNotes) -> None:
    """Note tracked secrets as reads, if the command shows contents."""
    if not _shows_contents(command, found):
        return
    for directory in notes.context.directories:
        secrets = tracked_secrets(resolved(directory) or directory)
        if secrets is None:
            notes.doubt("it is unclear whether the repository tracks secrets")
        for path in _within(secrets or (), directory, found):
            notes.read(Word(path), "the repository tracks it, and its content may be shown")


def _shows_contents(command: str, found: Arguments) -> bool:
    if command in _WITH_FLAG or (command in _BY_DEFAULT and found.has(*_SUMS)):
        return command != "grep" and found.has(*_PATCHES)
    return command in _BY_DEFAULT


def _within(secrets: tuple[str, ...], directory: str, found: Arguments) -> list[str]:
    """Return the secrets in the paths that limit the command. git rejects a path that could be a revision."""
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
# git accepts any unambiguous prefix of these.
_DANGEROUS_LONG = (
    *("--upload-pack", "--receive-pack", "--exec", "--config", "--config-file", "--template", "--output"),
    *("--separate-git-dir", "--git-dir", "--work-tree", "--strategy", "--strategy-option", "--expire-to"),
    *("--ext-diff", "--textconv", "--extcmd", "--open-files-in-pager"),
    *("--build-fake-ancestor", "--unsafe-paths"),
)
_DANGEROUS_LETTERS = {"clone": "cu", "merge": "sX", "pull": "sX"}
# In a cluster, the rest is their value.
_VALUED_LETTERS = frozenset("bjmoF")
# They neither read the working tree nor compare contents, so the repository's settings do not matter.
_HARMLESS_ANYWHERE = named(
    "rev-parse rev-list branch tag remote config for-each-ref cat-file show-ref merge-base ls-tree "
    "name-rev version var count-objects worktree symbolic-ref reflog shortlog check-ignore check-attr"
)
_SHOWING = named(
    "log diff show whatchanged blame annotate grep cat-file diff-tree diff-index diff-files range-diff "
    "stash shortlog"
)
_PATTERN = re.compile(r"[*?\[]")
_STRANGE_URL = re.compile(r"^(ext|fd|file|transport)::?")


def _judge_git(call: Call, notes: CommandNotes) -> None:
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
        notes.doubt("git may be given a file whose name is a flag")
    _check_place(command, notes)
    if (table := _reading_table(command, arguments)) is not None:
        _judge_reading(command, arguments, table, notes)
    elif command in READING_SHORT and READING_SHORT[command](arguments):
        notes.find(FindingKind.READS, "", "the repository")
    else:
        _judge_writing(command, arguments, notes)


def _judge_bare(call: Call, notes: CommandNotes) -> None:
    if not call.arguments or any(
        word.text not in {"--version", "--help", "-v", "-h"} for word in call.arguments
    ):
        notes.doubt("git is given no command")


def _without_globals(words: list[Word], notes: CommandNotes) -> list[Word]:
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


def _check_place(command: str, notes: CommandNotes) -> None:
    """Doubt a repository inside the workspace: its settings can name programs."""
    for directory in notes.context.directories:
        if any(_is_nested_repository(folder) for folder in _below_roots(directory, notes.context.roots)):
            notes.doubt("there is another repository, whose settings may run programs")
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


def _judge_reading(command: str, arguments: list[Word], table: FlagTable, notes: CommandNotes) -> None:
    found = parse_arguments(arguments, table, notes)
    notes.find(FindingKind.READS, "", "the repository")
    if any("%G" in word.text or "signature" in word.text for word in arguments):
        notes.doubt("verifying signatures runs a program that the repository can name")
    for word in found.operands if command in _SHOWING else ():
        _check_operand(word, notes)
    check_text(found.operands, notes)
    note_tracked_secrets(command, found, notes)
    for word in found.given.get("-L", []):
        _check_operand(word, notes)
    if command == "cat-file" and not found.has("-t", "-s", "-e", "-p") and len(found.operands) < 2:
        notes.doubt("git cat-file waits for input")


def _check_operand(word: Word, notes: CommandNotes) -> None:
    """Note a revision, a path or `revision:path` as a path if it leads outside or to a secret."""
    if word.doubt:
        notes.doubt(word.doubt)
    if word.text.startswith((":!", ":^", ":(exclude)")):
        return
    # git expands patterns itself, quoted ones too, and matches hidden names.
    for text in {word.text, word.text.rpartition(":")[2], word.text.rpartition(")")[2]}:
        if _PATTERN.search(text) and may_name_a_secret(text):
            notes.doubt(f"{text} may stand for a file with secrets")
        is_outside = text.startswith("/") or ".." in text.split("/")
        if is_outside or is_secret(text) or _leads_away(text, notes):
            notes.read(Word(text))


def _leads_away(text: str, notes: CommandNotes) -> bool:
    """Return whether the path is a link: through it, git compares files outside its repository."""
    return any(is_link(joined(directory, text)) for directory in notes.context.directories)


def _judge_writing(command: str, arguments: list[Word], notes: CommandNotes) -> None:
    for word in arguments:
        if word.doubt:
            notes.doubt(word.doubt)
        if _is_dangerous(command, word.text):
            notes.doubt(f"{word.text} can make git run a program or write elsewhere")
    if command not in _WRITING | _NETWORK | _RUNNING:
        notes.doubt(f"git {command} is an unknown command; it may be an alias that runs anything")
        notes.unknown("git " + command)
        return
    _doubt_unexpected_change(command, arguments, notes)
    if command in _RUNNING:
        notes.doubt(f"git {command} runs other programs")
        notes.runs(f"git {command}")
    for root in notes.context.roots or notes.context.directories:
        notes.find(FindingKind.WRITES, f"{root.rstrip('/')}/.git", f"git {command} changes the repository")
    if command in _LOSING:
        for directory in notes.context.directories:
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


def _doubt_unexpected_change(command: str, arguments: list[Word], notes: CommandNotes) -> None:
    """Doubt commands that mostly read: a rule that allows them hardly means that they may change things."""
    if command in {"remote", "config", "reflog", "symbolic-ref", "update-ref"}:
        notes.doubt(f"git {command} changes settings or history here, although it mostly reads")
    if command in {"branch", "tag"} and any(word.is_flag for word in arguments):
        notes.doubt(f"git {command} changes or deletes what is there")


def _check_written_paths(command: str, arguments: list[Word], notes: CommandNotes) -> None:
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
