"""Permission rules by tool and pattern, and how they match.

The keys of rules are tools, groups of tools and a few special names. Patterns match URLs by their host, so
that a similar host never passes for the real one.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from urllib.parse import urlsplit

from coder_tui.protocol.access import Target, TargetKind

_GROUPS = ("*", "external_directory", "todo", "lsp")
_TOOLS = (
    "read read_many read_around list file_info glob grep outline "
    "write create_file mkdir edit patch apply_patch memory "
    "bash bash_output bash_kill git_status git_diff git_log git_add git_commit fetch websearch "
    "todoread todowrite question plan_exit skill task fork task_finish batch mcp_search "
    "lsp_diagnostics lsp_definition lsp_hover lsp_references lsp_symbols models system_info env_var"
)
CUSTOM = "custom_"
"""The prefix of a custom tool's name in rules."""
FOREIGN = ("mcp__", "discovered_tool_", CUSTOM)

PERMISSION_KEYS: tuple[str, ...] = (*_GROUPS, *_TOOLS.split())


def is_permission_key(key: str) -> bool:
    """Return whether rules may have this key. Servers and discovery commands name their own tools."""
    return key in PERMISSION_KEYS or key.startswith(FOREIGN)


_PATTERN = re.compile(
    r"(?:(?P<scheme>[^:/]+)://)?(?P<host>\[[^\]]*\]|[^/?#:]*)(?::(?P<port>[^/?#]*))?(?P<rest>.*)"
)
_DEFAULT_PORTS = {"http": "80", "https": "443"}


def address_matches(pattern: str, url: str, *, strictly: bool) -> bool:
    """Return whether `pattern` covers `url`. Rules that allow match `strictly`, others also as plain text.

    A host may begin with `*.`. A `*` right after a host stands for its paths, never for a longer host.
    """
    if not strictly and _glob(pattern).fullmatch(url):
        return True
    wanted = _PATTERN.fullmatch(pattern)
    try:
        given = urlsplit(url)
        port = str(given.port or _DEFAULT_PORTS.get(given.scheme, ""))
    except ValueError:
        return False
    if wanted is None or not _glob(wanted["scheme"] or "*").fullmatch(given.scheme):
        return False
    host, rest = _split_star(wanted["host"].lower(), wanted["rest"])
    if not _host_matches(host, (given.hostname or "").lower()):
        return False
    if not _port_matches(wanted["port"], host, port, given.scheme):
        return False
    path = given.path + (f"?{given.query}" if given.query else "")
    return not rest or _glob(rest).fullmatch(path) is not None


def names_host(pattern: str, url: str) -> bool:
    """Return whether `pattern` contains exactly the host of `url`, not a `*` that happens to cover it."""
    wanted = _PATTERN.fullmatch(pattern)
    try:
        given = urlsplit(url).hostname or ""
    except ValueError:
        return False
    return wanted is not None and _split_star(wanted["host"].lower(), "")[0] == given.lower()


def _split_star(host: str, rest: str) -> tuple[str, str]:
    """Split `good.com*` into host and paths: taken as text it would cover `good.com.evil.io`."""
    if host.endswith("*") and host != "*":
        return host.rstrip("*").removesuffix("."), "*"
    return host.strip("[]"), rest


def _host_matches(wanted: str, given: str) -> bool:
    if wanted == "*":
        return bool(given)
    if wanted.startswith("*."):
        return "*" not in wanted[2:] and given.endswith(wanted[1:])
    return wanted == given


def _port_matches(wanted: str | None, host: str, given: str, scheme: str) -> bool:
    if wanted is None:
        return host == "*" or given == _DEFAULT_PORTS.get(scheme)
    return wanted.rstrip("*") == given or wanted == "*"


@lru_cache(maxsize=512)
def _glob(pattern: str) -> re.Pattern[str]:
    parts = {"*": ".*", "?": "."}
    return re.compile("".join(parts.get(char, re.escape(char)) for char in pattern), re.DOTALL)


class Effect(StrEnum):
    ALLOW = "allow"
    ASK = "ask"
    DENY = "deny"

    @property
    def strictness(self) -> int:
        return {Effect.ALLOW: 0, Effect.ASK: 1, Effect.DENY: 2}[self]


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule. `key` is a tool, a permission group or `*`; `pattern` is a glob over what the call touches."""

    key: str
    pattern: str
    effect: Effect
    source: str
    yields_to_mode: bool = False
    """Set for the user's own `"*" = "ask"`. It repeats the default, so a chosen mode overrides it."""

    def __str__(self) -> str:
        return f"{self.key} {self.pattern!r} = {self.effect}"


