"""sed, awk and jq: their scripts are programs, and only known harmless ones pass.

sed scripts are parsed: addresses, and commands that neither run programs nor touch other files.
"""

import re

from coder_tui.policy.shell.call import (
    Arguments,
    Call,
    Judge,
    check_globs,
    check_text,
    flag_table,
    parse_arguments,
    read_contents,
)
from coder_tui.policy.shell.notes import CommandNotes, Word

_ADDRESS = r"(?:[0-9]+(?:~[0-9]+)?|\$|/(?:[^/\\\n\[]|\\.|\[\^?\]?[^\]/\\\n]*\])*/[IM]*)"
_ADDRESSES = re.compile(rf"(?:{_ADDRESS}(?:\s*,\s*(?:{_ADDRESS}|[+~][0-9]+))?)?\s*(?:!\s*)*")
# d D g G h H n N p P x z = F and the block braces take nothing; q, Q and l a number.
_PLAIN = re.compile(r"[dDgGhHnNpPxz=F{}]|[qQl]\s*[0-9]*")
_SUBSTITUTE = re.compile(r"s([/|,#:@%!_])")
_TRANSLITERATE = re.compile(r"y([/|,#:@%!_])")
_FLAGS = re.compile(r"[gpiIM0-9]*")
_GAP = re.compile(r"[\s;]*")
_END = re.compile(r"\s*(?:[;}\n]|$)")


def is_harmless_sed(script: str) -> bool:
    """Return whether every command of the script is known, and ends where it seems to end."""
    position = 0
    while True:
        position = _after(_GAP, script, position)
        if position >= len(script):
            return bool(script.strip())
        position = _after(_ADDRESSES, script, position)
        following = _after_command(script, position)
        if following is None:
            return False
        position = following


def _after(pattern: re.Pattern[str], script: str, position: int) -> int:
    match = pattern.match(script, position)
    return match.end() if match else position


def _after_command(script: str, position: int) -> int | None:
    if match := _SUBSTITUTE.match(script, position) or _TRANSLITERATE.match(script, position):
        end = _after_parts(script, match.end(), match[1])
        if end is None:
            return None
        if match[0].startswith("s"):
            end = _after(_FLAGS, script, end)
        return end if _END.match(script, end) else None
    match = _PLAIN.match(script, position)
    if match is None:
        return None
    if match[0] in {"{", "}"}:
        return match.end()
    return match.end() if _END.match(script, match.end()) else None


def _after_parts(script: str, position: int, mark: str) -> int | None:
    """Return the position after both parts of `s/a/b/`. Versions of sed differ on a mark inside brackets."""
    for part in range(2):
        in_brackets = False
        while True:
            if position >= len(script):
                return None
            char = script[position]
            if char == "\\":
                position += 2
                continue
            if char == mark:
                if in_brackets:
                    return None
                break
            if char == "\n":
                return None
            if part == 0 and char == "[":
                in_brackets = True
            elif char == "]":
                in_brackets = False
            position += 1
        position += 1
    return position


_SED = flag_table(
    "-n -e= -E -r -s -u -z -i? -f! -l= --quiet --silent --expression= --regexp-extended --separate "
    "--unbuffered "
    "--null-data --in-place? --posix --debug --sandbox --line-length= --file! --help --version"
)
_SUFFIX = re.compile(r"[A-Za-z0-9._~-]*")


def _judge_sed(call: Call, notes: CommandNotes) -> None:
    found = parse_arguments(call.arguments, _SED, notes)
    check_globs(call, notes, is_any_flag_harmless=False)
    scripts = [*found.given.get("-e", []), *found.given.get("--expression", [])]
    files = found.operands
    if not scripts:
        scripts, files = files[:1], files[1:]
    check_text(scripts, notes)
    # Several -e scripts are joined by newlines.
    if any(word.glob for word in scripts) or not is_harmless_sed("\n".join(word.text for word in scripts)):
        notes.doubt("the script of sed may run a program or touch other files")
    read_contents(files, notes)
    if found.has("-i", "--in-place"):
        _note_in_place(found, files, notes)


