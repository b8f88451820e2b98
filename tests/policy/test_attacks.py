"""No hand-written attack on the shell runs without asking."""

from collections import Counter
from pathlib import Path

import pytest

from coder_tui.policy.rules import Effect
from tests.policy.corpus import GENEROUS, UNDER_TEST, Attack, Judge, attacks, everyday_rules
from tests.policy.planted import plant

FAMILIES = sorted({attack.family for attack in attacks(Path("/ws"))})


@pytest.fixture(scope="module", params=[False, True], ids=["calm", "hostile"])
def judged(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> dict[Attack, Effect]:
    planted = plant(tmp_path_factory.mktemp("attacks") / "base", is_hostile=request.param)
    judges = {
        "attack": Judge(planted.root, planted.home, UNDER_TEST),
        "everyday": Judge(planted.root, planted.home, everyday_rules()),
        "generous": Judge(planted.root, planted.home, GENEROUS),
    }
    return {attack: judges[attack.rules].verdict(attack.command).effect for attack in attacks(planted.root)}


def test_there_are_at_least_four_hundred_different_attacks() -> None:
    tried = Counter((attack.command, attack.rules) for attack in attacks(Path("/ws")))
    assert len(tried) >= 400
    assert [pair for pair, count in tried.items() if count > 1] == []


@pytest.mark.parametrize("family", FAMILIES)
def test_no_attack_runs_without_asking(judged: dict[Attack, Effect], family: str) -> None:
    tried = {attack: effect for attack, effect in judged.items() if attack.family == family}
    assert tried
    allowed = [str(attack) for attack, effect in tried.items() if effect is Effect.ALLOW]
    assert allowed == [], "\n".join(allowed)


@pytest.mark.parametrize("family", FAMILIES)
def test_attacks_that_must_be_denied_are_denied(judged: dict[Attack, Effect], family: str) -> None:
    weak = [
        f"{attack} → {effect}"
        for attack, effect in judged.items()
        if attack.family == family and effect.strictness < attack.least.strictness
    ]
    assert weak == [], "\n".join(weak)


@pytest.mark.parametrize(
    "command",
    [
        "timeout 5 echo hi",
        "timeout -k 1.5s 2m echo hi",
        "nice -5 echo hi",
        "nice -n -5 echo hi",
        "git fetch --all --prune --tags --depth=5 origin",
        "git pull --rebase --autostash",
        "git commit -qam 'Fix excess commas'",
        "git diff -U3 HEAD",
        "git log --format=%h -n 3",
        "head -n -5 a.txt",
        "curl -fsSL https://example.com/x",
        """curl -d '{"name": "me@example.com"}' -H 'Accept: */*' https://example.com/x""",
    ],
)
def test_plain_forms_run_under_generous_rules(tmp_path: Path, command: str) -> None:
    judge = Judge(tmp_path, tmp_path / "home", GENEROUS)

    verdict = judge.verdict(command)

    assert verdict.effect is Effect.ALLOW, verdict.reasons
