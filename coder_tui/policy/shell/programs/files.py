"""Programs that create, change, move and delete files that they name.

Also small programs with special arguments: echo, printf, test, sort, uniq, date, hostname …
"""

import os
import re
from collections.abc import Sequence

from coder_tui.policy.shell.call import (
    Arguments,
    Call,
    FlagTable,
    Judge,
    Operands,
    check_globs,
    check_text,
    flag_table,
    parse_arguments,
    read_contents,
    reader,
)
from coder_tui.policy.shell.notes import CommandNotes, Word, joined, named
from coder_tui.policy.shell.reader import STATUS_DOUBT
from coder_tui.protocol.findings import FindingKind

_TOUCH = flag_table("-a -c -m -f -h -d= -t= -r< --no-create --date= --reference< --time= --no-dereference")
_MKDIR = flag_table("-p -v -m= --parents --verbose --mode=")
_RM = flag_table("-f -i -I -r -R -d -v --force --recursive --dir --verbose --interactive? --one-file-system")
_RMDIR = flag_table("-p -v --parents --verbose --ignore-fail-on-non-empty")
_COPY = flag_table(
    "-a -b -d -f -i -l -L -n -p -P -r -R -s -S= -t> -T -u -v -x --archive --backup? --force --interactive "
    "--link --dereference --no-clobber --no-dereference --preserve? --parents --recursive --symbolic-link "
    "--suffix= --target-directory> --no-target-directory --update? --verbose --one-file-system --reflink?"
)
_MOVE = flag_table(
    "-b -f -i -n -S= -t> -T -u -v --backup? --force --interactive --no-clobber --suffix= --target-directory> "
    "--no-target-directory --update? --verbose --strip-trailing-slashes"
)
_LINK = flag_table("-s -f -n -r -v -b -i -T -t> -S= --symbolic --force --no-dereference --relative --verbose")
_CHMOD = flag_table("-R -v -c -f --recursive --verbose --changes --silent --quiet --reference<")
_TEE = flag_table("-a -i -p --append --ignore-interrupts")
_COMPRESSION = flag_table("-k -d -f -v -q -t -l -c -1 -2 -3 -4 -5 -6 -7 -8 -9 --keep --decompress --stdout")
_TRUNCATE = flag_table("-c -o -s= -r< --no-create --size= --reference<")


def _check(call: Call, operands: Sequence[Word], notes: CommandNotes) -> None:
    notes.is_read_only = False
    if notes.has_more_operands:
        notes.has_open_targets = True
    if any(word.may_become_a_flag for word in operands):
        notes.doubt("a pattern may stand for a file whose name is a flag")


def _writer(table: FlagTable, verb: str) -> Judge:
    """Return the judge of a program that writes every file it names."""

    def judge(call: Call, notes: CommandNotes) -> None:
        found = parse_arguments(call.arguments, table, notes)
        _check(call, found.operands, notes)
        for word in found.operands:
            notes.write(word, f"{call.name} {verb} it", is_own=True)

    return judge


def _judge_removal(call: Call, notes: CommandNotes) -> None:
    found = parse_arguments(call.arguments, _RMDIR if call.name == "rmdir" else _RM, notes)
    _check(call, found.operands, notes)
    for word in found.operands:
        notes.delete(word, call.name, follows=False)
        _check_breadth(word, notes, "removes")
    if not found.operands:
        notes.doubt(f"{call.name} is given no path")


def _check_breadth(word: Word, notes: CommandNotes, verb: str) -> None:
    """Doubt commands that affect the whole workspace or more, so that no rule can allow losing it."""
    for directory in notes.context.directories:
        path = os.path.normpath(joined(directory, word.text))
        if any(root == path or root.startswith(path.rstrip("/") + "/") for root in notes.context.roots):
            notes.doubt(f"it {verb} the whole workspace or more")
    if word.glob and word.text.strip("./") in {"*", ".*", "**"}:
        notes.doubt(f"it {verb} everything in a folder")


def _judge_copy(call: Call, notes: CommandNotes) -> None:
    is_move = call.name == "mv"
    found = parse_arguments(call.arguments, _MOVE if is_move else _COPY, notes)
    _check(call, found.operands, notes)
    has_target = found.has("-t", "--target-directory")
    sources = found.operands if has_target else found.operands[:-1]
    for word in sources:
        if is_move:
            notes.delete(word, "mv moves it away", follows=False)
            _check_breadth(word, notes, "moves")
        else:
            notes.read(word, "cp copies it")
    if not has_target:
        for word in found.operands[-1:]:
            _note_destination(call, word, sources, found, notes)


