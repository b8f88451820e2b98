"""Damage realistic changes in the ways of language models, and count what the editing tools make of them.

    python -m bench.edit_damage --files DIR [--files DIR] [--n 40] [--seed 1] [--kind edit] [--show N]

Verdicts: right (the intended text, except perhaps for trailing blanks, line ends or the last newline),
refused (nothing was written), WRONG (something else was written). A trap must be refused. The tools are
those of `bench.edit_accuracy`, or of another program that answers the same JSON lines (--candidate).
"""

import argparse
import difflib
import json
import random
import re
import shlex
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import Any

from bench.edit_damage_calls import arguments
from bench.edit_damage_changes import Draft, Files, Hunk, Source, apply_hunks, draft_change, make_changes
from bench.edit_damage_hunks import ALL, DAMAGES, EXACT, Damage

# Each module registers its kinds of damage when it is imported.
from bench.edit_damage_strings import draft_sequence
from bench.edit_damage_traps import STALE_TRAPS

Answers = dict[str, dict[str, Any]]
Ask = Callable[[list[dict[str, Any]]], Answers]

ROOT = Path(__file__).resolve().parents[1]
SEQUENCE = "sequence_against_first_text"


class Verdict(StrEnum):
    """Says what became of a case."""

    RIGHT = "right"
    REFUSED = "refused"
    LOST = "lost"
    WRONG = "WRONG"


@dataclass(frozen=True, slots=True)
class Case:
    """Holds calls of a tool and the files that must result; no files mean that the calls must be refused."""

    id: str
    kind: str
    name: str
    files: Files
    calls: tuple[dict[str, Any], ...]
    truth: Files | None
    source: Source
    cores: tuple[Hunk, ...] = ()

    @property
    def is_trap(self) -> bool:
        return self.truth is None

    def expect(self, accepted: Sequence[int]) -> Files | None:
        """Return the files that must result if only some calls were accepted."""
        if not self.cores:
            return self.truth
        lines = apply_hunks(self.source.lines, [self.cores[i] for i in accepted])
        return {self.source.path: self.source.text(lines)}


@dataclass(slots=True)
class Run:
    """Tracks a case while its calls are made."""

    case: Case
    files: Files
    accepted: list[int] = field(default_factory=list)
    verdict: Verdict | None = None

    def record(self, step: int, answer: dict[str, Any] | None) -> None:
        """Judge the answer to one call."""
        if answer is None or not answer.get("ok"):
            self.verdict = Verdict.REFUSED if answer else Verdict.LOST
            self.verdict = self.verdict if len(self.case.calls) == 1 else None
            return
        before = self.files
        after: dict[str, str | None] = {**before, **(answer.get("files") or {})}
        self.files = {path: text for path, text in after.items() if text is not None}
        if self.case.is_trap:
            self.verdict = Verdict.REFUSED if self.files == before else Verdict.WRONG
            return
        self.accepted.append(step)
        if not is_same(self.files, self.case.expect(self.accepted) or {}):
            self.verdict = Verdict.WRONG

    def finish(self) -> Verdict:
        if self.verdict is None:
            self.verdict = Verdict.RIGHT if len(self.accepted) == len(self.case.calls) else Verdict.REFUSED
        return self.verdict


def is_same(one: Files, other: Files) -> bool:
    """Compare files except for trailing blanks, line ends and newlines at the end."""
    return one.keys() == other.keys() and all(soften(one[path]) == soften(other[path]) for path in one)


def soften(text: str) -> list[str]:
    return [line.rstrip() for line in text.replace("\r\n", "\n").rstrip().split("\n")]


def make_cases(folder: Path, count: int, seed: int, kinds: Sequence[str], only: str = "") -> Iterator[Case]:
    """Make every kind of damage to every change for which it is possible."""
    for name, source, other, after in make_changes(folder, count, seed):
        for kind in kinds:
            rng = random.Random(f"{seed}:{name}:{kind}")
            draft = draft_change(kind, source, other, after, rng)
            if draft:
                draft = replace(draft, numbers=rng.choice(["right", "right", "shifted", "bare"]))
                yield from damage_draft(name, draft, seed, only)
            if re.search(only, SEQUENCE):
                yield from make_sequence(name, draft_sequence(kind, source, other, rng))


