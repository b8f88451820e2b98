"""Writes the completion script of each shell."""

import shlex
from collections.abc import Iterable, Iterator
from typing import assert_never

from coder_tui.cli.completion import CompletionPoint, Flag, Source, Value

SESSIONS = "completion --sessions"
"""What a script runs to list stored sessions. Each line has an id, a tab and a title."""

# Bash and zsh share these, so they use only syntax that both understand.
_LOOK = """\
_coder_tui_look() {
    place="" count=0 flag=""
    case "${1-}" in
        %(commands)s) place="$1"; shift ;;
    esac
    while [ $# -gt 0 ]; do
        case "$place:$1" in
            %(with_value)s)
                flag="$1"; shift
                if [ "${1-}" = "=" ]; then shift; fi
                if [ $# -eq 0 ]; then return; fi
                flag=""; shift ;;
            %(actions)s)
                if [ "$count" -eq 0 ]; then place="$place $1"; else count=$((count + 1)); fi
                shift ;;
            *:-*) shift ;;
            *) count=$((count + 1)); shift ;;
        esac
    done
}
"""
_OFFER = """\
_coder_tui_offer() {
    kind="" choices=""
    if [ -n "$flag" ]; then
        case "$place:$flag" in
%(values)s
        esac
        return
    fi
    case "$1" in
        -*)
            case "$place" in
%(flags)s
            esac
            return ;;
    esac
    if [ "$2" -eq 1 ]; then
        choices=%(commands)s
    fi
    case "$place:$count" in
%(words)s
    esac
}
"""
_BASH = """\
# Completion for bash, made by 'coder-tui completion bash'.
%(shared)s
# shellcheck disable=SC2207  # the bash of macOS has no mapfile
_coder_tui() {
    local cur="${COMP_WORDS[COMP_CWORD]}" place count flag kind choices IFS=$'\\n'
    _coder_tui_look "${COMP_WORDS[@]:1:COMP_CWORD-1}"
    # Bash takes --flag=value apart.
    if [ "$cur" = "=" ]; then cur=""; fi
    _coder_tui_offer "$cur" "$COMP_CWORD"
    if [ "$kind" = sessions ]; then
        choices="$("${COMP_WORDS[0]}" %(sessions)s 2>/dev/null)"
    fi
    choices="$(printf '%%s\\n' "$choices" | cut -f1)"
    COMPREPLY=($(compgen -W "$choices" -- "$cur"))
    case "$kind" in
        files) compopt -o filenames 2>/dev/null; COMPREPLY+=($(compgen -f -- "$cur")) ;;
        folders) compopt -o filenames 2>/dev/null; COMPREPLY+=($(compgen -d -- "$cur")) ;;
    esac
}
complete -F _coder_tui coder-tui
"""
_ZSH = """\
#compdef coder-tui
# Completion for zsh, made by 'coder-tui completion zsh'.
%(shared)s
_coder_tui() {
    local cur="${words[CURRENT]}" place count flag kind choices line
    local -a found
    _coder_tui_look "${(@)words[2,CURRENT-1]}"
    if [[ -z "$flag" && "$cur" == --*=* ]]; then
        flag="${cur%%%%=*}"
        compset -P '*='
    fi
    _coder_tui_offer "$cur" "$((CURRENT - 1))"
    if [ "$kind" = sessions ]; then
        choices="$("${words[1]}" %(sessions)s 2>/dev/null)"
    fi
    for line in "${(@f)choices}"; do
        if [ -n "$line" ]; then
            found+=("${${line%%%%$'\\t'*}//:/\\\\:}:${line#*$'\\t'}")
        fi
    done
    if (( $#found )); then _describe coder-tui found; fi
    case "$kind" in
        files) _files ;;
        folders) _files -/ ;;
    esac
}
if [ "${funcstack[1]}" = _coder-tui ]; then
    _coder_tui "$@"
elif (( $+functions[compdef] )); then
    compdef _coder_tui coder-tui
fi
"""
_FISH = """\
# Completion for fish, made by 'coder-tui completion fish'.
function __coder_tui_at --argument-names wanted number
    set -l words (commandline -opc)[2..-1]
    set -l place ""
    set -l count 0
    set -l is_value 0
    if contains -- "$words[1]" %(commands)s
        set place $words[1]
        set -e words[1]
    end
    for word in $words
        if test $is_value -eq 1
            set is_value 0
            continue
        end
        switch "$place:$word"
            case %(with_value)s
                set is_value 1
            case %(actions)s
                if test $count -eq 0
                    set place "$place $word"
                else
                    set count (math $count + 1)
                end
            case '*:-*'
            case '*'
                set count (math $count + 1)
        end
    end
    test "$place" = "$wanted"; and test -z "$number" -o "$number" = "$count"
end
function __coder_tui_first
    test (count (commandline -opc)) -eq 1
end
complete -c coder-tui -f
%(lines)s
"""


