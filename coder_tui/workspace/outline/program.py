"""A child program that makes outlines: parsing blocks the interpreter, and a grammar may crash or loop."""

import json
import os
import sys
from pathlib import Path
from typing import Any

from coder_tui.workspace.outline.map import rank, render_file, render_map
from coder_tui.workspace.outline.parse import from_wire, grammar_for, parse, to_wire
from coder_tui.workspace.outline.survey import OutlineCache, key_of, survey

_PARTIAL = "… not all files were read in time"


def main() -> None:
    request = json.load(sys.stdin)
    cache = OutlineCache(Path(request["cache"]))
    outline = _file(request, cache) if "text" in request else _folder(request, cache)
    sys.stdout.buffer.write(json.dumps({"outline": outline}).encode())
    sys.stdout.buffer.flush()
    # A normal exit would wait for a process that hangs in a grammar.
    os._exit(0)


def _file(request: dict[str, Any], cache: OutlineCache) -> str:
    path, data = request["path"], request["text"].encode("utf-8", "replace")
    key = key_of(path, data)
    known = cache.load([key]).get(key)
    wire = to_wire(parse(path, data)) if known is None else known
    if known is None:
        cache.save({key: wire})
    grammar = grammar_for(path)
    depth = request["depth"] or (grammar.depth if grammar else None)
    return render_file(from_wire(wire), depth, request["budget"])


def _folder(request: dict[str, Any], cache: OutlineCache) -> str:
    found = survey(Path(request["root"]), request["paths"], cache, request["seconds"])
    files = {request["prefix"] + path: file for path, file in found.files.items()}
    text = render_map(files, rank(files), request["budget"])
    return f"{text}\n{_PARTIAL}".strip() if found.is_partial else text


if __name__ == "__main__":
    main()
