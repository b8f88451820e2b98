"""Generate shell attacks, and run each one that policy would not ask about: no marker may be touched.

uv run python -m bench.shell_attacks [--n 100000] [--seed 1] [--shell all] [--rules attack|looking|plan]

Commands are made, judged and run inside bubblewrap: no network, no rights, a read-only system, and the
planted workspace, home and outside on a file system in memory.
"""

import argparse
import json
import shutil
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from bench.shell_cell import SHELLS, Cell, Touch
from bench.shell_grammar import Grammar
from coder_tui.policy.rules import Effect
from coder_tui.protocol.access import Mode
from tests.policy.corpus import UNDER_TEST, Judge, attacks, everyday_rules, ordinary

BASE = Path("/tmp/cell")
CELLS = 4
PLAN = "plan"
INSTALL_HINT = "bubblewrap is missing: install the package bubblewrap"
# Other everyday rules let build tools run, which run anything.
_LAST_OF_LOOKING = "git --version"
# These also allow new branches, tags and remotes.
_MAY_WRITE = frozenset({"git branch*", "git tag*", "git remote*"})
_RIGHTS = (
    "--unshare-user --unshare-pid --unshare-net --unshare-ipc --cap-drop ALL --die-with-parent --new-session"
)
_PLACES = (
    "--ro-bind / / --dev /dev --proc /proc --tmpfs /tmp --tmpfs /var/tmp --tmpfs /dev/shm"
    # What a system does at login takes most of the time and is not tested here.
    " --tmpfs /usr/local/bin --ro-bind /dev/null /etc/profile"
)
# Started only for the words behind them.
_NOT_SHIMMED = frozenset({"xargs", "timeout", "command"})
_CAN_BE_MISREAD = frozenset("'\"\\#\n\t=<>&")
Tally = dict[str, int]


def rules_named(name: str) -> Mapping[str, str]:
    if name == "attack":
        return UNDER_TEST
    if name == PLAN:
        # Then only the mode holds back what is not proven to be read-only.
        return {"*": "allow"}
    rules = everyday_rules()
    names = list(rules)
    looking = names[: names.index(_LAST_OF_LOOKING) + 1]
    return {pattern: rules[pattern] for pattern in looking if pattern not in _MAY_WRITE}


def attack_inside(arguments: argparse.Namespace) -> tuple[Tally, list[Touch]]:
    """Only call this where everything but `BASE` is out of reach."""
    cell = Cell(BASE, is_hostile=arguments.hostile)
    planted = cell.planted
    mode = Mode.PLAN if arguments.rules == PLAN else Mode.ASK
    judge = Judge(planted.root, planted.home, rules_named(arguments.rules), mode)
    known = [attack.command for attack in attacks(planted.root) if len(attack.command) < 400]
    known += [command for _, command in ordinary(planted.root)]
    grammar = Grammar(arguments.seed, str(planted.base), known, is_wide=arguments.rules != "attack")
    cell.add_shims(grammar.programs - _NOT_SHIMMED)
    shells = list(SHELLS) if arguments.shell == "all" else [arguments.shell]
    assert cell.run("echo x > pwned; cat .env", "dash"), "the markers do not work"
    assert cell.words_started("ls 'a b'", "bash") == {("ls", "a b")}, "the stand-ins do not work"
    tally, touches, seen = Counter[str](), [], set[str]()
    while len(seen) < arguments.n:
        command = grammar.command()
        if command in seen or "\0" in command or not command.strip():
            continue
        seen.add(command)
        effect = judge.verdict(command).effect
        tally[effect] += 1
        if effect is Effect.ALLOW:
            tally["executed"] += len(shells)
            touches += [touch for shell in shells if (touch := cell.run(command, shell))]
            touches += misread(command, shells, cell, judge)
    tally |= {"judged": len(seen), "timed out": cell.timed_out}
    return dict(tally), touches


def misread(command: str, shells: Sequence[str], cell: Cell, judge: Judge) -> list[Touch]:
    """Return where a shell starts a program with other words than the analysis read."""
    if not _CAN_BE_MISREAD.intersection(command):
        return []
    read = judge.words(command)
    return [
        Touch(shell, command, (f"started {words}, read {sorted(read)}",))
        for shell in shells
        for words in cell.words_started(command, shell) - read
    ]


def confined(arguments: Sequence[str]) -> list[str]:
    rg = shutil.which("rg", path=f"{Path(sys.executable).parent}:/usr/local/bin:/usr/bin:/bin")
    shown = ["--ro-bind", rg, "/usr/local/bin/rg"] if rg else []
    root = str(Path(__file__).parents[1])
    # Again, if a checkout is in the hidden folder.
    shown += [word for path in (root, sys.prefix) for word in ("--ro-bind", path, path)]
    return [
        *("bwrap", *_RIGHTS.split(), *_PLACES.split(), *shown, "--chdir", root),
        *(sys.executable, "-m", "bench.shell_attacks", "--inside", *arguments),
    ]


def run_confined(n: int, seed: int, shell: str, rules: str, *, is_hostile: bool) -> tuple[Tally, list[Touch]]:
    options = {"n": n, "seed": seed, "shell": shell, "rules": rules}
    flags = [f"--{name}={value}" for name, value in options.items()] + ["--hostile"] * is_hostile
    done = subprocess.run(confined(flags), stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"the cell ended with {done.returncode}: a command may have ended it (seed {seed})")
    answer = json.loads(done.stdout)
    return answer["tally"], [Touch(*touch) for touch in answer["touches"]]


def attack(n: int, seed: int, shell: str, rules: str, jobs: int = 2) -> tuple[Tally, list[Touch]]:
    """Spread the work over `jobs` cells, each with its own seed; every fourth workspace is hostile."""

    def share(number: int) -> tuple[Tally, list[Touch]]:
        part = n // CELLS + (number < n % CELLS)
        return run_confined(part, seed * 1000 + number, shell, rules, is_hostile=number % 4 == 0)

    total, touches = Counter[str](), list[Touch]()
    with ThreadPoolExecutor(jobs) as pool:
        for tally, touched in pool.map(share, range(CELLS)):
            total.update(tally)
            touches += touched
    return dict(total), touches


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--n", type=int, default=100_000, help="commands to judge")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--shell", choices=("all", *SHELLS), default="all")
    parser.add_argument("--rules", choices=("attack", "looking", PLAN), default="attack")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--hostile", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    return parser


def main() -> int:
    arguments = _parser().parse_args()
    if arguments.inside:
        tally, touches = attack_inside(arguments)
        found = [(touch.shell, touch.command, list(touch.what)) for touch in touches]
        print(json.dumps({"tally": tally, "touches": found}))
        return 0
    if not shutil.which("bwrap"):
        raise SystemExit(INSTALL_HINT)
    began = time.perf_counter()
    tally, touches = attack(arguments.n, arguments.seed, arguments.shell, arguments.rules, arguments.jobs)
    for name in ("judged", "allow", "ask", "deny", "executed", "timed out"):
        print(f"{name:<16}{tally.get(name, 0):>9,}")
    print(f"{'touched':<16}{len(touches):>9,}")
    print(f"{time.perf_counter() - began:.0f} s, seed {arguments.seed}, rules {arguments.rules}")
    for touch in touches[:50]:
        print(f"  {touch.shell}: {touch.command!r}: {', '.join(touch.what)}")
    return 1 if touches else 0


if __name__ == "__main__":
    raise SystemExit(main())