def bash_script(places: tuple[CompletionPoint, ...]) -> str:
    return _BASH % {"shared": _shared(places), "sessions": SESSIONS}


def zsh_script(places: tuple[CompletionPoint, ...]) -> str:
    return _ZSH % {"shared": _shared(places), "sessions": SESSIONS}


def fish_script(places: tuple[CompletionPoint, ...]) -> str:
    walked = {name: " ".join(map(_quoted, cases)) for name, cases in _walked(places).items()}
    lines = "\n".join(line for place in places for line in _fish_lines(place))
    return _FISH % {**walked, "commands": " ".join(_names(places[0])), "lines": lines}


def _shared(places: tuple[CompletionPoint, ...]) -> str:
    walked = {name: "|".join(map(_quoted, cases)) for name, cases in _walked(places).items()}
    look = _LOOK % {**walked, "commands": "|".join(_names(places[0]))}
    offer = _OFFER % {
        "values": _cases(
            ("|".join(_quoted(f"{place.name}:{name}") for name in flag.names), _set(flag.value))
            for place in places
            for flag in place.flags
            if flag.value is not None and flag.value.source is not Source.NOWHERE
        ),
        "flags": _cases((_quoted(place.name), f"choices={_listed(_flag_rows(place))}") for place in places),
        "commands": _listed(places[0].commands),
        "words": _cases(_word_cases(places)),
    }
    return f"{look}\n{offer}"


def _walked(places: tuple[CompletionPoint, ...]) -> dict[str, list[str]]:
    """Return what a walk over the words needs: which flags take a value, and which words are actions."""
    flags = [
        f"{place.name}:{name}"
        for place in places
        for flag in place.flags
        if flag.value
        for name in flag.names
    ]
    actions = [f"{place.name}:{name}" for place in places[1:] for name in _names(place)]
    return {"with_value": flags, "actions": actions}


def _word_cases(places: tuple[CompletionPoint, ...]) -> Iterator[tuple[str, str]]:
    for place in places:
        if place.commands and place.name:
            yield _quoted(f"{place.name}:0"), f"choices={_listed(place.commands)}"
        for number, value in enumerate(place.values):
            if value.source is not Source.NOWHERE:
                yield _quoted(f"{place.name}:{number}"), _set(value)


def _set(value: Value) -> str:
    match value.source:
        case Source.WORDS:
            return f"choices={_listed((word, '') for word in value.words)}"
        case Source.FILES | Source.FOLDERS | Source.SESSIONS | Source.NOWHERE:
            return f"kind={value.source}"
        case _:
            assert_never(value.source)


def _cases(rows: Iterable[tuple[str, str]]) -> str:
    return "\n".join(f"            {pattern}) {action} ;;" for pattern, action in rows)


def _listed(rows: Iterable[tuple[str, str]]) -> str:
    return _quoted("\n".join(f"{word}\t{help_text}" for word, help_text in rows))


def _flag_rows(place: CompletionPoint) -> Iterator[tuple[str, str]]:
    return ((name, flag.help) for flag in place.flags for name in flag.names)


def _names(place: CompletionPoint) -> list[str]:
    return [name for name, _ in place.commands]


def _quoted(text: str) -> str:
    """Quote a pattern. It may be empty or contain characters that are special in a shell."""
    quoted = shlex.quote(text)
    return quoted if quoted.startswith("'") else f"'{quoted}'"


def _fish_lines(place: CompletionPoint) -> Iterator[str]:
    at = f"__coder_tui_at {_fish_quoted(place.name)}"
    for name, help_text in place.commands:
        where = f"{at} 0" if place.name else "__coder_tui_first"
        yield _fish_line(where, f"-a {name}", help_text)
    for number, value in enumerate(place.values):
        if given := _fish_value(value):
            yield _fish_line(f"{at} {number}", given.removeprefix("-x "), "")
    for flag in place.flags:
        takes = "" if flag.value is None else _fish_value(flag.value) or "-x"
        yield _fish_line(at, f"{_fish_names(flag)} {takes}".rstrip(), flag.help)


def _fish_line(where: str, what: str, help_text: str) -> str:
    about = f" -d {_fish_quoted(help_text)}" if help_text else ""
    return f"complete -c coder-tui -n {_fish_quoted(where)} {what}{about}"


def _fish_names(flag: Flag) -> str:
    return " ".join(f"-l {name[2:]}" if name.startswith("--") else f"-s {name[1:]}" for name in flag.names)


def _fish_value(value: Value) -> str:
    match value.source:
        case Source.WORDS:
            return f"-x -a {_fish_quoted(' '.join(value.words))}"
        case Source.FILES:
            return "-r -F"
        case Source.FOLDERS:
            return "-x -a '(__fish_complete_directories)'"
        case Source.SESSIONS:
            return f"-x -a '(coder-tui {SESSIONS} 2>/dev/null)'"
        case Source.NOWHERE:
            return ""
        case _:
            assert_never(value.source)


def _fish_quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
