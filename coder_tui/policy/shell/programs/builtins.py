"""Shell built-ins that change the shell's state or show it."""

from coder_tui.policy.shell.call import Call, Judge
from coder_tui.policy.shell.notes import CommandNotes, named

_CHANGING = named(
    "alias unalias export declare typeset local readonly set unset shopt enable hash read mapfile "
    "readarray let getopts bind complete compgen compopt umask ulimit pushd popd return break continue "
    "shift setopt unsetopt emulate zmodload autoload zle vared zcompile print fc history logout suspend "
    "disown bg fg jobs caller dirs abbr functions"
)
_SHOWING = frozenset({"printenv", "export", "set", "declare", "typeset", "history", "fc"})
_SYSTEM = named(
    "kill killall pkill reboot shutdown halt poweroff init telinit systemctl service launchctl mount "
    "umount modprobe insmod rmmod sysctl iptables nft ip ifconfig route useradd userdel usermod passwd "
    "chpasswd visudo swapoff hostnamectl timedatectl loginctl crontab at setfacl chattr fdisk parted "
    "losetup cryptsetup defaults"
)
_HARMLESS_PS = named("aux -ef -e -f -a -A -x ax -u axf auxf -aux")


def _judge_changing(call: Call, notes: CommandNotes) -> None:
    notes.doubt(f"{call.name} changes the state of the shell, or shows it")
    if call.name in _SHOWING and len(call.words) < 3:
        notes.unknown("", "it may show variables that hold secrets")


def _judge_eval(call: Call, notes: CommandNotes) -> None:
    notes.doubt("eval runs its text as a command")
    notes.runs("eval", "it runs its text as a command")
    notes.scripts.append(" ".join(word.text for word in call.arguments))


def _judge_source(call: Call, notes: CommandNotes) -> None:
    notes.doubt(f"{call.name} runs a file's commands in this shell")
    notes.runs(call.arguments[0].text if call.arguments else "", "its commands run in this shell")
    for word in call.arguments[:1]:
        notes.read(word)


def _judge_trap(call: Call, notes: CommandNotes) -> None:
    notes.doubt("trap runs its text later")
    notes.runs("trap", "it runs its text later")
    notes.scripts += [word.text for word in call.arguments[:1]]


def _judge_cd(call: Call, notes: CommandNotes) -> None:
    """Judge a `cd` behind another command. As a step of its own it is followed instead."""
    notes.doubt("it is not clear whether the folder changes")


def _judge_environment(call: Call, notes: CommandNotes) -> None:
    notes.doubt("it shows the environment, which may hold secrets")
    notes.unknown("", "it may show variables that hold secrets")


def _judge_system(call: Call, notes: CommandNotes) -> None:
    notes.doubt(f"{call.name} changes the machine or other processes")
    notes.unknown(call.name, "it changes the machine or other processes")


def _judge_processes(call: Call, notes: CommandNotes) -> None:
    """Judge `ps`: `ps e` shows environments, and BSD flags have no dash."""
    for word in call.arguments:
        if word.doubt or word.text not in _HARMLESS_PS:
            notes.doubt(word.doubt or f"ps {word.text} may show the environment of processes")


BUILTINS: dict[str, Judge] = {
    **dict.fromkeys(_CHANGING, _judge_changing),
    **dict.fromkeys(_SYSTEM, _judge_system),
    "cd": _judge_cd,
    "eval": _judge_eval,
    ".": _judge_source,
    "source": _judge_source,
    "trap": _judge_trap,
    "printenv": _judge_environment,
    "ps": _judge_processes,
}
