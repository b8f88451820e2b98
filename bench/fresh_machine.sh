#!/usr/bin/env bash
# Run both README commands as on a machine with only Python and git, in a fresh clone of the last commit.
#
#   bench/fresh_machine.sh [--run-only | --test-only] [--as-user] [--offline] [--below DIR] [-- PYTEST ARGUMENTS]
#
#   --run-only   only `uv run coder-tui`: wait for its first screen, print the seconds, quit
#   --test-only  only `uv run pytest`
#   --as-user    as an ordinary user, if you are root
#   --offline    no network but loopback once everything is installed
#   --below DIR  where to put the clone (default: the folder for temporary files)
#
# A mount namespace gives it an empty home and hides the programs below. Nothing outside of it changes.
set -euo pipefail
hidden=(bwrap tmux node nodejs npm npx zsh fish chromium chromium-browser google-chrome shellcheck rg nano vi vim)
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
fail() { printf 'fresh_machine: %s\n' "$*" >&2; exit 1; }

prepare() {
  does=both as_user='' offline='' below=${TMPDIR:-/tmp}
  while [ $# -gt 0 ]; do
    case $1 in
      --run-only) does=run ;;
      --test-only) does='test' ;;
      --as-user) as_user=yes ;;
      --offline) offline=yes ;;
      --below) below=${2:?--below needs a folder}; shift ;;
      --) shift; break ;;
      *) fail "there is no option $1; see the top of ${BASH_SOURCE[0]}" ;;
    esac
    shift
  done
  mkdir -p "$below"
  work=$(mktemp -d "$(cd "$below" && pwd)/fresh.XXXXXX")
  trap 'rm -rf "$work"' EXIT
  chmod 755 "$work"
  user=$(id -u) group=$(id -g) spaces=(--mount)
  if [ "$user" -ne 0 ]; then
    as_user='' spaces+=(--user --map-root-user)
  elif [ -n "$as_user" ]; then
    user=64321 group=64321
  fi
  unshare "${spaces[@]}" mount -t tmpfs tmpfs "$work" 2>/dev/null ||
    fail "this needs root or user namespaces: sysctl -w kernel.unprivileged_userns_clone=1"
  git clone -q --no-hardlinks "$root" "$work/coder-tui"
  prefix=$(python3 -c 'import sys; print(sys.base_prefix)')
  "$prefix/bin/python3" -m venv "$work/python" >/dev/null || fail "Python lacks venv: apt install python3-venv"
  # The machine's own way to packages goes along.
  mkdir -p "$work/config"
  for name in pip uv; do
    [ ! -d "${XDG_CONFIG_HOME:-$HOME/.config}/$name" ] || cp -r "${XDG_CONFIG_HOME:-$HOME/.config}/$name" "$work/config"
  done
  export does as_user offline work user group prefix
  unshare "${spaces[@]}" bash "${BASH_SOURCE[0]}" --inside "$@"
}

empty() {  # empty FOLDER: nothing is in it but Python and the clone, if they were
  local new="$work/empty" kept
  mkdir -p "$new"
  mount -t tmpfs -o mode=755 tmpfs "$new"
  for kept in "$prefix" "$work"; do
    case $kept in "$1"/*)
      mkdir -p "$new/${kept#"$1"/}"
      mount --bind "$kept" "$new/${kept#"$1"/}" ;;
    esac
  done
  mount --rbind "$new" "$1"
}

inside() {
  local home=$HOME name place folders pair drop=() kept=()
  PATH="$work/python/bin:$(dirname "$(command -v git)"):/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"
  IFS=: read -ra folders <<<"$PATH:/snap/bin:/run/current-system/sw/bin"
  for name in "${hidden[@]}"; do
    for place in "${folders[@]}"; do
      [ ! -x "$place/$name" ] || mount --bind /dev/null "$(realpath "$place/$name")"
      [ ! -x "$place/$name" ] || fail "$place/$name could not be hidden"
    done
  done
  empty "$HOME"
  if [ -n "$as_user" ]; then
    home=/home/fresh
    empty /home
    { cat /etc/passwd; echo "fresh:x:$user:$group::$home:/bin/sh"; } >"$work/passwd"
    mount --bind "$work/passwd" /etc/passwd
    drop=(setpriv "--reuid=$user" "--regid=$group" --clear-groups)
  elif [ "$user" -ne 0 ]; then
    drop=(unshare --user "--map-user=$user" "--map-group=$group")
  fi
  mkdir -p "$home/.config"
  cp -r "$work/config/." "$home/.config"
  [ -z "$as_user" ] || chown -R "$user:$group" "$home" "$work"/{coder-tui,python}
  while IFS= read -rd '' pair; do
    [[ ! $pair =~ ^((PIP|UV)_[A-Z_]*(INDEX|LINKS|CERT|TLS|HOST|TIMEOUT)|SSL_CERT|REQUESTS_CA|[A-Za-z]*_(PROXY|proxy)=) ]] ||
      kept+=("$pair")
  done < <(env -0)
  as=("${drop[@]}" env -i "${kept[@]}" "HOME=$home" "PATH=$PATH" "TERM=xterm-256color" LANG=C.UTF-8)
  cd "$work/coder-tui"
  [ "$does" = test ] || "${as[@]}" python -c "$first_screen" || fail "the program did not start"
  [ "$does" != run ] || return 0
  if [ -n "$offline" ]; then
    "${as[@]}" sh -c 'pip install -q uv && uv sync -q'
    as=(unshare --net bash -c "python -c '$loopback'"' && exec "$@"' bash "${as[@]}")
  fi
  # shellcheck disable=SC2016
  "${as[@]}" sh -c 'pip install -q uv && uv run pytest "$@"' sh "$@"
}

loopback='import fcntl, socket, struct
fcntl.ioctl(socket.socket(), 0x8914, struct.pack("16sh14x", b"lo", 0x49))  # SIOCSIFFLAGS: up and running'

first_screen='
import fcntl, os, pty, select, struct, sys, termios, time
began, seen = time.monotonic(), b""
pid, terminal = pty.fork()
if pid == 0:
    fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("4H", 24, 80, 0, 0))
    os.execvp("sh", ["sh", "-c", "pip install -q uv && uv run coder-tui"])
def read_until(words, seconds):
    global seen
    while words not in seen:
        ready, _, _ = select.select([terminal], [], [], max(0, began + seconds - time.monotonic()))
        try:
            more = os.read(terminal, 65536) if ready else b""
        except OSError:
            more = b""
        if not more:
            return
        seen += more
def expect(words, seconds, complaint):
    read_until(words, seconds)
    if words not in seen:
        os.kill(pid, 9)
        sys.exit(complaint + "; the end of what came:\n" + seen[-2000:].decode(errors="replace"))
# The clone has instructions for agents, so the first question is whether to trust them.
expect(b"not now", 600, "no first screen within ten minutes")
print(f"first screen after {time.monotonic() - began:.1f} s (with the installation)", flush=True)
expect(b"ready", 610, "the question about trust takes no keys")
os.write(terminal, b"\x1b")
expect(b"Try the demo now", 620, "Esc did not lead to the welcome")
os.write(terminal, b"q")
expect(b"no model yet", 630, "q did not quit it")
'

if [ "${1:-}" = --inside ]; then shift; inside "$@"; else prepare "$@"; fi
