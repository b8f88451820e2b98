"""Programs that run another one. The wrapped command is a separate part with its own judgment."""

import re
from dataclasses import dataclass

from coder_tui.policy.shell.call import Call, FlagTable, Judge, flag_table, parse_arguments
from coder_tui.policy.shell.notes import CommandNotes, Word, literal, named
from coder_tui.protocol.findings import FindingKind

MOST_GUESSES = 4
_DURATION = re.compile(r"[0-9]+(\.[0-9]*)?[smhd]?")
ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(\[.*\])?\+?=")


def _table(text: str, *, has_numbers: bool = False) -> FlagTable:
    return flag_table(text, stops_at_operand=True, has_numbers=has_numbers)


@dataclass(frozen=True, slots=True)
class _Wrapper:
    table: FlagTable
    operands: int = 0
    """How many operands come before the command."""
    doubt: str = ""
    """Why it always asks. Without a doubt, the table must tell exactly where the command begins."""


def _wrapper(flags: str = "", operands: int = 0, doubt: str = "", *, has_numbers: bool = False) -> _Wrapper:
    return _Wrapper(_table(flags, has_numbers=has_numbers), operands, doubt)


_AS_ROOT = "it runs with more rights than yours"
_ELSEWHERE = "it changes what the command sees of the machine"
_WATCHES = "it runs the command in its own way"
_WRAPPERS: dict[str, _Wrapper] = {
    "timeout": _wrapper("-k= -s= -v --kill-after= --signal= --verbose --foreground --preserve-status", 1),
    "gtimeout": _wrapper("-k= -s= -v --kill-after= --signal= --verbose --foreground --preserve-status", 1),
    "nice": _wrapper("-n= --adjustment=", has_numbers=True),
    "ionice": _wrapper("-c= -n= -t --class= --classdata= --ignore"),
    "nohup": _wrapper(),
    "time": _wrapper("-p"),
    "stdbuf": _wrapper("-i= -o= -e= --input= --output= --error="),
    "caffeinate": _wrapper("-d -i -m -s -u -t="),
    "sudo": _wrapper(
        "-A -b -E -H -n -P -S -i -s -u= -g= -h= -p= -C= -r= -t= -T= -U= -D= -R= --user= --group=", 0, _AS_ROOT
    ),
    "doas": _wrapper("-L -n -s -u= -C= -a=", 0, _AS_ROOT),
    "pkexec": _wrapper("--user= --disable-internal-agent", 0, _AS_ROOT),
    "run0": _wrapper("-u= --user=", 0, _AS_ROOT),
    "runuser": _wrapper("-u= -g= -l -m -p", 0, _AS_ROOT),
    "exec": _wrapper("-a= -c -l", 0, "exec replaces the shell"),
    "builtin": _wrapper("", 0, "builtin picks another command of the same name"),
    "setsid": _wrapper("-c -f -w --ctty --fork --wait", 0, "it can outlive the call"),
    "chroot": _wrapper("--userspec= --groups= --skip-chdir", 1, _ELSEWHERE),
    "unshare": _wrapper("-m -u -i -n -p -U -C -T -f -r -c", 0, _ELSEWHERE),
    "nsenter": _wrapper("-t= -m -u -i -n -p -U -C -T -a", 0, _ELSEWHERE),
    "proot": _wrapper("-r= -b= -w=", 0, _ELSEWHERE),
    "faketime": _wrapper("-f -m -p=", 1, _ELSEWHERE),
    "systemd-run": _wrapper("--user --scope --pty -t -p= -u= --unit=", 0, _ELSEWHERE),
    "strace": _wrapper("-f -ff -e= -o> -p= -s= -c -t -tt -y -v -q", 0, _WATCHES),
    "ltrace": _wrapper("-f -e= -o> -p= -c -S", 0, _WATCHES),
    "gdb": _wrapper("--args -q -batch", 0, _WATCHES),
    "valgrind": _wrapper("-q -v", 0, _WATCHES),
    "perf": _wrapper("", 1, _WATCHES),
    "watch": _wrapper("-n= -d -t -g -e -c -x --interval=", 0, _WATCHES),
    "entr": _wrapper("-c -d -n -p -r -s -z", 0, _WATCHES),
    "script": _wrapper("-q -a -e -c=", 0, _WATCHES),
    "unbuffer": _wrapper("-p", 0, _WATCHES),
    "parallel": _wrapper("-j= -k -n= -X -m", 0, _WATCHES),
    "flock": _wrapper("-n -x -s -w= -c=", 1, _WATCHES),
    "taskset": _wrapper("-c= -a", 1, _WATCHES),
    "chrt": _wrapper("-f -r -o -b -i", 1, _WATCHES),
    "busybox": _wrapper("", 0, "its programs have other flags than the usual ones"),
    "toybox": _wrapper("", 0, "its programs have other flags than the usual ones"),
    "coproc": _wrapper("", 0, "it runs in the background of the shell"),
    "direnv": _wrapper("", 2, _WATCHES),
    "ld.so": _wrapper("--preload= --library-path=", 0, _WATCHES),
    "ldd": _wrapper("", 0, "ldd can run the file it inspects"),
    **dict.fromkeys(named("setpriv capsh"), _wrapper("", 0, _AS_ROOT)),
    **dict.fromkeys(named("bwrap firejail fakeroot"), _wrapper("", 0, _ELSEWHERE)),
    **dict.fromkeys(
        named("catchsegv rlwrap numactl prlimit noglob dotenv torsocks proxychains proxychains4"),
        _wrapper("", 0, _WATCHES),
    ),
}