def damage_draft(name: str, draft: Draft, seed: int, only: str) -> Iterator[Case]:
    for damage in DAMAGES:
        if draft.kind in damage.kinds and re.search(only, damage.name):
            damaged = damage.make(draft, random.Random(f"{seed}:{name}:{draft.kind}:{damage.name}"))
            case = build_case(name, draft, damaged, damage) if damaged else None
            if case:
                yield case


def build_case(name: str, draft: Draft, damaged: Draft, damage: Damage) -> Case | None:
    """Build a case, or None if the damage changes nothing or does not leave the meaning clear."""
    source = damaged.source
    files = {source.path: source.text()} if damaged.files is None else damaged.files
    args = arguments(damaged)
    is_unchanged = args == arguments(draft) and files == {draft.source.path: draft.source.text()}
    if is_unchanged and damage.name != EXACT:
        return None
    if draft.kind == "edit" and not is_clear(args, source, damage):
        return None
    truth = None
    if not damage.is_trap:
        truth = damaged.truth or {source.path: source.text(damaged.result())}
        if truth == files:
            return None
    return Case(f"{name}/{draft.kind}/{damage.name}", draft.kind, damage.name, files, (args,), truth, source)


def is_clear(args: dict[str, Any], source: Source, damage: Damage) -> bool:
    """Check that the old text is not by chance in another place, or in a stale file after all."""
    found = "\n".join(source.lines).count(args["old_string"]) if args["old_string"] else 0
    if damage.is_trap:
        return found == 0 or not damage.name.startswith(STALE_TRAPS)
    return found <= 1 and args["old_string"] != args["new_string"]


def make_sequence(name: str, drafts: Sequence[Draft]) -> Iterator[Case]:
    if drafts:
        source, kind = drafts[0].source, drafts[0].kind
        cores = tuple(draft.meant[0] for draft in drafts)
        # A diff is numbered by the hunk as written: its core has no context.
        calls = tuple(arguments(replace(draft, meant=draft.written)) for draft in drafts)
        yield Case(
            f"{name}/{kind}/{SEQUENCE}",
            kind,
            SEQUENCE,
            {source.path: source.text()},
            calls,
            {},
            source,
            cores,
        )


def run_cases(cases: Sequence[Case], ask: Ask) -> list[Run]:
    """Make the calls of all cases, one of each case at a time."""
    runs = [Run(case, dict(case.files)) for case in cases]
    for step in range(max((len(case.calls) for case in cases), default=0)):
        waiting = [run for run in runs if run.verdict is None and step < len(run.case.calls)]
        answers = ask([
            {"id": run.case.id, "kind": run.case.kind, "files": run.files, "args": run.case.calls[step]}
            for run in waiting
        ])  # fmt: skip
        for run in waiting:
            run.record(step, answers.get(run.case.id))
    for run in runs:
        run.finish()
    return runs


def ask_program(command: Sequence[str]) -> Ask:
    """Return a function that asks a program over its standard input and output."""

    def ask(requests: list[dict[str, Any]]) -> Answers:
        lines = "".join(json.dumps(request) + "\n" for request in requests)
        done = subprocess.run(command, input=lines, stdout=subprocess.PIPE, text=True, cwd=ROOT, check=False)
        answers = {}
        for line in done.stdout.splitlines():
            if line.startswith("{"):
                answer = json.loads(line)
                answers[answer["id"]] = answer
        return answers

    return ask


