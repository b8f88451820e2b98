"""Damaged calls of the editing tools, one of each kind: see bench/edit_damage.py."""

import asyncio
import random
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

import click
import pytest

from bench.edit_accuracy import answer, scratch_setup
from bench.edit_damage import Answers, Case, describe, make_cases, run_cases, wrong_runs

SEED, CHANGES = 11, 10


def sample(kind: str) -> list[Case]:
    """Choose one case of each kind of damage."""
    cases = list(make_cases(Path(click.__file__).parent, CHANGES, SEED, [kind]))
    random.Random(SEED).shuffle(cases)
    return sorted({case.name: case for case in cases}.values(), key=lambda case: case.name)


@pytest.mark.parametrize("kind", ["edit", "patch", "apply_patch"])
def test_no_damaged_call_writes_what_was_not_meant(kind: str, tmp_path: Path) -> None:
    setup = scratch_setup(tmp_path)
    numbers = count()

    def ask(requests: list[dict[str, Any]]) -> Answers:
        return asyncio.run(answer_each(requests))

    async def answer_each(requests: list[dict[str, Any]]) -> Answers:
        answers = {}
        for request in requests:
            folder = tmp_path / str(next(numbers))
            answers[request["id"]] = await answer(replace(setup, directory=folder), request)
        return answers

    wrong = wrong_runs(run_cases(sample(kind), ask))

    assert not wrong, "\n\n".join(describe(run) for run in wrong)
