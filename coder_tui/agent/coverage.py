"""What a grant would have covered: the calls of this session that were asked for and would not have been."""

from collections import deque
from dataclasses import dataclass, field, replace

from coder_tui.policy.decide import Action, Policy, decide
from coder_tui.policy.rules import Effect
from coder_tui.protocol.requests import Grant

MOST_REMEMBERED = 200
"""Every one of them is decided again for each scope that is offered."""


@dataclass(frozen=True, slots=True)
class AskedBefore:
    """The calls that a person was asked about since the session was opened."""

    _asked: deque[tuple[Action, str]] = field(default_factory=lambda: deque(maxlen=MOST_REMEMBERED))

    def remember(self, action: Action, summary: str) -> None:
        self._asked.append((action, summary))

    def covered(self, grant: Grant, policy: Policy) -> tuple[str, ...]:
        """Summaries of what the grant alone would have let pass, each once."""
        with_grant = replace(policy, grants=(*policy.grants, grant))
        passed = (
            summary
            for action, summary in self._asked
            if decide(action, with_grant).effect is Effect.ALLOW
            and decide(action, policy).effect is Effect.ASK
        )
        return tuple(dict.fromkeys(passed))
