"""Programs that talk to other machines."""

import re
from itertools import pairwise
from urllib.parse import urlsplit

from coder_tui.policy.shell.call import Call, Judge
from coder_tui.policy.shell.notes import Notes
from coder_tui.policy.shell.words import Word, named

_REMOTE = re.compile(r"(?:[\w.-]+@)?([\w.-]+):")
_WRITES_FILE = {
    "curl": ("-o", "--output", "-O", "--remote-name", "-D", "--dump-header", "-c", "--cookie-jar"),
    "wget": (),
}


def _host(words: tuple[Word, ...]) -> str:
    for word in words:
        if "://" in word.text:
            return urlsplit(word.text).hostname or ""
    return ""


def _judge_transfer(call: Call, notes: Notes) -> None:
    _check_words(call, notes)
    host = _host(call.arguments) or next((word.text for word in call.arguments if not word.is_flag), "")
    notes.network(host, call.name)
    arguments = list(call.arguments)
    for word, following in pairwise(arguments):
        if word.text in _WRITES_FILE.get(call.name, ()):
            notes.write(following, f"{word.text} names it")
        if word.text in {"-K", "--config", "-T", "--upload-file"}:
            notes.read(following, f"{word.text} names it")
        if "@" in following.text and word.text in {"-d", "--data", "--data-binary", "-F", "--form"}:
            notes.read(Word(following.text.partition("@")[2]), "its content is sent")
    if call.name == "wget":
        for directory in notes.place.directories:
            notes.write(Word(directory), "wget saves what it gets")


def _judge_remote_shell(call: Call, notes: Notes) -> None:
    """ssh runs commands elsewhere, and by its options here as well."""
    _check_words(call, notes)
    host = next((word.text for word in call.arguments if not word.is_flag), "")
    notes.network(host.rpartition("@")[2], call.name)
    notes.runs("commands on another machine", call.name)
    notes.doubt(f"{call.name} runs commands elsewhere, and can run some here")


def _judge_copying(call: Call, notes: Notes) -> None:
    _check_words(call, notes)
    remote = [match[1] for word in call.arguments if (match := _REMOTE.match(word.text))]
    if remote or call.name != "rsync":
        notes.network(remote[0] if remote else "", call.name)
    notes.doubt(f"{call.name} can run programs by its flags")
    operands = [word for word in call.arguments if not word.is_flag and not _REMOTE.match(word.text)]
    for word in operands:
        notes.read(word)
    for word in operands[-1:]:
        notes.write(word, f"{call.name} may write there")


def _judge_any(call: Call, notes: Notes) -> None:
    _check_words(call, notes)
    host = _host(call.arguments) or next((word.text for word in call.arguments if not word.is_flag), "")
    notes.network(host, call.name)


def _judge_service(call: Call, notes: Notes) -> None:
    """Tools of cloud and container services: the network, and whatever the service does."""
    _check_words(call, notes)
    notes.network("", call.name)
    if call.name in {"docker", "podman", "kubectl", "nerdctl", "docker-compose", "helm", "vagrant"}:
        notes.runs(call.name, "containers and machines are beyond the sandbox")


def _check_words(call: Call, notes: Notes) -> None:
    notes.is_read_only = False
    for word in call.arguments:
        if word.doubt or word.may_become_a_flag:
            notes.doubt(word.doubt or "a pattern may stand for a file whose name is a flag")


NETWORK: dict[str, Judge] = {
    **dict.fromkeys(named("curl wget aria2c http https xh lynx w3m links elinks"), _judge_transfer),
    **dict.fromkeys(named("ssh mosh telnet rsh rlogin sshpass autossh"), _judge_remote_shell),
    **dict.fromkeys(named("scp sftp rsync rclone ftp lftp tftp"), _judge_copying),
    **dict.fromkeys(
        named(
            "nc ncat netcat socat ping ping6 traceroute tracepath mtr dig host nslookup drill whois nmap "
            "openssl "
            "mail sendmail mutt swaks finger getent resolvectl"
        ),
        _judge_any,
    ),
    **dict.fromkeys(
        named(
            "gh glab hub docker docker-compose podman nerdctl kubectl helm aws gcloud az terraform tofu "
            "ansible "
            "ansible-playbook vagrant fly flyctl heroku vercel netlify firebase supabase wrangler doctl psql "
            "mysql redis-cli mongosh mongo"
        ),
        _judge_service,
    ),
}
