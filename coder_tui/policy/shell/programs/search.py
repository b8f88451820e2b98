"""Programs that search for text and files: grep, rg, find, fd."""

import posixpath
import re

from coder_tui.policy.paths import may_name_a_secret
from coder_tui.policy.shell.call import (
    Call,
    Judge,
    Operands,
    check_globs,
    check_text,
    flag_table,
    parse_arguments,
    read_contents,
    read_operands,
)
from coder_tui.policy.shell.disk import secret_below
from coder_tui.policy.shell.notes import CommandNotes, Word, joined, named
from coder_tui.protocol.findings import FindingKind

_GREP = flag_table(
    "-E -F -G -P -e= -f< -i -y -v -w -x -c -L -l -m= -o -q -s -b -H -h -n -T -Z -A= -B= -C= -a -I -D= -d= "
    "-r -U -z --extended-regexp --fixed-strings --basic-regexp --perl-regexp --regexp= --file< "
    "--ignore-case --no-ignore-case --invert-match --word-regexp --line-regexp --count --color? --colour? "
    "--files-without-match --files-with-matches --max-count= --only-matching --quiet --silent "
    "--no-messages --byte-offset --with-filename --no-filename --label= --line-number --initial-tab --null "
    "--after-context= --before-context= --context= --text --binary-files= --exclude= --exclude-dir= "
    "--include= --recursive --line-buffered --null-data --help --version",
    has_numbers=True,
)
_RG = flag_table(
    "-A= -B= -C= -c -e= -E= -f< -F -g= -H -h -I -i -j= -l -L -m= -M= -N -n -o -p -P -q -r= -s -S -t= -T= "
    "-u -U -v -V -w -x -0 -a -z! -. --after-context= --before-context= --context= --count --count-matches "
    "--color= --colors= --column --no-column --context-separator= --crlf --dfa-size-limit= --encoding= "
    "--engine= --field-match-separator= --file< --files --files-with-matches --files-without-match "
    "--fixed-strings --follow --glob= --iglob= --heading --no-heading --hidden --hyperlink-format= "
    "--ignore-case --ignore-file-case-insensitive --include-zero --invert-match --json --line-buffered "
    "--line-number --no-line-number --line-regexp --max-columns= --max-columns-preview --max-count= "
    "--max-depth= --max-filesize= --mmap --multiline --multiline-dotall --no-filename --no-messages "
    "--no-config --no-hidden --no-follow --no-pre --null --null-data --one-file-system --only-matching "
    "--path-separator= --passthru --pcre2 --pre! --pre-glob! --hostname-bin! --pretty --quiet --regexp= "
    "--replace= --search-zip! --smart-case --case-sensitive --sort= --sortr= --stats --stop-on-nonmatch "
    "--text --threads= --trim --type= --type-not= --type-list --unrestricted --no-ignore --no-ignore-vcs "
    "--version --vimgrep --with-filename --word-regexp --help --block-buffered --no-unicode --depth= -d="
)
_RG_TYPES = named(
    "c cpp cs csharp css csv cmake clojure dart docker elixir elm erlang fish go graphql groovy haskell "
    "html java javascript jinja js json julia jsx kotlin less lua make markdown md nim nix objc ocaml perl "
    "php proto protobuf puppet py python r rst ruby rust sass scala sql svelte svg swift tex tf toml ts "
    "tsx txt typescript vim vue xml yaml zig"
)
_RG_WIDE = ("-L", "-u", "-.", "--follow", "--hidden", "--unrestricted", "--no-ignore", "--no-ignore-vcs")
_ALTERNATIVES = re.compile(r"([^{}]*)\{([^{}]*)\}([^{}]*)")
_FD = flag_table(
    "-e= -t= -d= -E= -g -F -i -s -a -l -p -0 -1 -q -S= -j= --extension= --type= --max-depth= --min-depth= "
    "--exact-depth= --exclude= --glob --fixed-strings --ignore-case --case-sensitive --absolute-path "
    "--list-details --full-path --print0 --max-results= --quiet --size= --changed-within= "
    "--changed-before= --color= --threads= --regex -H -I -u --hidden --no-ignore --strip-cwd-prefix "
    "--relative-path --help --version -x! -X! --exec! --exec-batch!"
)
_ONLY_NAMES = (
    "-l",
    "-L",
    "-c",
    "-q",
    "--files-with-matches",
    "--files-without-match",
    "--count",
    "--quiet",
    "--silent",
)


