"""Programs that show files, text and system information, and change nothing."""

from functools import partial

from coder_tui.policy.shell.call import Call, Judge, Operands, flag_table, parse_arguments, reader
from coder_tui.policy.shell.notes import CommandNotes, named
from coder_tui.policy.shell.programs.search import check_folders

_HELP = "--help --version"
_XXD = "-a -b -c= -C -e -E -g= -i -l= -n= -o= -p -s= -u"
_DIGEST = f"-b -t -z --tag --binary --text --zero {_HELP}"
_printer = partial(reader, is_any_flag_harmless=True)
"""For programs that no flag makes harmful, so that a pattern may stand for one."""

READING: dict[str, Judge] = {
    "ls": _printer(
        "-a -A -b -B -c -C -d -f -F -g -G -h -H -i -I= -k -l -L -m -n -N -o -p -q -Q -r -R -s -S -t -T= -u "
        "-U -v -w= -x -X -Z -1 --all --almost-all --author --escape --block-size= --ignore-backups "
        "--color? --directory --classify? --file-type --format= --full-time --group-directories-first "
        "--no-group --human-readable --si --dereference-command-line --hide= --hyperlink? "
        "--indicator-style= --inode --ignore= --kibibytes --dereference --numeric-uid-gid --literal "
        "--quote-name --quoting-style= --reverse --recursive --size --sort= --time= --time-style= "
        f"--tabsize= --width= --context --zero {_HELP}",
        Operands.NAMES,
    ),
    "cat": _printer(
        "-A -b -e -E -n -s -t -T -u -v --show-all --number-nonblank --show-ends --number --squeeze-blank "
        f"--show-tabs --show-nonprinting {_HELP}"
    ),
    "tac": _printer(f"-b -r -s= --before --regex --separator= {_HELP}"),
    "rev": _printer(_HELP),
    "nl": _printer(
        "-b= -d= -f= -h= -i= -l= -n= -p -s= -v= -w= --body-numbering= --number-format= --number-width= "
        f"--number-separator= {_HELP}"
    ),
    "head": _printer(
        f"-n= -c= -q -v -z --lines= --bytes= --quiet --silent --verbose --zero-terminated {_HELP}",
        has_numbers=True,
    ),
    # Without -f, which never ends.
    "tail": _printer(
        f"-n= -c= -q -v -z --lines= --bytes= --quiet --silent --verbose --zero-terminated {_HELP}",
        has_numbers=True,
    ),
    # CONTENT, because for a file named `--files0-from=x` it would show the content of x.
    "wc": _printer(
        f"-c -m -l -L -w --bytes --chars --lines --max-line-length --words --total= {_HELP}", Operands.CONTENT
    ),
    "cut": _printer(
        "-b= -c= -d= -f= -n -s -z --bytes= --characters= --delimiter= --fields= --complement "
        f"--only-delimited --output-delimiter= --zero-terminated {_HELP}"
    ),
    "paste": _printer(f"-d= -s -z --delimiters= --serial --zero-terminated {_HELP}"),
    "join": _printer(
        f"-a= -e= -i -j= -o= -t= -v= -1= -2= -z --ignore-case --check-order --nocheck-order --header {_HELP}"
    ),
    "comm": _printer(
        f"-1 -2 -3 -z --check-order --nocheck-order --output-delimiter= --total --zero-terminated {_HELP}"
    ),
    "column": reader(
        "-t -s= -o= -c= -N= -R= -T= -J -n= -x -e -H= -W= --table --separator= --output-separator= --json "
        f"--table-columns= --table-name= {_HELP}"
    ),
    "fold": _printer(f"-b -s -w= --bytes --spaces --width= {_HELP}"),
    "fmt": _printer(f"-c -s -t -u -w= --width= {_HELP}", has_numbers=True),
    "expand": _printer(f"-i -t= --initial --tabs= {_HELP}"),
    "unexpand": _printer(f"-a -t= --all --first-only --tabs= {_HELP}"),
    "tr": reader(
        f"-c -C -d -s -t --complement --delete --squeeze-repeats --truncate-set1 {_HELP}", Operands.TEXT
    ),
    "od": reader(
        "-a -A= -b -c -d -f -i -j= -l -N= -o -s -S= -t= -v -w? -x --address-radix= --format= --read-bytes= "
        f"--skip-bytes= --output-duplicates {_HELP}"
    ),
    "hexdump": reader("-b -c -C -d -e= -n= -o -s= -v -x"),
    "strings": reader(
        "-a -n= -t= -e= -o -f --all --bytes= --radix= --encoding= --print-file-name", has_numbers=True
    ),
    "cmp": reader("-b -i= -l -n= -s --print-bytes --ignore-initial= --verbose --bytes= --silent --quiet"),
    "diff": reader(
        "-q -s -c -C= -u -U= -e -n -y -W= -p -t -T -r -N -a -b -B -w -i -E -Z -x= -F= -I= -d -H --brief "
        "--normal --report-identical-files --context? --unified? --side-by-side --width= --left-column "
        "--suppress-common-lines --show-c-function --show-function-line= --expand-tabs --new-file "
        "--unidirectional-new-file --text --ignore-case --ignore-tab-expansion --ignore-trailing-space "
        "--ignore-space-change --ignore-all-space --ignore-blank-lines --ignore-matching-lines= "
        f"--strip-trailing-cr --minimal --color? --exclude= --label= {_HELP}",
        has_numbers=True,
    ),
    "stat": _printer(
        f"-L -f -t -c= -x -s -n -q --dereference --file-system --format= --printf= --terse {_HELP}",
        Operands.NAMES,
    ),
    "file": reader(
        "-b -i -I -k -L -h -N -n -r -F= -e= --brief --mime --mime-type --mime-encoding --keep-going "
        f"--dereference --no-dereference --no-pad --separator= {_HELP}",
        Operands.NAMES,
    ),
    "du": _printer(
        "-a -A -b -c -d= -g -h -k -l -m -P -s -S -t= -x -0 --all --apparent-size --block-size= --bytes "
        "--total --max-depth= --human-readable --inodes --count-links --no-dereference --separate-dirs "
        f"--si --summarize --threshold= --time? --one-file-system --exclude= --null {_HELP}",
        Operands.CONTENT,
    ),
    "df": reader(
        "-a -B= -h -H -i -k -l -m -P -t= -T -x= --all --block-size= --human-readable --inodes --local "
        f"--portability --total --type= --print-type --exclude-type= --si {_HELP}",
        Operands.NAMES,
    ),
    "tree": reader(
        "-a -d -f -i -x -L= -P= -I= -p -u -g -s -h -D -F -q -N -Q -v -t -c -r -U -J -X -C -n -A -S -1 "
        "--noreport --dirsfirst --filesfirst --prune --gitignore --matchdirs --ignore-case --du --si "
        f"--charset= --filelimit= --timefmt= --sort? --inodes --device {_HELP}",
        Operands.NAMES,
    ),
    "basename": _printer(f"-a -s= -z --multiple --suffix= --zero {_HELP}", Operands.TEXT),
    "dirname": _printer(f"-z --zero {_HELP}", Operands.TEXT),
    "realpath": _printer(
        "-e -m -L -P -q -s -z --canonicalize-existing --canonicalize-missing --logical --physical --quiet "
        f"--relative-to= --relative-base= --strip --no-symlinks --zero {_HELP}",
        Operands.NAMES,
    ),
    "readlink": _printer(
        "-e -f -m -n -q -s -v -z --canonicalize --canonicalize-existing --canonicalize-missing "
        "--no-newline --zero",
        Operands.NAMES,
    ),
    **dict.fromkeys(named("md5sum sha1sum sha256sum sha512sum"), _printer(_DIGEST, Operands.NAMES)),
    "shasum": reader(f"-a= -b -t -0 {_HELP}", Operands.NAMES),
    "cksum": reader(f"-a= --algorithm= --untagged {_HELP}", Operands.NAMES),
    "b2sum": reader(f"-l= {_DIGEST}", Operands.NAMES),
    "base64": reader(f"-d -D -i -w= --decode --ignore-garbage --wrap= {_HELP}"),
    "seq": reader(
        f"-f= -s= -w --format= --separator= --equal-width {_HELP}", Operands.TEXT, has_numbers=True
    ),
    "expr": reader("", Operands.TEXT),
    "pwd": reader("-L -P --logical --physical", Operands.NONE),
    "whoami": reader(_HELP, Operands.NONE),
    "id": reader(
        f"-a -g -G -n -r -u -z -Z --group --groups --name --real --user --zero {_HELP}", Operands.TEXT
    ),
    "groups": reader(_HELP, Operands.TEXT),
    "uname": reader(
        "-a -s -n -r -v -m -p -i -o --all --kernel-name --nodename --kernel-release --kernel-version "
        f"--machine --processor --hardware-platform --operating-system {_HELP}",
        Operands.NONE,
    ),
    "arch": reader(_HELP, Operands.NONE),
    "nproc": reader(f"--all --ignore= {_HELP}", Operands.NONE),
    "uptime": reader(f"-p -s --pretty --since {_HELP}", Operands.NONE),
    "free": reader(
        f"-b -k -m -g -h -l -t -w --bytes --kibi --mebi --gibi --human --wide --total --si {_HELP}",
        Operands.NONE,
    ),
    "tty": reader("-s", Operands.NONE),
    "lscpu": reader(f"-a -b -c -e? -J -p? -x -y --all --json --extended? --parse? {_HELP}", Operands.NONE),
    "sw_vers": reader("-productName -productVersion -buildVersion", Operands.NONE),
    "cal": reader("-1 -3 -s -m -j -y", Operands.TEXT),
    "sleep": reader(_HELP, Operands.TEXT),
    "true": _printer(_HELP, Operands.TEXT),
    "false": _printer(_HELP, Operands.TEXT),
    ":": _printer("", Operands.TEXT),
    "which": reader("-a -s --all --skip-alias", Operands.TEXT),
    "whereis": reader("-b -m -s", Operands.TEXT),
    "type": reader("-a -f -p -P -t", Operands.TEXT),
    "nm": reader(
        "-a -A -C -D -g -n -p -r -S -u --defined-only --undefined-only --demangle? --dynamic --extern-only"
    ),
    "size": reader("-A -B -d -o -x -t --format= --totals"),
    "cloc": reader("--exclude-dir= --include-lang= --by-file --json --csv --quiet --md", Operands.NAMES),
    "tokei": reader("-f -e= -t= -s= --files --exclude= --types= --sort= -o= --output=", Operands.NAMES),
    "xxd": reader(_XXD),
}


