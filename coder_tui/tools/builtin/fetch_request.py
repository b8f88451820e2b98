"""The parameters of `fetch`, checked before anything is looked up.

Also the preview of a request for the approval: complete, but without its secrets.
"""

import re
from dataclasses import replace
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, field_validator, model_validator

from coder_tui.policy.addresses import reach_of_address
from coder_tui.protocol.access import Target, TargetKind
from coder_tui.protocol.display import TextBlock
from coder_tui.tools.base import Params
from coder_tui.web.address import WebAddress
from coder_tui.web.body import PageFormat
from coder_tui.web.fetch import FetchPreview
from coder_tui.web.transport import AuthType, Credentials, shown_proxy

Method = Literal["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"]
_TOKEN = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")
_UNSENDABLE = re.compile("[^\t\x20-\x7e\x80-\xff]")
# Set by the program. With another value, a server would see another request than the approved one.
_OURS = re.compile(
    r"host|content-length|transfer-encoding|connection|keep-alive|upgrade|te|trailer|expect|accept-encoding"
    r"|proxy-.*|sec-.*",
    re.IGNORECASE,
)
_MOST_HEADERS = 50
_MOST_HEADER_CHARACTERS = 8_000
_MOST_BODY_CHARACTERS = 1_000_000
DEFAULT_SECONDS = 30.0
MOST_SECONDS = 120.0
KB = 1_000


def _upper(value: object) -> object:
    return value.upper() if isinstance(value, str) else value


class Auth(Params):
    """`basic` takes user and password, `bearer` a token, `cookie` a cookie."""

    type: AuthType
    user: str | None = Field(default=None, repr=False)
    password: str | None = Field(default=None, repr=False)
    token: str | None = Field(default=None, repr=False)
    cookie: str | None = Field(default=None, repr=False)

    @model_validator(mode="after")
    def _is_whole(self) -> "Auth":
        needed = {AuthType.BASIC: "user", AuthType.BEARER: "token", AuthType.COOKIE: "cookie"}[self.type]
        if not getattr(self, needed):
            raise ValueError(f"{self.type} needs `{needed}`")
        value = self.credentials().header()[1]
        if _UNSENDABLE.search(value):
            raise ValueError("has characters that a header cannot carry")
        return self

    def credentials(self) -> Credentials:
        match self.type:
            case AuthType.BASIC:
                return Credentials(self.type, self.user or "", self.password or "")
            case AuthType.BEARER:
                return Credentials(self.type, secret=self.token or "")
            case AuthType.COOKIE:
                return Credentials(self.type, secret=self.cookie or "")


class FetchParams(Params):
    url: str
    method: Annotated[Method, BeforeValidator(_upper)] = "GET"
    headers: dict[str, str] | None = None
    body: str | None = Field(default=None, max_length=_MOST_BODY_CHARACTERS)
    timeout_sec: float | None = Field(default=None, allow_inf_nan=False)
    max_size_kb: int | None = None
    auth: Auth | None = None
    format: PageFormat = PageFormat.MARKDOWN

    @field_validator("url")
    @classmethod
    def _without_blanks_around(cls, url: str) -> str:
        return url.strip(" \n")

    @field_validator("headers")
    @classmethod
    def _can_be_sent(cls, headers: dict[str, str] | None) -> dict[str, str] | None:
        given = headers or {}
        if len(given) > _MOST_HEADERS or sum(map(len, given.values())) > _MOST_HEADER_CHARACTERS:
            raise ValueError("are too many or too long")
        for name, value in given.items():
            if not _TOKEN.fullmatch(name):
                raise ValueError("have an invalid name")
            if _OURS.fullmatch(name):
                raise ValueError(f"must not set {name}: the program sets it")
            if _UNSENDABLE.search(value):
                raise ValueError(f"have characters in {name} that a header cannot carry")
        return headers

    @field_validator("body")
    @classmethod
    def _can_be_encoded(cls, body: str | None) -> str | None:
        if body is not None and re.search("[\ud800-\udfff]", body):
            raise ValueError("has characters that cannot be sent")
        return body

    @model_validator(mode="after")
    def _has_body_if_allowed(self) -> "FetchParams":
        if self.body is not None and self.method in ("GET", "HEAD"):
            raise ValueError(f"{self.method} has no body")
        return self

    @property
    def seconds(self) -> float:
        asked = self.timeout_sec if self.timeout_sec and self.timeout_sec > 0 else DEFAULT_SECONDS
        return min(asked, MOST_SECONDS)

    def at_most(self, size: int) -> int:
        """Return the smaller of a limit in bytes and the limit of the call."""
        return min(size, self.max_size_kb * KB) if self.max_size_kb and self.max_size_kb > 0 else size


_SECRET_HEADER = re.compile(r"auth|cookie|key|token|secret|passw|session|credential|signature", re.IGNORECASE)
MASK = "••••"


def preview_of(params: FetchParams, address: WebAddress) -> TextBlock:
    lines = [f"{params.method} {address.url}"]
    for name, value in (params.headers or {}).items():
        lines.append(f"{name}: {MASK if _SECRET_HEADER.search(name) else value}")
    if params.body is not None:
        lines += ["", params.body]
    return TextBlock("\n".join(lines))


def facts_of(params: FetchParams, address: WebAddress, preview: FetchPreview) -> tuple[str, ...]:
    facts = [f"resolves to {ip}, a {reach_of_address(ip)} address" for ip in preview.private]
    if preview.proxy:
        facts.append(f"goes through the proxy {shown_proxy(preview.proxy)}, which resolves the name itself")
    if preview.is_unverified:
        facts.append(f"TLS is not verified for {address.host}, because fetch.insecure_hosts names it")
    if address.scheme == "http":
        facts.append("is not encrypted")
    if params.auth is not None:
        facts.append(f"sends the call's {params.auth.type} credentials only to this host, if it answers 401")
    if "xn--" in address.host:
        facts.append("the host name is written in another alphabet; xn--… is its real name")
    return tuple(facts)


def private_targets(address: WebAddress, preview: FetchPreview, *, writes: bool) -> tuple[Target, ...]:
    """Return the non-public addresses behind a name; each is decided on separately."""
    return tuple(
        Target(TargetKind.ADDRESS, replace(address, host=str(ip), target="/").url, writes)
        for ip in preview.private
    )
