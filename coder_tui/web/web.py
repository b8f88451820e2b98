"""The web with one set of names, proxies and certificates for all tools.

Also the search service (Exa's HTTP API), with the user's own key.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from coder_tui.policy.addresses import reach_of_address
from coder_tui.protocol.errors import ErrorType, ToolError
from coder_tui.web.address import WebAddress, read_address
from coder_tui.web.fetch import Fetch, Fetched, Fetcher, Judge, Permit
from coder_tui.web.transport import AddressBook, Outgoing, Proxies, ReachOf, Resolver, Trust, system_resolver

_SECONDS = 30.0
_MOST_BYTES = 2_000_000
_SNIPPET = 1_200
_SHORTEST_SHARE = 300
_ALL_SNIPPETS = 10_000
_TITLE = 300


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


Text = Annotated[str, BeforeValidator(_text)]


class Hit(BaseModel):
    """One search result; missing fields are empty."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    title: Text = ""
    url: Text = ""
    text: Text = ""
    published: Text = Field(default="", alias="publishedDate")

    def shortened(self, most: int) -> "Hit":
        words = " ".join(self.text.split())
        cut = words if len(words) <= most else f"{words[: most - 1]}…"
        return self.model_copy(update={"text": cut, "title": self.title[:_TITLE]})


class _Answer(BaseModel):
    model_config = ConfigDict(extra="ignore")

    results: list[Hit]


class SearchService:
    def __init__(self, fetcher: Fetcher, base_url: str, key: str) -> None:
        self._fetcher = fetcher
        self._base_url = base_url
        self._key = key

    @property
    def has_key(self) -> bool:
        return bool(self._key)

    @property
    def address(self) -> WebAddress:
        return read_address(f"{self._base_url.rstrip('/')}/search")

    async def search(self, query: str, count: int, progress: Callable[[str], None]) -> tuple[Hit, ...]:
        fetched = await self._fetcher.fetch(self._fetch(query, count), progress)
        if fetched.status != 200:
            raise _refusal(fetched)
        if fetched.body.is_cut:
            raise ToolError(ErrorType.TOO_LARGE, "The search service sent too much data.")
        try:
            hits = _Answer.model_validate_json(fetched.body.data).results
        except ValidationError as error:
            raise ToolError(
                ErrorType.NETWORK_ERROR, "The search service sent an answer that cannot be read."
            ) from error
        share = min(_SNIPPET, max(_SHORTEST_SHARE, _ALL_SNIPPETS // max(count, 1)))
        return tuple(hit.shortened(share) for hit in hits[:count] if hit.url)

    def _fetch(self, query: str, count: int) -> Fetch:
        address = self.address
        body = {
            "query": query,
            "numResults": count,
            "type": "auto",
            "contents": {"text": {"maxCharacters": _SNIPPET}, "livecrawl": "fallback"},
        }
        headers = (
            ("Content-Type", "application/json"),
            ("Accept", "application/json"),
            ("User-Agent", self._fetcher.user_agent),
            ("x-api-key", self._key),
        )
        outgoing = Outgoing("POST", address, headers, json.dumps(body).encode())
        # The user's settings name the service, so the user chose its address.
        permit = Permit(is_for_any=True)
        return Fetch(outgoing, permit, lambda _: _MOST_BYTES, seconds=_SECONDS)


def _refusal(fetched: Fetched) -> ToolError:
    match fetched.status:
        case 401 | 403:
            hint = "The user must set EXA_API_KEY to a valid key."
            return ToolError(ErrorType.NETWORK_ERROR, "The search service refused the key.", hint)
        case 402 | 429:
            return ToolError(
                ErrorType.NETWORK_ERROR,
                f"The search service accepts no more requests for now ({fetched.status}).",
                "Try again later, or fetch a known address.",
            )
        case status:
            return ToolError(ErrorType.NETWORK_ERROR, f"The search service answered {status}.")


SEARCH_URL = "https://api.exa.ai"
SEARCH_KEY = "EXA_API_KEY"


@dataclass(frozen=True, slots=True)
class WebSettings:
    """`environ` gives proxies, certificates and the search key."""

    proxy: str = ""
    ca_bundle: str = ""
    insecure_hosts: frozenset[str] = frozenset()
    search_url: str = SEARCH_URL
    environ: Mapping[str, str] = field(default_factory=dict, repr=False)


@dataclass(frozen=True, slots=True)
class Web:
    fetcher: Fetcher
    search: SearchService


def open_web(
    settings: WebSettings,
    judge: Judge,
    resolver: Resolver = system_resolver,
    reach_of: ReachOf = reach_of_address,
) -> Web:
    """`judge` applies the rules to each hop; `resolver` and `reach_of` can be replaced in tests."""
    fetcher = Fetcher(
        AddressBook(resolver, reach_of),
        Proxies(settings.proxy, settings.environ),
        Trust(settings.ca_bundle, settings.insecure_hosts, settings.environ),
        judge,
    )
    return Web(fetcher, SearchService(fetcher, settings.search_url, settings.environ.get(SEARCH_KEY, "")))
