"""The web as this program reaches it: one set of names, proxies and certificates for all tools."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from coder_tui.policy.addresses import reach_of_address
from coder_tui.web.address_book import AddressBook, ReachOf
from coder_tui.web.fetcher import Fetcher, Judge
from coder_tui.web.proxies import Proxies
from coder_tui.web.resolve import Resolver, system_resolver
from coder_tui.web.search import SearchService
from coder_tui.web.trust import Trust

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
    """`judge` says what the rules make of a hop; `resolver` and `reach_of` stand for the world outside."""
    fetcher = Fetcher(
        AddressBook(resolver, reach_of),
        Proxies(settings.proxy, settings.environ),
        Trust(settings.ca_bundle, settings.insecure_hosts, settings.environ),
        judge,
    )
    return Web(fetcher, SearchService(fetcher, settings.search_url, settings.environ.get(SEARCH_KEY, "")))