def _note_destination(
    call: Call, word: Word, sources: list[Word], found: Arguments, notes: CommandNotes
) -> None:
    notes.write(word, f"{call.name} puts it there", is_own=True)
    for source in sources:
        # If the destination is a folder, the file keeps its name in it.
        name = source.text.rstrip("/").rpartition("/")[2]
        notes.write(
            Word(f"{word.text.rstrip('/')}/{name}", doubt=source.doubt),
            f"{call.name} puts it there",
            is_own=True,
        )
    if found.has("-r", "-R", "-a", "--recursive", "--archive") and any(
        source.text.rstrip("/").endswith(("/.", "/..")) or source.text in {".", ".."} for source in sources
    ):
        notes.doubt("it copies everything in a folder, hidden files too")


def _judge_link(call: Call, notes: CommandNotes) -> None:
    found = parse_arguments(call.arguments, _LINK, notes)
    _check(call, found.operands, notes)
    # A link is a second name: writing through it later would not look like writing to its target.
    notes.doubt("a link can make later commands reach a different path than they name")
    for word in found.operands[:-1]:
        notes.read(word, "the link leads there")
    for word in found.operands[-1:]:
        notes.write(word, "ln creates it", is_own=True)


def _judge_chmod(call: Call, notes: CommandNotes) -> None:
    found = parse_arguments(call.arguments, _CHMOD, notes)
    operands = found.operands if found.has("--reference") else found.operands[1:]
    if call.name != "chmod" or (
        found.operands and re.search(r"[ugoa]*[+=][rwxX]*[st]|^[2467][0-7]{3}$", found.operands[0].text)
    ):
        notes.doubt(f"{call.name} changes permissions")
    _check(call, operands, notes)
    for word in operands:
        notes.write(word, f"{call.name} changes its mode", is_own=True)


def _judge_truncate(call: Call, notes: CommandNotes) -> None:
    found = parse_arguments(call.arguments, _TRUNCATE, notes)
    _check(call, found.operands, notes)
    for word in found.operands:
        notes.delete(word, "truncate cuts it")


def _judge_dd(call: Call, notes: CommandNotes) -> None:
    notes.doubt("dd can overwrite disks and files")
    notes.is_read_only = False
    for word in call.arguments:
        name, _, value = word.text.partition("=")
        if name == "of":
            notes.write(Word(value, doubt=word.doubt), "dd writes it")
        elif name == "if":
            notes.read(Word(value, doubt=word.doubt), "dd reads it")


def _judge_destroyer(call: Call, notes: CommandNotes) -> None:
    notes.doubt(f"{call.name} destroys what it is given")
    for word in call.arguments:
        if not word.is_flag:
            notes.delete(word, call.name)


def _judge_archive(call: Call, notes: CommandNotes) -> None:
    notes.doubt(f"{call.name} can write many files, and its flags can run programs")
    for directory in notes.context.directories:
        notes.find(FindingKind.WRITES, directory, f"{call.name} may unpack or pack there")
    for word in call.arguments:
        if not word.is_flag and "/" in word.text:
            notes.read(word)


FILES: dict[str, Judge] = {
    "touch": _writer(_TOUCH, "creates"),
    "mkdir": _writer(_MKDIR, "creates"),
    "tee": _writer(_TEE, "writes"),
    **dict.fromkeys(named("rm unlink rmdir"), _judge_removal),
    **dict.fromkeys(named("cp mv"), _judge_copy),
    **dict.fromkeys(named("ln link"), _judge_link),
    **dict.fromkeys(named("chmod chown chgrp"), _judge_chmod),
    "truncate": _judge_truncate,
    "dd": _judge_dd,
    **dict.fromkeys(named("shred wipefs mkfs srm"), _judge_destroyer),
    **dict.fromkeys(named("tar zip unzip 7z cpio ar bsdtar unrar install split csplit"), _judge_archive),
    **dict.fromkeys(
        named("gzip gunzip bzip2 bunzip2 xz unxz zstd unzstd lz4"), _writer(_COMPRESSION, "replaces")
    ),
}