def _note_in_place(found: Arguments, files: list[Word], notes: CommandNotes) -> None:
    suffix = found.value("-i", "--in-place")
    if not _SUFFIX.fullmatch(suffix):
        notes.doubt("the backup files of sed may end up anywhere")
    for word in files:
        notes.write(word, "-i changes it in place")
        if suffix:
            notes.write(Word(word.text + suffix), "-i keeps a copy")


_AWK = flag_table(
    "-F= -v= --field-separator= --assign= --posix --traditional --re-interval --version",
    stops_at_operand=True,
)
_AWK_DANGER = re.compile(
    r"system|getline|ENVIRON|PROCINFO|SYMTAB|FUNCTAB|@|\||>|ARGV|ARGC|close|fflush|extension|BEGINFILE|ENDFILE"
)


def _judge_awk(call: Call, notes: CommandNotes) -> None:
    found = parse_arguments(call.arguments, _AWK, notes)
    check_globs(call, notes, is_any_flag_harmless=False)
    check_text(found.operands[:1], notes)
    script = found.operands[0].text if found.operands else ""
    if not script or found.operands[0].glob:
        notes.doubt("awk has no readable script")
    elif _AWK_DANGER.search(_without_comparisons(script)):
        notes.doubt("the script of awk may run a program, write a file or show the environment")
    read_contents([word for word in found.operands[1:] if not re.match(r"[A-Za-z_]\w*=", word.text)], notes)


def _without_comparisons(script: str) -> str:
    """Blank out `>` outside braces, where it compares. Strings and regexes could hide a brace."""
    script = script.replace("||", " ").replace(">=", " ")
    if re.search(r"[\"/#\n\\]", script):
        return script
    depth, kept = 0, []
    for char in script:
        depth += (char == "{") - (char == "}")
        kept.append(" " if char == ">" and depth <= 0 else char)
    return "".join(kept)


_JQ = flag_table(
    "-c -r -j -a -s -n -e -S -C -M -R -h --compact-output --raw-output --raw-output0 --join-output "
    "--ascii-output --slurp --null-input --exit-status --sort-keys --color-output --monochrome-output "
    "--raw-input --tab --indent= --unbuffered --stream --seq --help --version --from-file! -f! -L! "
    "--slurpfile! --rawfile! --args! --jsonargs!"
)
_JQ_DANGER = re.compile(
    r"ENV|__prog|(?<![.\w])env\b|\b(import|include|modulemeta|get_search_list|input_filename)\b"
)


def _judge_jq(call: Call, notes: CommandNotes) -> None:
    words = _without_named(list(call.arguments))
    found = parse_arguments(words, _JQ, notes)
    check_globs(call, notes, is_any_flag_harmless=False)
    check_text(found.operands[:1], notes)
    if found.operands and (_JQ_DANGER.search(found.operands[0].text) or found.operands[0].glob):
        notes.doubt("the filter may show the environment or read other files")
    read_contents(found.operands[1:], notes)


def _without_named(words: list[Word]) -> list[Word]:
    """Drop `--arg name value`, which takes two words and so fits no table."""
    kept: list[Word] = []
    while words:
        word = words.pop(0)
        if word.text in {"--arg", "--argjson"} and len(words) > 1:
            kept += [Word(word.doubt)] if word.doubt else []
            if any(value.doubt or value.glob for value in words[:2]):
                kept.append(Word("--unreadable-value"))
            words = words[2:]
        else:
            kept.append(word)
    return kept


_YQ = flag_table(
    "-r -y -o= -p= -P -N -C -M -e -n --output-format= --input-format= --prettyPrint --no-colors -j -t -x"
)


def _judge_yq(call: Call, notes: CommandNotes) -> None:
    found = parse_arguments(call.arguments, _YQ, notes)
    check_globs(call, notes, is_any_flag_harmless=False)
    if found.operands and re.search(r"\benv|load|\$ENV|strenv|system|input_filename", found.operands[0].text):
        notes.doubt("the filter may show the environment or read other files")
    check_text(found.operands[:1], notes)
    read_contents(found.operands[1:], notes)


STREAM_EDITORS: dict[str, Judge] = {
    "sed": _judge_sed,
    "gsed": _judge_sed,
    "awk": _judge_awk,
    "gawk": _judge_awk,
    "mawk": _judge_awk,
    "nawk": _judge_awk,
    "jq": _judge_jq,
    "yq": _judge_yq,
}
