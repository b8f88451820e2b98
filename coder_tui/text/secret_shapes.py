"""Recognize keys by their shape, without knowing their values.

Each shape is tried only if one of its hints occurs, and most text has none. Every shape has bounded
lookahead, and none matches a digest, an identifier or an encoded image.
"""

import re
from dataclasses import dataclass
from functools import cache

MASK = "[redacted]"
_WORD = r"[A-Za-z0-9_\-]"
_HAS_DIGIT = rf"(?={_WORD}{{0,60}}\d)"
# Code more often names a secret than contains one: a variable, a placeholder, a format field.
_NAMES_ONE = r"(?![$<{%*(\[]|\.\.\.)"


@dataclass(frozen=True, slots=True)
class Shape:
    """A shape. `pattern` matches the secret; its group `lead` is kept. Hints are in lower case."""

    hints: tuple[str, ...]
    pattern: str
    ignores_case: bool = False

    def hide(self, text: str, lowered: str) -> str:
        if any(hint in lowered for hint in self.hints):
            return _compiled(self.pattern, ignores_case=self.ignores_case).sub(_masked, text)
        return text


@cache
def _compiled(pattern: str, *, ignores_case: bool) -> re.Pattern[str]:
    # On first use: compiling all at the start would take eight milliseconds.
    return re.compile(pattern, re.IGNORECASE if ignores_case else 0)


def _masked(match: re.Match[str]) -> str:
    return f"{match.groupdict().get('lead') or ''}{MASK}"


def _token(pattern: str, *hints: str) -> Shape:
    return Shape(hints, rf"(?<![A-Za-z0-9])(?:{pattern})")


def _after(lead: str, value: str, *hints: str) -> Shape:
    return Shape(hints, rf"(?P<lead>{lead}){_NAMES_ONE}(?:{value})", ignores_case=True)


_ISSUED = (
    _token(rf"sk-(?:ant|proj|svcacct|admin|or|lf|test)-{_WORD}{{8,}}", "sk-"),
    _token(rf"sk-{_HAS_DIGIT}{_WORD}{{16,}}", "sk-"),
    _token(r"[spr]k_(?:live|test|prod)_[A-Za-z0-9]{10,}", "k_live_", "k_test_", "k_prod_"),
    _token(r"whsec_[A-Za-z0-9+/]{16,}", "whsec_"),
    _token(rf"(?:gsk|hf|r8|npm|glsa)_{_HAS_DIGIT}{_WORD}{{16,}}", "gsk_", "hf_", "r8_", "npm_", "glsa_"),
    _token(rf"(?:xai|pplx|nvapi|tvly)-{_HAS_DIGIT}{_WORD}{{16,}}", "xai-", "pplx-", "nvapi-", "tvly-"),
    _token(r"gh[opusr]_[A-Za-z0-9]{16,}", "gho_", "ghp_", "ghu_", "ghs_", "ghr_"),
    _token(r"github_pat_[A-Za-z0-9_]{16,}", "github_pat_"),
    _token(
        rf"gl(?:pat|dt|rt|ptt|cbt|ft|soat)-{_WORD}{{16,}}", "glpat-", "gldt-", "glrt-", "glptt-", "glcbt-"
    ),
    _token(r"xox[abeoprs]-[A-Za-z0-9\-]{10,}|xapp-\d-[A-Za-z0-9\-]{10,}", "xox", "xapp-"),
    _token(rf"AIza{_WORD}{{20,}}|ya29\.{_WORD}{{20,}}|GOCSPX-{_WORD}{{20,}}", "aiza", "ya29.", "gocspx-"),
    _token(r"(?:AKIA|ASIA)[A-Z0-9]{12,}", "akia", "asia"),
    _token(rf"pypi-AgE{_WORD}{{16,}}", "pypi-age"),
    _token(rf"SG\.{_WORD}{{16,64}}\.{_WORD}{{16,}}|SK[0-9a-f]{{32}}(?![0-9a-f])", "sg.", "sk"),
    _token(rf"do[opr]_v1_[a-f0-9]{{32,}}|dapi[a-f0-9]{{32}}|hvs\.{_WORD}{{20,}}", "_v1_", "dapi", "hvs."),
    _token(r"shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}|lin_api_[A-Za-z0-9]{32,}", "shp", "lin_api_"),
    _token(rf"\d{{8,10}}:AA{_WORD}{{32,}}", ":aa"),
    _token(r"AGE-SECRET-KEY-1[A-Z0-9]{50,}", "age-secret-key-"),
    # Not inside a run of its own characters, which would be searched again from each position.
    _token(rf"(?<![_\-])eyJ{_WORD}{{10,}}\.{_WORD}{{10,}}(?:\.{_WORD}*)?", "eyj"),
)

