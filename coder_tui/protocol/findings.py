"""What a command was found to do, as data that policy, sandbox and screens share."""

from dataclasses import dataclass
from enum import StrEnum


class FindingKind(StrEnum):
    READS = "reads"
    WRITES = "writes"
    DELETES = "deletes"
    NETWORK = "network"
    RUNS_CODE = "runs code"
    UNKNOWN = "unknown"


_WORDS = {
    FindingKind.READS: "reads",
    FindingKind.WRITES: "writes",
    FindingKind.DELETES: "deletes",
    FindingKind.NETWORK: "uses the network",
    FindingKind.RUNS_CODE: "runs code",
    FindingKind.UNKNOWN: "may do anything",
}
_ACTING = frozenset({FindingKind.READS, FindingKind.WRITES, FindingKind.DELETES})


@dataclass(frozen=True, slots=True)
class Finding:
    """One effect. `target` is an absolute path, a host or a program, or empty if unknown.

    `reason` names the evidence: "> sends output there", "--output names it".
    """

    kind: FindingKind
    target: str = ""
    reason: str = ""

    def __str__(self) -> str:
        between = " " if self.kind in _ACTING else ": "
        said = between.join(part for part in (_WORDS[self.kind], self.target) if part)
        return f"{said} ({self.reason})" if self.reason else said