def _judge_grep(call: Call, notes: CommandNotes) -> None:
    found = parse_arguments(call.arguments, _GREP, notes)
    read_operands(call, found, Operands.PATTERN, notes, ("-e", "-f", "--regexp", "--file"))
    if found.has("-d") and found.value("-d") not in {"read", "skip", "recurse"}:
        notes.doubt("grep would complete the value of -d")
    is_recursive = found.has("-r", "--recursive") or call.name == "rgrep" or found.value("-d") == "recurse"
    includes = [word.text for word in found.given.get("--include", [])]
    first = next((name for name in found.given if name in {"--include", "--exclude"}), "")
    is_limited = first == "--include" and not any(may_name_a_secret(pattern) for pattern in includes)
    if is_recursive and not is_limited and not found.has(*_ONLY_NAMES):
        folders = found.operands[0 if found.has("-e", "-f", "--regexp", "--file") else 1 :]
        check_folders(folders or [Word(".")], notes, has_hidden=True)


def check_folders(folders: list[Word], notes: CommandNotes, *, has_hidden: bool) -> None:
    """Doubt a search that would show a file with secrets."""
    for word in folders:
        for directory in notes.context.directories:
            found = secret_below(posixpath.normpath(joined(directory, word.text)), has_hidden=has_hidden)
            if found:
                notes.doubt(f"it would also show {found}")
            elif found is None and has_hidden:
                notes.doubt("it may also show files with secrets, such as .env (limit it with --include)")


def _judge_rg(call: Call, notes: CommandNotes) -> None:
    found = parse_arguments(call.arguments, _RG, notes)
    check_globs(call, notes, is_any_flag_harmless=False)
    if found.has(*_RG_WIDE):
        notes.doubt("it also searches hidden or ignored files, such as .env, or follows links")
    for name in ("-g", "--glob", "--iglob"):
        for word in found.given.get(name, []):
            # A glob of rg also includes hidden files.
            if not word.text.startswith("!") and _may_find_secrets(word.text):
                notes.doubt(f"{word.text} also finds files with secrets, such as .env")
    for name in ("-t", "--type"):
        for word in found.given.get(name, []):
            if word.text not in _RG_TYPES:
                notes.doubt(f"the file type {word.text} may hold files with secrets, such as .env")
    if found.has("--files", "--type-list"):
        read_contents(found.operands, notes)
        return
    read_operands(call, found, Operands.PATTERN, notes, ("-e", "-f", "--regexp", "--file"))
    is_limited = found.has("-t", "--type", "-g", "--glob", "--iglob", *_ONLY_NAMES)
    if not is_limited:
        folders = found.operands[0 if found.has("-e", "-f", "--regexp", "--file") else 1 :]
        check_folders(folders or [Word(".")], notes, has_hidden=False)


def _may_find_secrets(pattern: str) -> bool:
    alternatives = _ALTERNATIVES.fullmatch(pattern)
    if "{" in pattern and alternatives is None:
        return True
    if alternatives is None:
        return may_name_a_secret(pattern)
    before, middle, after = alternatives.groups()
    return any(may_name_a_secret(before + part + after) for part in middle.split(","))


def _judge_fd(call: Call, notes: CommandNotes) -> None:
    found = parse_arguments(call.arguments, _FD, notes)
    check_globs(call, notes, is_any_flag_harmless=False)
    check_text(found.operands[:1], notes)
    for word in found.operands[1:]:
        notes.read(word)


