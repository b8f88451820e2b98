"""Small programs whose arguments need a closer look: echo, printf, test, sort, uniq, date, hostname …"""

import re

from coder_tui.policy.shell.call import (
    Call,
    Judge,
    Operands,
    check_globs,
    check_text,
    flag_table,
    read_contents,
    reader,
    take_apart,
)
from coder_tui.policy.shell.notes import Notes, Word, named
from coder_tui.policy.shell.reader import STATUS_DOUBT

_COMPUTED = re.compile(r"[\[$`(]")
_SORT = flag_table(
    "-b -d -f -g -i -M -h -n -R -r -V -c -C -k= -m -o> -s -S= -t= -u -z --ignore-leading-blanks "
    "--dictionary-order "
    "--fold-case --general-numeric-sort --ignore-nonprinting --month-sort --human-numeric-sort "
    "--numeric-sort "
    "--random-sort --reverse --sort= --version-sort --check? --debug --key= --merge --output> --stable "
    "--buffer-size= --field-separator= --parallel= --unique --zero-terminated --compress-program! --help "
    "--version"
)
_UNIQ = flag_table(
    "-c -d -D -f= -i -s= -u -z -w= --count --repeated --all-repeated? --skip-fields= --group? --ignore-case "
    "--skip-chars= --unique --zero-terminated --check-chars= --help --version"
)
_DATE = flag_table("-d= -u -R -I? --date= --utc --universal --rfc-3339= --rfc-email --iso-8601? -j -r<")
_TESTS = named("-e -f -d -r -w -x -s -L -h -p -S -b -c -g -u -k -z -n = != -nt -ot -ef ! -a -o ( )")
_COMPARISONS = named("-eq -ne -lt -le -gt -ge")
_NUMBER = re.compile(r"-?[0-9]+")


def _judge_echo(call: Call, notes: Notes) -> None:
    check_text([word for word in call.arguments if word.doubt != STATUS_DOUBT], notes)


def _judge_printf(call: Call, notes: Notes) -> None:
    check_text(list(call.arguments), notes)
    if call.arguments and call.arguments[0].text.startswith("-"):
        notes.doubt("printf -v sets a variable")
    check_globs(call, notes, is_any_flag_harmless=False)
    # Some shells compute numbers, and what stands in an index is run then.
    if any(_COMPUTED.search(word.text) for word in call.arguments[1:]):
        notes.doubt("printf may compute its arguments")


def _judge_test(call: Call, notes: Notes) -> None:
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


def _check_numbers(words: list[Word], notes: Notes) -> None:
    if not all(_NUMBER.fullmatch(word.text) for word in words):
        notes.doubt("a comparison may compute what stands there")


def _judge_sort(call: Call, notes: Notes) -> None:
    found = take_apart(call.arguments, _SORT, notes)
    check_globs(call, notes, is_any_flag_harmless=False)
    if any(re.match(r"\+[0-9]", word.text) for word in found.operands):
        notes.doubt("sort +N is read differently by different versions")
    read_contents(found.operands, notes)


def _judge_uniq(call: Call, notes: Notes) -> None:
    found = take_apart(call.arguments, _UNIQ, notes)
    if notes.has_more_operands or any(word.glob for word in found.operands):
        notes.doubt("the second file that uniq is given is overwritten")
    read_contents(found.operands[:1], notes)
    for word in found.operands[1:]:
        notes.write(word, "uniq writes its second file")


def _judge_date(call: Call, notes: Notes) -> None:
    found = take_apart(call.arguments, _DATE, notes)
    if any(not word.text.startswith("+") for word in found.operands):
        notes.doubt("date would set the clock")
    check_text(found.operands, notes)


def _judge_hostname(call: Call, notes: Notes) -> None:
    found = take_apart(call.arguments, flag_table("-s -f -d -i -I -A --short --fqdn --long"), notes)
    if found.operands:
        notes.doubt("hostname would change the machine's name")


def _judge_exit(call: Call, notes: Notes) -> None:
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
