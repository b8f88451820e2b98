"""Programs that talk to other machines."""

import re
from urllib.parse import urlsplit

from coder_tui.policy.shell.call import Call, Judge, flag_table, parse_arguments
from coder_tui.policy.shell.notes import CommandNotes, Word, named

_REMOTE = re.compile(r"(?:[\w.-]+@)?([\w.-]+):")
_CURL = flag_table(
    "-# -0 -1 -2 -3 -4 -6 -a -f -g -G -i -I -j -k -l -L -M -N -p -q -s -S -v -V -Z -o> -D> -c> -T< "
    "-b< -O! -K! -A= -d= -e= -F= -H= -m= -r= -u= -U= -w= -x= -X= -y= -Y= -z= -C= -h? "
    "--fail --fail-with-body --get --head --include --insecure --location --location-trusted --no-buffer "
    "--no-progress-meter --progress-bar --silent --show-error --verbose --compressed --globoff --http1.1 "
    "--http2 --http3 --ipv4 --ipv6 --tlsv1.2 --tlsv1.3 --path-as-is --retry-all-errors --retry-connrefused "
    "--version --parallel --fail-early --create-dirs --remote-time --tcp-nodelay --no-keepalive --raw "
    "--connect-timeout= --max-time= --max-redirs= --max-filesize= --limit-rate= --retry= --retry-delay= "
    "--retry-max-time= --request= --header= --user-agent= --referer= --user= --range= --url= --cookie< "
    "--data= --data-ascii= --data-binary= --data-raw= --data-urlencode= --form= --form-string= --json= "
    "--write-out= --resolve= --connect-to= --proxy= --cacert< --cert< --output> --dump-header> --cookie-jar> "
    "--upload-file< --config! --remote-name! --trace! --trace-ascii! --output-dir!"
)
_SENT = named(
    "-d --data --data-ascii --data-binary --data-urlencode -F --form --json -H --header -w --write-out"
)
_SENT_FILE = re.compile(r"[\w.-]*=?[@<]")
_WGET = flag_table(
    "-q -v -c -N -S -4 -6 -O> -o> -a> -P> -t= -T= -w= -U= --quiet --verbose --no-verbose --continue "
    "--timestamping --server-response --spider --no-check-certificate --tries= --timeout= --wait= "
    "--user-agent= --header= --show-progress --max-redirect= --https-only --version --help "
    "--output-document> --directory-prefix> --output-file> --append-output>"
)


_FLAGS = {"curl": _CURL, "wget": _WGET}
_NO_FLAGS = flag_table("")


def _host(words: tuple[Word, ...]) -> str:
    for word in words:
        if "://" in word.text:
            return urlsplit(word.text).hostname or ""
    return ""


def _judge_transfer(call: Call, notes: CommandNotes) -> None:
    _check_words(call, notes)
    host = _host(call.arguments) or next((word.text for word in call.arguments if not word.is_flag), "")
    notes.network(host, call.name)
    # Without a table every flag is a doubt: most of these programs have flags that run or write something.
    found = parse_arguments(call.arguments, _FLAGS.get(call.name, _NO_FLAGS), notes)
    for word in (word for name in _SENT & found.given.keys() for word in found.given[name]):
        if "%output" in word.text:
            notes.doubt("%output names a file that it writes")
        if named_file := _SENT_FILE.match(word.text):
            notes.doubt("it sends the content of a file")
            notes.read(Word(word.text[named_file.end() :]), "its content is sent")
    if call.name == "wget":
        for directory in notes.context.directories:
            notes.write(Word(directory), "wget saves what it gets")


def _judge_remote_shell(call: Call, notes: CommandNotes) -> None:
    """Judge ssh: it runs commands on another machine, and its options can run some here."""
    _check_words(call, notes)
    host = next((word.text for word in call.arguments if not word.is_flag), "")
    notes.network(host.rpartition("@")[2], call.name)
    notes.runs("commands on another machine", call.name)
    notes.doubt(f"{call.name} runs commands on another machine, and can run some here")


def _judge_copying(call: Call, notes: CommandNotes) -> None:
    _check_words(call, notes)
    remote = [match[1] for word in call.arguments if (match := _REMOTE.match(word.text))]
    if remote or call.name != "rsync":
        notes.network(remote[0] if remote else "", call.name)
    notes.doubt(f"{call.name} has flags that run programs")
    operands = [word for word in call.arguments if not word.is_flag and not _REMOTE.match(word.text)]
    for word in operands:
        notes.read(word)
    for word in operands[-1:]:
        notes.write(word, f"{call.name} may write there")


def _judge_any(call: Call, notes: CommandNotes) -> None:
    _check_words(call, notes)
    host = _host(call.arguments) or next((word.text for word in call.arguments if not word.is_flag), "")
    notes.network(host, call.name)


def _judge_service(call: Call, notes: CommandNotes) -> None:
    """Judge tools of cloud and container services: they use the network and do whatever the service does."""
    _check_words(call, notes)
    notes.network("", call.name)
    if call.name in {"docker", "podman", "kubectl", "nerdctl", "docker-compose", "helm", "vagrant"}:
        notes.runs(call.name, "containers and machines are beyond the sandbox")


def _check_words(call: Call, notes: CommandNotes) -> None:
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
            "openssl mail sendmail mutt swaks finger getent resolvectl"
        ),
        _judge_any,
    ),
    **dict.fromkeys(
        named(
            "gh glab hub docker docker-compose podman nerdctl kubectl helm aws gcloud az terraform tofu "
            "ansible ansible-playbook vagrant fly flyctl heroku vercel netlify firebase supabase wrangler "
            "doctl psql mysql redis-cli mongosh mongo"
        ),
        _judge_service,
    ),
}
