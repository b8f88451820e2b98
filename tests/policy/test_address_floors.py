"""A rule for all addresses never covers this machine, its network or a cloud's metadata."""

import pytest

from coder_tui.policy.decide import FLOOR_SOURCE, Action, Policy, decide, offered_grants
from coder_tui.policy.paths import Boundaries
from coder_tui.policy.rules import Effect, Layer, Rule
from coder_tui.protocol.access import Mode, Target, TargetKind, ToolKind
from coder_tui.protocol.requests import Grant


def fetching(url: str, *, writes: bool = False) -> Action:
    return Action("fetch", "fetch", ToolKind.FETCH, (Target(TargetKind.ADDRESS, url, writes),))


def policy(*patterns: str, mode: Mode = Mode.ASK, grants: tuple[Grant, ...] = ()) -> Policy:
    rules = tuple(Rule("fetch", pattern, Effect.ALLOW, "config.toml:1") for pattern in patterns)
    return Policy(Boundaries(("/ws",)), mode, (Layer("user", rules),), grants)


@pytest.mark.parametrize(
    ("url", "effect"),
    [
        ("https://example.org/", Effect.ALLOW),
        ("http://169.254.169.254/", Effect.DENY),
        ("http://[fe80::1]/", Effect.DENY),
        ("http://metadata.google.internal/", Effect.DENY),
        ("http://localhost/", Effect.ASK),
        ("http://127.0.0.1:8000/", Effect.ASK),
        ("http://10.0.0.1/", Effect.ASK),
        ("http://[::1]/", Effect.ASK),
    ],
)
@pytest.mark.parametrize("pattern", ["*", "http*://*", "*://*"])
def test_a_rule_that_allows_everything_covers_only_public_addresses(
    url: str, effect: Effect, pattern: str
) -> None:
    verdict = decide(fetching(url), policy(pattern))
    assert verdict.effect is effect
    assert (verdict.source == FLOOR_SOURCE) is (effect is not Effect.ALLOW)


@pytest.mark.parametrize(
    ("pattern", "url", "effect"),
    [
        ("http://localhost:3000/*", "http://localhost:3000/a", Effect.ALLOW),
        ("http://127.0.0.1:*", "http://127.0.0.1:8000/", Effect.ALLOW),
        ("http://127.0.0.1*", "http://127.0.0.1/", Effect.ALLOW),
        ("http://[::1]:8000/*", "http://[::1]:8000/", Effect.ALLOW),
        ("http://10.0.0.1/*", "http://10.0.0.2/", Effect.ASK),
        ("http://*.localhost/*", "http://a.localhost/", Effect.ASK),
        ("http://169.254.169.254/*", "http://169.254.169.254/", Effect.DENY),
    ],
)
def test_a_rule_that_names_a_private_host_allows_it_but_never_metadata(
    pattern: str, url: str, effect: Effect
) -> None:
    assert decide(fetching(url), policy(pattern)).effect is effect


def test_a_later_rule_for_everything_overrides_the_host() -> None:
    assert decide(fetching("http://127.0.0.1/"), policy("http://127.0.0.1*", "*")).effect is Effect.ASK


def test_fetching_asks_by_default() -> None:
    assert decide(fetching("https://example.org/"), policy()).effect is Effect.ASK


def test_a_grant_for_a_private_address_covers_only_that_address() -> None:
    granted = policy(grants=(Grant("fetch", ("http://127.0.0.1:8000/a",), "a"),))
    assert decide(fetching("http://127.0.0.1:8000/a"), granted).effect is Effect.ALLOW
    assert decide(fetching("http://127.0.0.1:8000/b"), granted).effect is Effect.ASK


def test_a_grant_for_reading_an_address_does_not_let_a_call_send_to_it() -> None:
    granted = policy(grants=(Grant("fetch", ("https://example.org/",), "a"),))
    assert decide(fetching("https://example.org/"), granted).effect is Effect.ALLOW
    assert decide(fetching("https://example.org/", writes=True), granted).effect is Effect.ASK
    assert offered_grants(fetching("https://example.org/", writes=True), granted) == ()


def test_plan_mode_sends_nothing() -> None:
    verdict = decide(fetching("https://example.org/", writes=True), policy("*", mode=Mode.PLAN))
    assert verdict.effect is Effect.DENY
    assert decide(fetching("https://example.org/"), policy("*", mode=Mode.PLAN)).effect is Effect.ALLOW
