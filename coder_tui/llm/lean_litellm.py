"""Leaves out of litellm what a stream does not need: memory, and time at the end of a reply."""

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any

_TOKENIZER = "anthropic_tokenizer.json"
_COMMAND_LINE = "httpx._main"
_END = 20


@contextmanager
def lean_imports() -> Iterator[None]:
    """While litellm is imported: leave out a tokenizer for its own counting, and httpx's command line.

    They would keep 22 MB. httpx itself sees to its command line being absent.
    """
    load, names = json.load, vars(json)

    def load_others(file: Any, **options: Any) -> Any:
        return {} if str(getattr(file, "name", "")).endswith(_TOKENIZER) else load(file, **options)

    names["load"] = load_others
    absent: dict[str, Any] = {} if _COMMAND_LINE in sys.modules else {_COMMAND_LINE: None}
    sys.modules.update(absent)
    try:
        yield
    finally:
        names["load"] = load
        for name in absent:
            del sys.modules[name]


class TokenizerOnDemand:
    """Stands where litellm keeps its tokenizer (40 MB), which it loads for each call and hardly ever uses."""

    def __init__(self, litellm: ModuleType) -> None:
        self._litellm = litellm

    def __getattr__(self, name: str) -> Any:
        return getattr(self._litellm.encoding, name)


def only_counted(build: Callable[..., Any]) -> Callable[..., Any]:
    """Cut short what litellm does at the end of a stream: put all chunks together, twice, to count tokens.

    That took half a second for 3,000 chunks, and the turn waited for it. Where the server has counted, the
    chunks that say so are enough.
    """

    def build_counted(chunks: list[Any], *arguments: Any, **named: Any) -> Any:
        # Servers count at the beginning and at the end; to ask each chunk of a long reply takes a while, too.
        ends = chunks if len(chunks) <= 2 * _END else [*chunks[:_END], *chunks[-_END:]]
        counted = [chunk for chunk in ends[1:] if getattr(chunk, "usage", None) is not None]
        return build([chunks[0], *counted] if counted else chunks, *arguments, **named)

    return build_counted
