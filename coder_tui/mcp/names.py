"""A server's name as a part of its tools' names: no provider refuses it, and no two servers share it."""

import hashlib
import re

PREFIX = "mcp__"
_LONGEST = 28
_HASH = 8
_UNFIT = re.compile(r"[^A-Za-z0-9_-]")
# Two in a row part the server from its tool.
_RUN = re.compile(r"_{2,}")
# A name that ends so already could stand for another server, and would have what that one was granted.
_MARKED = re.compile(rf"-[0-9a-f]{{{_HASH}}}$")


def server_part(name: str) -> str:
    """What had to be changed or cut ends in a hash of the whole."""
    fit = _RUN.sub("_", _UNFIT.sub("_", name)).strip("_")
    if fit == name and len(fit) <= _LONGEST and not _MARKED.search(name):
        return fit
    mark = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:_HASH]
    return f"{fit[: _LONGEST - _HASH - 1].rstrip('_-')}-{mark}".lstrip("-")


def tool_prefix(server: str) -> str:
    return f"{PREFIX}{server_part(server)}__"