_FIND_PLAIN = named(
    "-print -print0 -ls -prune -quit -empty -executable -readable -writable -true -false -not ! -a -and "
    "-o -or ( ) , -daystart -depth -mount -xdev -nouser -nogroup -noleaf -ignore_readdir_race "
    "-noignore_readdir_race -warn -nowarn -help --help -version --version"
)
_FIND_VALUED = named(
    "-name -iname -path -ipath -wholename -iwholename -lname -ilname -regex -iregex -regextype -type "
    "-xtype -size -mtime -mmin -atime -amin -ctime -cmin -maxdepth -mindepth -perm -user -group -uid -gid "
    "-links -inum -fstype -used -printf -newermt -newerat -newerct -context"
)
_FIND_READING = frozenset({"-newer", "-anewer", "-cnewer", "-samefile"})
_FIND_RUNNING = frozenset({"-exec", "-execdir", "-ok", "-okdir"})
_FIND_WRITING = frozenset({"-fprint", "-fprint0", "-fls", "-fprintf"})


def _judge_find(call: Call, notes: CommandNotes) -> None:
    words = list(call.arguments)
    while words and (words[0].text in {"-P"} or words[0].text.startswith("-O")):
        words.pop(0)
    starts: list[Word] = []
    while words and not _begins_expression(words[0]):
        starts.append(words.pop(0))
    for word in starts or [Word(".")]:
        if word.may_become_a_flag:
            notes.doubt(f"{word.glob} may stand for a file whose name is a flag")
        notes.read(word)
    while words:
        _judge_find_term(words, starts, notes)


def _begins_expression(word: Word) -> bool:
    return word.text.startswith("-") or word.text in {"!", "(", ")", ","}


def _judge_find_term(words: list[Word], starts: list[Word], notes: CommandNotes) -> None:
    word = words.pop(0)
    if word.doubt or word.glob:
        notes.doubt(word.doubt or "an unquoted pattern may become anything here")
    name = word.text
    if name in _FIND_PLAIN:
        return
    if name in _FIND_VALUED | _FIND_READING and words:
        value = words.pop(0)
        if value.doubt or value.glob:
            notes.doubt(
                value.doubt or f"the pattern after {name} is not quoted, and may become several words"
            )
        if name in _FIND_READING:
            notes.read(value)
    else:
        _judge_find_action(name, words, starts, notes)


def _judge_find_action(name: str, words: list[Word], starts: list[Word], notes: CommandNotes) -> None:
    if name in _FIND_RUNNING:
        command = _until_end(words)
        notes.doubt(f"{name} runs a program for what it finds")
        notes.wrapped.append(tuple(command))
    elif name in _FIND_WRITING and words:
        notes.doubt(f"{name} writes a file")
        notes.write(words.pop(0), f"{name} names it")
        if name == "-fprintf" and words:
            words.pop(0)
    elif name == "-delete":
        notes.doubt("-delete deletes what it finds")
        for start in starts or [Word(".")]:
            notes.delete(start, "-delete")
    else:
        notes.doubt(f"{name} is not known to be a harmless test")


def _until_end(words: list[Word]) -> list[Word]:
    taken: list[Word] = []
    while words:
        word = words.pop(0)
        if word.text == ";" or (word.text == "+" and taken and taken[-1].text == "{}"):
            break
        taken.append(word)
    return taken


def _judge_locate(call: Call, notes: CommandNotes) -> None:
    notes.find(FindingKind.READS, "/", "names of files everywhere")
    notes.doubt("it searches the whole machine")


SEARCH: dict[str, Judge] = {
    **dict.fromkeys(named("grep egrep fgrep rgrep"), _judge_grep),
    "rg": _judge_rg,
    **dict.fromkeys(named("fd fdfind"), _judge_fd),
    "find": _judge_find,
    "locate": _judge_locate,
}
