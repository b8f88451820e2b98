"""Programs that make, change, move and remove files: what they touch is named."""

import os
import re
from collections.abc import Sequence

from coder_tui.policy.shell.call import Arguments, Call, Judge, flag_table, take_apart
from coder_tui.policy.shell.notes import Notes, Word, joined, named
from coder_tui.protocol.findings import FindingKind

_TOUCH = flag_table("-a -c -m -f -h -d= -t= -r< --no-create --date= --reference< --time= --no-dereference")
_MKDIR = flag_table("-p -v -m= --parents --verbose --mode=")
_RM = flag_table("-f -i -I -r -R -d -v --force --recursive --dir --verbose --interactive? --one-file-system")
_RMDIR = flag_table("-p -v --parents --verbose --ignore-fail-on-non-empty")
_COPY = flag_table(
    "-a -b -d -f -i -l -L -n -p -P -r -R -s -S= -t> -T -u -v -x --archive --backup? --force --interactive "
    "--link "
    "--dereference --no-clobber --no-dereference --preserve? --parents --recursive --symbolic-link --suffix= "
    "--target-directory> --no-target-directory --update? --verbose --one-file-system --reflink?"
)
_MOVE = flag_table(
    "-b -f -i -n -S= -t> -T -u -v --backup? --force --interactive --no-clobber --suffix= --target-directory> "
    "--no-target-directory --update? --verbose --strip-trailing-slashes"
)
_LINK = flag_table("-s -f -n -r -v -b -i -T -t> -S= --symbolic --force --no-dereference --relative --verbose")
_CHMOD = flag_table("-R -v -c -f --recursive --verbose --changes --silent --quiet --reference<")
_TEE = flag_table("-a -i -p --append --ignore-interrupts")
_TRUNCATE = flag_table("-c -o -s= -r< --no-create --size= --reference<")


def _split(call: Call, table_text: str, notes: Notes) -> Arguments:
    return take_apart(call.arguments, flag_table(table_text), notes)


def _check(call: Call, operands: Sequence[Word], notes: Notes) -> None:
    notes.is_read_only = False
    if notes.has_more_operands:
        notes.has_open_targets = True
    if any(word.may_become_a_flag for word in operands):
        notes.doubt("a pattern may stand for a file whose name is a flag")


def _judge_touch(call: Call, notes: Notes) -> None:
    found = take_apart(call.arguments, _TOUCH if call.name == "touch" else _MKDIR, notes)
    _check(call, found.operands, notes)
    for word in found.operands:
        notes.write(word, f"{call.name} makes it", is_own=True)


def _judge_removal(call: Call, notes: Notes) -> None:
    found = take_apart(call.arguments, _RMDIR if call.name == "rmdir" else _RM, notes)
    _check(call, found.operands, notes)
    for word in found.operands:
        notes.delete(word, call.name, follows=False)
        _check_breadth(word, notes, "removes")
    if not found.operands:
        notes.doubt(f"{call.name} names nothing")


def _check_breadth(word: Word, notes: Notes, verb: str) -> None:
    """Whole workspaces and what holds them are never lost by a rule."""
    for directory in notes.place.directories:
        path = os.path.normpath(joined(directory, word.text))
        if any(root == path or root.startswith(path.rstrip("/") + "/") for root in notes.place.roots):
            notes.doubt(f"it {verb} the whole workspace or more")
    if word.glob and word.text.strip("./") in {"*", ".*", "**"}:
        notes.doubt(f"it {verb} everything in a folder")


def _judge_copy(call: Call, notes: Notes) -> None:
    is_move = call.name == "mv"
    found = take_apart(call.arguments, _MOVE if is_move else _COPY, notes)
    _check(call, found.operands, notes)
    has_target = found.has("-t", "--target-directory")
    sources = found.operands if has_target else found.operands[:-1]
    for word in sources:
        if is_move:
            notes.delete(word, "mv takes it away", follows=False)
            _check_breadth(word, notes, "moves")
        else:
            notes.read(word, "cp copies it")
    if not has_target:
        for word in found.operands[-1:]:
            _note_destination(call, word, sources, found, notes)