def print_tables(runs: Sequence[Run]) -> None:
    groups: dict[tuple[str, bool, str], Counter[Verdict]] = defaultdict(Counter)
    for run in runs:
        for name in (run.case.name, "total"):
            groups[run.case.kind, run.case.is_trap, name][run.finish()] += 1
    for kind in ALL:
        for is_trap in (False, True):
            names = sorted(
                name for k, trap, name in groups if (k, trap) == (kind, is_trap) and name != "total"
            )
            if names:
                print_table(kind, is_trap, {name: groups[kind, is_trap, name] for name in [*names, "total"]})


def print_table(kind: str, is_trap: bool, rows: dict[str, Counter[Verdict]]) -> None:
    heads = ("refused %", "lost", "taken") if is_trap else ("right %", "refused %", "lost", "WRONG")
    print(f"\n{kind}, {'traps' if is_trap else 'damage'} ({len(rows) - 1} kinds)")
    print(f"{'':42}{'cases':>7}" + "".join(f"{head:>11}" for head in heads))
    for name, verdicts in rows.items():
        cases = verdicts.total()
        refused = verdicts[Verdict.REFUSED] + verdicts[Verdict.LOST]
        shares = [refused] if is_trap else [verdicts[Verdict.RIGHT], refused]
        cells = "".join(f"{100 * share / cases:>11.1f}" for share in shares)
        print(f"{name:42}{cases:>7}{cells}{verdicts[Verdict.LOST]:>11}{verdicts[Verdict.WRONG] or '·':>11}")


def wrong_runs(runs: Sequence[Run]) -> list[Run]:
    """List the wrong cases so that each kind of damage comes once before any comes twice."""
    seen: Counter[tuple[str, str]] = Counter()
    ranked = []
    for run in runs:
        if run.verdict is Verdict.WRONG:
            seen[run.case.kind, run.case.name] += 1
            ranked.append((seen[run.case.kind, run.case.name], run))
    return [run for _, run in sorted(ranked, key=lambda pair: pair[0])]


def describe(run: Run) -> str:
    """Describe a wrong case: the calls, what they were to do, and what they did."""
    case = run.case
    parts = [f"{'=' * 30} {case.id}{' (trap)' if case.is_trap else ''}"]
    for args in case.calls:
        for name, value in args.items():
            parts.append(
                f"--- {name}: {value}" if name in ("path", "replace_all") else f"--- {name}:\n{value}"
            )
    truth = case.expect(run.accepted)
    parts.append("--- what the file had, and what was made of it:")
    parts += list(differences(case.files, run.files))
    if truth is not None:
        parts.append(f"--- what was meant, and what was made of it (calls accepted: {run.accepted}):")
        parts += list(differences(truth, run.files))
    return "\n".join(parts)


def differences(one: Files, other: Files) -> Iterator[str]:
    for path in sorted({*one, *other}):
        before, after = (files.get(path, "").splitlines() for files in (one, other))
        yield from difflib.unified_diff(before, after, path, path, lineterm="", n=5)


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument(
        "--files", type=Path, action="append", required=True, help="a folder of text files; may repeat"
    )
    parser.add_argument(
        "--n", type=int, default=40, help="how many changes to make in the files of each folder"
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kind", choices=ALL, help="only this tool")
    parser.add_argument("--only", default="", help="only kinds of damage whose name matches this expression")
    parser.add_argument("--show", type=int, default=0, metavar="N", help="print N wrong cases in full")
    parser.add_argument("--candidate", help="the program to measure, instead of bench.edit_accuracy")
    return parser.parse_args()


def main() -> int:
    options = parse_arguments()
    kinds = [options.kind] if options.kind else list(ALL)
    command = (
        shlex.split(options.candidate) if options.candidate else [sys.executable, "-m", "bench.edit_accuracy"]
    )
    cases = [
        replace(case, id=f"{number}:{case.id}")
        for number, folder in enumerate(options.files)
        for case in make_cases(folder, options.n, options.seed, kinds, options.only)
    ]
    runs = run_cases(cases, ask_program(command))
    print_tables(runs)
    for run in wrong_runs(runs)[: options.show]:
        print(f"\n{describe(run)}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