_IN_ADDRESSES = (
    _after(r"://", r"[^/\s:@'\"<>{}$]{1,200}:[^/\s@'\"<>{}$]{1,200}(?=@)", "://"),
    _after(
        r"[?&](?:key|api[_-]?key|access[_-]?token|token|sig|signature|password|client_secret"
        r"|x-amz-(?:signature|security-token|credential))=",
        r"[^&\s'\"#<>]{3,}",
        *("key=", "token=", "sig=", "signature=", "password=", "secret=", "credential="),
    ),
    _after(r"hooks\.slack\.com/services/", r"[A-Za-z0-9/]{20,}", "hooks.slack.com"),
    _after(r"discord(?:app)?\.com/api/webhooks/\d{5,25}/", rf"{_WORD}{{20,}}", "/api/webhooks/"),
)

_IN_HEADERS = (
    _after(
        r"\b(?:proxy-)?authorization['\"]?\s{0,3}[:=]\s{0,3}['\"]?(?:bearer|basic|token|digest|key)\s{1,3}",
        r"[A-Za-z0-9._~+/\-=]{6,}",
        "authorization",
    ),
    _after(r"\bbearer\s{1,3}", r"(?=[A-Za-z0-9._~+/\-]{0,60}\d)[A-Za-z0-9._~+/\-]{8,}=*", "bearer"),
    _after(
        r"\b(?:x-api-key|x-goog-api-key|api-key|private-token)['\"]?\s{0,3}[:=]\s{0,3}['\"]?",
        r"(?=[A-Za-z0-9._~+/\-]{0,60}\d)[A-Za-z0-9._~+/\-]{8,}=*",
        *("api-key", "private-token"),
    ),
    _after(r"\b(?:set-)?cookie['\"]?:\s{0,3}['\"]?", r"[^\s=;'\"]{1,100}=[^\n'\"]{4,}", "cookie"),
)

_SECRET_NAMES = (
    r"(?:pass(?:word|wd|phrase)|secret|token|credentials?|(?:api|access|secret|private|signing|encryption|auth|"
    r"master|account|shared)[_\-]?(?:access[_\-]?)?key)"
)
_NAME_HINTS = ("pass", "secret", "token", "credential", "key")
_IN_ASSIGNMENTS = (
    # A line of an environment file with any value but a number, path, variable or call.
    Shape(
        _NAME_HINTS,
        rf"(?P<lead>(?<![A-Za-z0-9_$])[A-Z0-9_]{{0,60}}{_SECRET_NAMES.upper()}(?:_[A-Z0-9_]{{1,30}})?=['\"]?)"
        rf"{_NAMES_ONE}(?![~/.]|\d{{1,7}}\b|[A-Za-z_][\w.]{{0,60}}\()[^\s'\"]{{6,}}",
    ),
    _after(
        rf"{_SECRET_NAMES}['\"]?\s{{0,3}}[:=]\s{{0,3}}['\"]?",
        r"(?=[A-Za-z+/_\-]{0,60}\d)(?=[0-9+/_\-]{0,60}[A-Za-z])[A-Za-z0-9+/_\-]{16,}={0,2}(?![\w.(\[])",
        *_NAME_HINTS,
    ),
    _after(
        r"(?:^|[;&?\s])(?:password|pwd)=", r"(?!password)[^;&\s'\"(),]{4,}(?=[;&\s]|$)", "password=", "pwd="
    ),
    _after(r"_authToken=", r"[^\s'\"]{8,}", "_authtoken="),
)

_LINE = r"(?:\s|\\[nr])*(?:[+\-|>] ?)?(?:\d{1,6}[\t:|] ?)?"
_KEY_BLOCK = Shape(
    ("private key",),
    (
        r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
        rf"(?:{_LINE}(?:[A-Za-z0-9+/=]{{16,}}|(?:Proc-Type|DEK-Info|Version|Comment): [^\n\\]{{0,120}}))*"
        rf"(?:{_LINE}[A-Za-z0-9+/=]{{0,15}}{_LINE}-----END [A-Z0-9 ]{{0,40}}PRIVATE KEY(?: BLOCK)?-----)?"
    ),
)

_SECRET_FIELD = re.compile(
    r"password|passwd|passphrase|cookie|set-cookie|authorization|proxy-authorization|x-api-key|api[_-]?key|"
    r"(?:auth|access|refresh|id|bearer)?_?token|(?:client_)?secret|private_key|secret_access_key",
    re.IGNORECASE,
)

SHAPES = (_KEY_BLOCK, *_ISSUED, *_IN_ADDRESSES, *_IN_HEADERS, *_IN_ASSIGNMENTS)


def hide_shapes(text: str) -> str:
    """Replace everything that looks like a key by the mask."""
    lowered = text.lower()
    for shape in SHAPES:
        text = shape.hide(text, lowered)
    return text


def is_secret_field(name: str) -> bool:
    """Return whether a field of this name is a secret, whatever its value looks like."""
    return _SECRET_FIELD.fullmatch(name) is not None