def _note_destination(call: Call, word: Word, sources: list[Word], found: Arguments, notes: Notes) -> None:
    notes.write(word, f"{call.name} puts it there", is_own=True)
    for source in sources:
        # Where the destination is a folder, the file lands in it under its own name.
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


def _judge_link(call: Call, notes: Notes) -> None:
    found = take_apart(call.arguments, _LINK, notes)
    _check(call, found.operands, notes)
    # A link is a second name: writing through it later would not look like writing there.
    notes.doubt("a link can make later commands reach another place than they name")
    for word in found.operands[:-1]:
        notes.read(word, "the link leads there")
    for word in found.operands[-1:]:
        notes.write(word, "ln makes it", is_own=True)


def _judge_chmod(call: Call, notes: Notes) -> None:
    found = take_apart(call.arguments, _CHMOD, notes)
    operands = found.operands if found.has("--reference") else found.operands[1:]
    if call.name != "chmod" or (
        found.operands and re.search(r"[ugoa]*[+=][rwxX]*[st]|^[2467][0-7]{3}$", found.operands[0].text)
    ):
        notes.doubt(f"{call.name} changes who may do what")
    _check(call, operands, notes)
    for word in operands:
        notes.write(word, f"{call.name} changes its mode", is_own=True)


def _judge_tee(call: Call, notes: Notes) -> None:
    found = take_apart(call.arguments, _TEE, notes)
    _check(call, found.operands, notes)
    for word in found.operands:
        notes.write(word, "tee writes it", is_own=True)


def _judge_truncate(call: Call, notes: Notes) -> None:
    found = take_apart(call.arguments, _TRUNCATE, notes)
    _check(call, found.operands, notes)
    for word in found.operands:
        notes.delete(word, "truncate cuts it")


def _judge_dd(call: Call, notes: Notes) -> None:
    notes.doubt("dd can overwrite disks and files")
    notes.is_read_only = False
    for word in call.arguments:
        name, _, value = word.text.partition("=")
        if name == "of":
            notes.write(Word(value, doubt=word.doubt), "dd writes it")
        elif name == "if":
            notes.read(Word(value, doubt=word.doubt), "dd reads it")


def _judge_destroyer(call: Call, notes: Notes) -> None:
    notes.doubt(f"{call.name} destroys what it is given")
    for word in call.arguments:
        if not word.is_flag:
            notes.delete(word, call.name)


def _judge_archive(call: Call, notes: Notes) -> None:
    notes.doubt(f"{call.name} can write many files, and run programs by its flags")
    for directory in notes.place.directories:
        notes.find(FindingKind.WRITES, directory, f"{call.name} may unpack or pack there")
    for word in call.arguments:
        if not word.is_flag and "/" in word.text:
            notes.read(word)


def _judge_compression(call: Call, notes: Notes) -> None:
    found = _split(
        call, "-k -d -f -v -q -t -l -c -1 -2 -3 -4 -5 -6 -7 -8 -9 --keep --decompress --stdout", notes
    )
    _check(call, found.operands, notes)
    for word in found.operands:
        notes.write(word, f"{call.name} replaces it", is_own=True)


FILES: dict[str, Judge] = {
    "touch": _judge_touch,
    "mkdir": _judge_touch,
    "rm": _judge_removal,
    "unlink": _judge_removal,
    "rmdir": _judge_removal,
    "cp": _judge_copy,
    "mv": _judge_copy,
    "ln": _judge_link,
    "link": _judge_link,
    "chmod": _judge_chmod,
    "chown": _judge_chmod,
    "chgrp": _judge_chmod,
    "tee": _judge_tee,
    "truncate": _judge_truncate,
    "dd": _judge_dd,
    "shred": _judge_destroyer,
    "wipefs": _judge_destroyer,
    "mkfs": _judge_destroyer,
    "srm": _judge_destroyer,
    **dict.fromkeys(
        named("tar zip unzip 7z cpio ar bsdtar unrar install split csplit"),
        _judge_archive,
    ),
    **dict.fromkeys(named("gzip gunzip bzip2 bunzip2 xz unxz zstd unzstd lz4"), _judge_compression),
}
