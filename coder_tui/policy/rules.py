"""Rules by tool and pattern, and how they match.

The keys that a permission rule may have: tools, their groups, and the special ones.

How a rule's pattern matches a URL: host by host, so that a look-alike never passes for the real one.
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
"""Before the name of a tool that people wrote themselves."""
FOREIGN = ("mcp__", "discovered_tool_", CUSTOM)

PERMISSION_KEYS: tuple[str, ...] = (*_GROUPS, *_TOOLS.split())


def is_permission_key(key: str) -> bool:
    """A tool of a server or of a discovering command is named by that, not by us."""
    return key in PERMISSION_KEYS or key.startswith(FOREIGN)


_PATTERN = re.compile(
    r"(?:(?P<scheme>[^:/]+)://)?(?P<host>\[[^\]]*\]|[^/?#:]*)(?::(?P<port>[^/?#]*))?(?P<rest>.*)"
)
_DEFAULT_PORTS = {"http": "80", "https": "443"}


def address_matches(pattern: str, url: str, *, strictly: bool) -> bool:
    """Whether `pattern` covers `url`. Strictly is for rules that allow; the others match as plain text, too.

    A host may begin with `*.`; a `*` right after a host means its paths, never a longer host.
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
    """Whether `pattern` has the very host of `url` in it, and not a `*` that happens to cover it."""
    wanted = _PATTERN.fullmatch(pattern)
    try:
        given = urlsplit(url).hostname or ""
    except ValueError:
        return False
    return wanted is not None and _split_star(wanted["host"].lower(), "")[0] == given.lower()


def _split_star(host: str, rest: str) -> tuple[str, str]:
    """`good.com*` is meant as everything on good.com; taken as text it would cover `good.com.evil.io`."""
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
    """`key` names a tool, a permission group or `*`; `pattern` is a glob over what the call touches."""

    key: str
    pattern: str
    effect: Effect
    source: str
    yields_to_mode: bool = False
    """The person's own `"*" = "ask"`: it says what holds anyway, so a mode that they choose outweighs it."""

    def __str__(self) -> str:
        return f"{self.key} {self.pattern!r} = {self.effect}"


@dataclass(frozen=True, slots=True)
class Layer:
    """Rules from one place; inside it the last match wins."""

    name: str
    rules: tuple[Rule, ...]
    is_trusted: bool = True
    """A place that the person has not trusted may only make things stricter."""
    only_tightens: bool = False
    """Where its last match allows it says nothing: an exception from its own rules, and no permission."""

    @property
    def effective(self) -> tuple[Rule, ...]:
        if self.is_trusted:
            return self.rules
        return tuple(rule for rule in self.rules if rule.effect is not Effect.ALLOW)

    def says(self, match: Rule | None) -> Rule | None:
        """What the layer's last match counts for."""
        is_silent = match is not None and match.effect is Effect.ALLOW and self.only_tightens
        return None if is_silent else match


def strictest(rules: Iterable[Rule]) -> Rule | None:
    """Of several that ask, one that holds in every mode."""
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
    """Piece by piece from the left, so that many stars over a long text stay quick."""
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
    """As `pattern_matches`, but a star right behind a program's name stands for its arguments alone.

    Taken as text, `cat*` would also let `catchsegv ./x` run. A version is no other program: `python3.12`.
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
    """`mcp__server__*` stands for every tool of that server; other keys are names."""
    if wanted.startswith(FOREIGN) and wanted.endswith("*"):
        return pattern_matches(wanted, key)
    return wanted in (EVERYTHING, key)


def speaks_of(rule: Rule, keys: frozenset[str]) -> bool:
    return any(key_matches(rule.key, key) for key in keys)


def rule_matches(rule: Rule, keys: frozenset[str], target: Target | None, shown: str) -> bool:
    """Whether `rule` speaks of this call and target; `shown` is the target's workspace-relative form."""
    if not speaks_of(rule, keys):
        return False
    if target is None or rule.pattern == EVERYTHING:
        return rule.pattern == EVERYTHING and _may_cover_all(rule, target)
    if target.kind is TargetKind.COMMAND and rule.effect is Effect.ALLOW:
        # Until a command's parts are known, only the very same text counts as granted.
        return rule.pattern == target.value
    if target.kind is TargetKind.ADDRESS:
        return address_matches(rule.pattern, target.value, strictly=rule.effect is Effect.ALLOW)
    return pattern_matches(rule.pattern, target.value) or pattern_matches(rule.pattern, shown)


def _may_cover_all(rule: Rule, target: Target | None) -> bool:
    is_command = target is not None and target.kind is TargetKind.COMMAND
    return not (is_command and rule.effect is Effect.ALLOW)
