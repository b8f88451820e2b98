"""A sample of the random streams that the benchmark runs a million of."""

import random

import pytest

from bench import safe_text as bench


def test_no_random_stream_controls_the_terminal_or_depends_on_its_chunks() -> None:
    score = bench.measure(4_000, seed=7)
    assert (score.streams, score.failures) == (4_000, [])


def test_a_leaking_gate_would_be_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench, "safe_text", lambda text: text)
    assert any(fault.startswith("safe_text let through") for fault in bench.measure(50, seed=7).failures)


def test_the_streams_hold_what_they_should() -> None:
    chance = random.Random(7)
    joined = b"".join(bench.stream_of(chance) for _ in range(500))
    for part in (b"\x1b]52;", b"\x1b[2J", b"\xe2\x80\xae", b"\xc2\x9b", b"\xed\xa0\x80", b"\r\n"):
        assert part in joined