_show_bytes = READING["xxd"]
_compare = READING["diff"]


def _judge_diff(call: Call, notes: CommandNotes) -> None:
    _compare(call, notes)
    flags = [word.text for word in call.arguments if word.is_flag]
    is_brief = any(flag == "--brief" or (not flag.startswith("--") and "q" in flag) for flag in flags)
    if not is_brief:
        # For two folders it compares the files that both have, hidden ones too.
        check_folders([word for word in call.arguments if not word.is_flag], notes, has_hidden=True)


READING["diff"] = _judge_diff
_list = READING["ls"]


def _judge_ls(call: Call, notes: CommandNotes) -> None:
    _list(call, notes)
    short = "".join(word.text[1:] for word in call.arguments if word.is_flag and word.text[1] != "-")
    long = {word.text for word in call.arguments if word.text.startswith("--")}
    if ("L" in short or "--dereference" in long) and ("R" in short or "--recursive" in long):
        notes.doubt("it follows links to wherever they lead")


READING["ls"] = _judge_ls


def _judge_xxd(call: Call, notes: CommandNotes) -> None:
    _show_bytes(call, notes)
    operands = parse_arguments(call.arguments, flag_table(_XXD), CommandNotes(notes.context)).operands
    if (
        any(word.glob for word in operands)
        or operands[1:]
        or (operands and operands[0] != call.arguments[-1])
    ):
        notes.doubt("xxd writes to the second file it is given")


READING["xxd"] = _judge_xxd


def _without_option_files(judge: Judge) -> Judge:
    """Doubt `@file`: it names a file of options, whose content is shown if it has none."""

    def careful(call: Call, notes: CommandNotes) -> None:
        judge(call, notes)
        if any(word.text.startswith("@") for word in call.arguments):
            notes.doubt("@ names a file of options")

    return careful


for _name in ("strings", "nm", "size"):
    READING[_name] = _without_option_files(READING[_name])
