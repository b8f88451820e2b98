"""What a scripted model server says: replies, calls, token counts, and every way to misbehave."""

from collections.abc import Mapping
from dataclasses import dataclass, field

JsonObject = dict[str, object]
"""A request body as it came over the wire."""


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call. `arguments` is a JSON object, or the raw text that a careless model would send."""

    name: str
    arguments: Mapping[str, object] | str = field(default_factory=dict)
    id: str = ""


@dataclass(frozen=True, slots=True)
class Tokens:
    """`input` counts everything that was sent, cached and cache-written tokens included."""

    input: int = 10
    output: int = 5
    cached: int = 0
    cache_write: int = 0
    reasoning: int = 0


@dataclass(frozen=True, slots=True)
class Reply:
    """One answer. Without further fields it streams `text` word by word and ends properly.

    text, thinking, calls   what the model says; `signature` seals the thinking (Anthropic only),
                            `redacted` is the data of a redacted thinking block before it
    finish                  finish reason as the wire spells it; empty: what fits the content
    usage                   None sends no token counts
    argument_piece          how many characters of a call's arguments come in one event
    first_delay, chunk_delay  seconds before the first event and before each later one
    status, headers, error  status ≥ 400 answers with `error` as the API's error object and these headers;
                            `error_code` is added next to the text (OpenAI only)
    body                    this text instead of any event (an HTML page with status 200, say)
    cut_after               the connection drops after so many events; `cut_cleanly` ends the body properly,
                            as a proxy does that lost the server behind it
    stall_after             nothing more comes after so many events; the connection stays open
    garbage_after           `garbage` stands in the stream after so many events
    keep_alive              only comments come, for ever
    """

    text: str = ""
    thinking: str = ""
    calls: tuple[Call, ...] = ()
    signature: str = "c2lnbmF0dXJl"
    redacted: str = ""
    finish: str = ""
    usage: Tokens | None = Tokens()
    argument_piece: int = 12
    first_delay: float = 0.0
    chunk_delay: float = 0.0
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    error: str = "The scripted server refuses."
    error_code: str = ""
    body: str | None = None
    cut_after: int | None = None
    cut_cleanly: bool = False
    stall_after: int | None = None
    garbage_after: int | None = None
    garbage: bytes = b'data: {"choices": [{"delta": \n\n'
    keep_alive: bool = False


SCRIPT_IS_OVER = Reply(status=400, error="The script has no further reply.")


def words(text: str) -> list[str]:
    """Split as models stream: each piece a word with the blanks before it."""
    pieces: list[str] = []
    for part in text.split(" "):
        pieces.append(part if not pieces else " " + part)
    return [piece for piece in pieces if piece]


def reply_from(fields: Mapping[str, object]) -> Reply:
    """A reply from its JSON form, for servers that are run as a script."""
    plain = dict(fields)
    calls = plain.pop("calls", [])
    usage = plain.pop("usage", {})
    assert isinstance(calls, list)
    made = tuple(Call(**call) for call in calls)
    tokens = Tokens(**usage) if isinstance(usage, dict) else None
    return Reply(calls=made, usage=tokens, **plain)  # type: ignore[arg-type]  # the names come from a script file