_COMPUTED = re.compile(r"[\[$`(]")
_SORT = flag_table(
    "-b -d -f -g -i -M -h -n -R -r -V -c -C -k= -m -o> -s -S= -t= -u -z --ignore-leading-blanks "
    "--dictionary-order --fold-case --general-numeric-sort --ignore-nonprinting --month-sort "
    "--human-numeric-sort --numeric-sort --random-sort --reverse --sort= --version-sort --check? --debug "
    "--key= --merge --output> --stable --buffer-size= --field-separator= --parallel= --unique "
    "--zero-terminated --compress-program! --help --version"
)
_UNIQ = flag_table(
    "-c -d -D -f= -i -s= -u -z -w= --count --repeated --all-repeated? --skip-fields= --group? --ignore-case "
    "--skip-chars= --unique --zero-terminated --check-chars= --help --version"
)
_DATE = flag_table("-d= -u -R -I? --date= --utc --universal --rfc-3339= --rfc-email --iso-8601? -j -r<")
_TESTS = named("-e -f -d -r -w -x -s -L -h -p -S -b -c -g -u -k -z -n = != -nt -ot -ef ! -a -o ( )")
_COMPARISONS = named("-eq -ne -lt -le -gt -ge")
_NUMBER = re.compile(r"-?[0-9]+")


def _judge_echo(call: Call, notes: CommandNotes) -> None:
    check_text([word for word in call.arguments if word.doubt != STATUS_DOUBT], notes)


def _judge_printf(call: Call, notes: CommandNotes) -> None:
    check_text(list(call.arguments), notes)
    if call.arguments and call.arguments[0].text.startswith("-"):
        notes.doubt("printf -v sets a variable")
    check_globs(call, notes, is_any_flag_harmless=False)
    # Some shells evaluate numbers, and run what is in an index.
    if any(_COMPUTED.search(word.text) for word in call.arguments[1:]):
        notes.doubt("printf may evaluate its arguments")


def _judge_test(call: Call, notes: CommandNotes) -> None:
    words = list(call.arguments)
    if call.name == "[" and (not words or words.pop().text != "]"):
        notes.doubt("[ has no ]")
        return
    check_text(words, notes)
    for index, word in enumerate(words):
        if word.text in _COMPARISONS:
            _check_numbers([*words[max(index - 1, 0) : index], *words[index + 1 : index + 2]], notes)
        elif word.glob:
            notes.doubt("a pattern may become several words")
        elif word.is_flag and word.text not in _TESTS and not _NUMBER.fullmatch(word.text):
            notes.doubt(f"the test {word.text} is not known to be harmless")
        elif "/" in word.text:
            notes.read(word)


def _check_numbers(words: list[Word], notes: CommandNotes) -> None:
    if not all(_NUMBER.fullmatch(word.text) for word in words):
        notes.doubt("a comparison may evaluate its operands")


def _judge_sort(call: Call, notes: CommandNotes) -> None:
    found = parse_arguments(call.arguments, _SORT, notes)
    check_globs(call, notes, is_any_flag_harmless=False)
    if any(re.match(r"\+[0-9]", word.text) for word in found.operands):
        notes.doubt("sort +N is read differently by different versions")
    read_contents(found.operands, notes)


def _judge_uniq(call: Call, notes: CommandNotes) -> None:
    found = parse_arguments(call.arguments, _UNIQ, notes)
    if notes.has_more_operands or any(word.glob for word in found.operands):
        notes.doubt("the second file that uniq is given is overwritten")
    read_contents(found.operands[:1], notes)
    for word in found.operands[1:]:
        notes.write(word, "uniq writes its second file")


def _judge_date(call: Call, notes: CommandNotes) -> None:
    found = parse_arguments(call.arguments, _DATE, notes)
    if any(not word.text.startswith("+") for word in found.operands):
        notes.doubt("date would set the clock")
    check_text(found.operands, notes)


def _judge_hostname(call: Call, notes: CommandNotes) -> None:
    found = parse_arguments(call.arguments, flag_table("-s -f -d -i -I -A --short --fqdn --long"), notes)
    if found.operands:
        notes.doubt("hostname would change the machine's name")


def _judge_exit(call: Call, notes: CommandNotes) -> None:
    _judge_echo(call, notes)
    if len(call.words) > 2:
        notes.doubt("exit takes one number")


TEXT_TOOLS: dict[str, Judge] = {
    "echo": _judge_echo,
    "exit": _judge_exit,
    "printf": _judge_printf,
    "test": _judge_test,
    "[": _judge_test,
    "sort": _judge_sort,
    "uniq": _judge_uniq,
    "date": _judge_date,
    "hostname": _judge_hostname,
    "numfmt": reader(
        "--to= --from= --suffix= --padding= --field= --header? -d= --grouping --format=", Operands.TEXT
    ),
}