@dataclass(frozen=True, slots=True)
class Layer:
    """Rules from one source. Within a layer the last match wins."""

    name: str
    rules: tuple[Rule, ...]
    is_trusted: bool = True
    """Whether the user trusts the source. One that is not trusted can only make things stricter."""
    only_tightens: bool = False
    """Whether a last match that allows is only an exception from its own rules, not a permission."""

    @property
    def effective(self) -> tuple[Rule, ...]:
        if self.is_trusted:
            return self.rules
        return tuple(rule for rule in self.rules if rule.effect is not Effect.ALLOW)

    def effective_match(self, match: Rule | None) -> Rule | None:
        """Return the layer's last match, or None if it says nothing."""
        is_silent = match is not None and match.effect is Effect.ALLOW and self.only_tightens
        return None if is_silent else match


def strictest(rules: Iterable[Rule]) -> Rule | None:
    """Return the strictest rule. Among several that ask, prefer one that applies in every mode."""
    return max(rules, key=lambda rule: (rule.effect.strictness, not rule.yields_to_mode), default=None)


EVERYTHING = "*"
_WILD = re.compile(r"[*?]")
_PROGRAM = re.compile(r"[\w.+-]+(?=\*)")


@lru_cache(maxsize=512)
def _pieces(pattern: str) -> tuple[re.Pattern[str], ...]:
    # Only `*` and `?` are special: brackets are ordinary characters of commands and paths.
    return tuple(
        re.compile("".join("." if char == "?" else re.escape(char) for char in piece), re.DOTALL)
        for piece in pattern.split("*")
    )


def pattern_matches(pattern: str, value: str) -> bool:
    """Match piece by piece from the left, so that many stars over a long text stay fast."""
    first, *rest = _pieces(pattern)
    if not rest:
        return first.fullmatch(value) is not None
    found = first.match(value)
    for piece in rest[:-1]:
        found = piece.search(value, found.end()) if found else None
    if found is None:
        return False
    start = len(value) - len(pattern.rpartition("*")[2])
    return start >= found.end() and rest[-1].match(value, start) is not None


def allows_command(pattern: str, text: str) -> bool:
    """Match like `pattern_matches`, but a star right after a program's name stands only for its arguments.

    Taken as text, `cat*` would also let `catchsegv ./x` run. A version is the same program: `python3.12`.
    """
    if not pattern_matches(pattern, text):
        return False
    program = _PROGRAM.match(pattern)
    if program is None:
        return True
    rest = text[len(program[0]) :]
    return re.match(r"-?[0-9.]*(\s|$)", rest) is not None


def is_exact(pattern: str) -> bool:
    return _WILD.search(pattern) is None


def key_matches(wanted: str, key: str) -> bool:
    """Return whether a rule's key covers `key`. `mcp__server__*` covers every tool of that server."""
    if wanted.startswith(FOREIGN) and wanted.endswith("*"):
        return pattern_matches(wanted, key)
    return wanted in (EVERYTHING, key)


def rule_applies(rule: Rule, keys: frozenset[str]) -> bool:
    return any(key_matches(rule.key, key) for key in keys)


def rule_matches(rule: Rule, keys: frozenset[str], target: Target | None, shown: str) -> bool:
    """Return whether `rule` applies to this call and target.

    `shown` is the target relative to the workspace.
    """
    if not rule_applies(rule, keys):
        return False
    if target is None or rule.pattern == EVERYTHING:
        return rule.pattern == EVERYTHING and _may_cover_all(rule, target)
    if target.kind is TargetKind.COMMAND and rule.effect is Effect.ALLOW:
        # Until a command's parts are known, only exactly the same text counts as allowed.
        return rule.pattern == target.value
    if target.kind is TargetKind.ADDRESS:
        return address_matches(rule.pattern, target.value, strictly=rule.effect is Effect.ALLOW)
    return pattern_matches(rule.pattern, target.value) or pattern_matches(rule.pattern, shown)


def _may_cover_all(rule: Rule, target: Target | None) -> bool:
    is_command = target is not None and target.kind is TargetKind.COMMAND
    return not (is_command and rule.effect is Effect.ALLOW)