def _judge_wrapper(call: Call, notes: CommandNotes) -> None:
    wrapper = _WRAPPERS[call.name]
    found = parse_arguments(call.arguments, wrapper.table, notes)
    leading, command = found.operands[: wrapper.operands], found.operands[wrapper.operands :]
    for word in leading:
        if word.doubt or word.glob:
            notes.doubt(word.doubt or "a pattern is used as a value")
        elif not wrapper.doubt and not _DURATION.fullmatch(word.text):
            notes.doubt(f"{word.text} is not a plain duration, so it is not clear what {call.name} runs")
    if script := found.value("-c"):
        notes.scripts.append(script)
    _wrap(command, notes)
    if wrapper.doubt:
        notes.doubt(wrapper.doubt)


def _wrap(command: list[Word], notes: CommandNotes) -> None:
    if not command:
        notes.doubt("it is not clear what it runs")
        return
    notes.wrapped.append(tuple(command))
    if notes.doubts:
        # An unknown flag may have consumed a word, so any of the next words may be the command.
        for start in range(1, min(len(command), MOST_GUESSES)):
            notes.wrapped.append(tuple(command[start:]))


def _judge_env(call: Call, notes: CommandNotes) -> None:
    found = parse_arguments(
        call.arguments, _table("-i! -u! -S= -C! -0 -v --ignore-environment! --unset! --split-string="), notes
    )
    for name in ("-S", "--split-string"):
        for word in found.given.get(name, []):
            notes.doubt("env -S splits its text by its own rules")
            notes.scripts.append(word.text)
    command = found.operands
    while command and ASSIGNMENT.match(command[0].text):
        notes.doubt("it sets a variable, which can change what programs do")
        command = command[1:]
    if command:
        _wrap(command, notes)
    elif not notes.scripts:
        notes.doubt("it shows the environment, which may hold secrets")


def _judge_command(call: Call, notes: CommandNotes) -> None:
    if call.arguments and call.arguments[0].text in {"-v", "-V"}:
        for word in call.arguments:
            if word.doubt:
                notes.doubt(word.doubt)
        return
    found = parse_arguments(call.arguments, _table("-p"), notes)
    _wrap(found.operands, notes)


_XARGS = _table(
    "-0 -r -t -x -n= -L= -P= -s= -d= -E= -I= -J= -a< --null --no-run-if-empty --verbose --exit --max-args= "
    "--max-lines? --max-procs= --max-chars= --delimiter= --eof? --replace? --arg-file<"
)


def _judge_xargs(call: Call, notes: CommandNotes) -> None:
    found = parse_arguments(call.arguments, _XARGS, notes)
    notes.has_more_operands = True
    _wrap(found.operands or list(literal("echo")), notes)


def _judge_su(call: Call, notes: CommandNotes) -> None:
    notes.doubt(_AS_ROOT)
    notes.find(FindingKind.RUNS_CODE, "su", _AS_ROOT)
    for word, following in zip(call.arguments, call.arguments[1:], strict=False):
        if word.text in {"-c", "--command"}:
            notes.scripts.append(following.text)


WRAPPERS: dict[str, Judge] = {
    **dict.fromkeys(_WRAPPERS, _judge_wrapper),
    "env": _judge_env,
    "command": _judge_command,
    "xargs": _judge_xargs,
    "su": _judge_su,
}
# They add nothing: the wrapped command decides.
TRANSPARENT = named(
    "timeout gtimeout nice ionice nohup time stdbuf caffeinate env command xargs cd true false : exit"
)
# They only print their arguments.
HARMLESS_WITH_ANYTHING = frozenset({"echo", "basename", "dirname", "true", "false", ":"})
