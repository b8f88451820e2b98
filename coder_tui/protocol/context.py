"""What a model is sent in place of the whole conversation."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Compaction:
    """`summary` stands for everything up to the message `last_id`; results of `pruned` calls are left out.

    Without a summary only results are left out. The conversation itself stays as it is.
    """

    number: int
    last_id: str = ""
    summary: str = ""
    pruned: frozenset[str] = frozenset()
