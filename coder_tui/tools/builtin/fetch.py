"""The `fetch` tool: send one request to the web and return the answer as text that a model can read."""

import json
from urllib.parse import urlsplit

from coder_tui.policy.addresses import IpAddress, literal_address
from coder_tui.protocol.access import Target, TargetKind, ToolKind
from coder_tui.tools.base import Access, Tool, ToolContext, ToolResult
from coder_tui.tools.builtin.fetch_answer import MOST_IMAGE, MOST_TEXT, answer, bytes_to_take
from coder_tui.tools.builtin.fetch_request import (
    DEFAULT_SECONDS,
    KB,
    MOST_SECONDS,
    FetchParams,
    facts_of,
    preview_of,
    private_targets,
)
from coder_tui.web.address import read_address
from coder_tui.web.body import PageFormat
from coder_tui.web.fetch import READING_METHODS, Fetch, Fetcher, Permit
from coder_tui.web.transport import Headers, Outgoing
from coder_tui.workspace.files.text import digest_of

_ACCEPT = {
    PageFormat.MARKDOWN: "text/markdown, text/html;q=0.9, text/plain;q=0.8, */*;q=0.5",
    PageFormat.TEXT: "text/plain, text/html;q=0.9, */*;q=0.5",
    PageFormat.HTML: "text/html, */*;q=0.5",
}


class FetchTool(Tool[FetchParams]):
    name = "fetch"
    kind = ToolKind.FETCH
    display_name = "Fetch"
    params = FetchParams
    permission = "fetch"
    editable = "url"

    def __init__(self, fetcher: Fetcher) -> None:
        self._fetcher = fetcher

    def variables(self) -> dict[str, object]:
        return {
            "text_kb": MOST_TEXT // KB,
            "image_kb": MOST_IMAGE // KB,
            "seconds": f"{DEFAULT_SECONDS:g}",
            "max_seconds": f"{MOST_SECONDS:g}",
        }

    def summary(self, params: FetchParams) -> str:
        without_user = params.url.rpartition("@")[2] if "@" in _network_part(params.url) else params.url
        return without_user if params.method == "GET" else f"{params.method} {without_user}"

    async def access(self, params: FetchParams, ctx: ToolContext) -> Access:
        address = read_address(params.url)
        preview = await self._fetcher.preview(address)
        writes = params.method not in READING_METHODS
        return Access(
            (
                Target(TargetKind.ADDRESS, address.url, writes),
                *private_targets(address, preview, writes=writes),
            ),
            preview=preview_of(params, address),
            fingerprint=digest_of(params.model_dump_json().encode()),
            facts=facts_of(params, address, preview),
        )

    async def run(self, params: FetchParams, ctx: ToolContext) -> ToolResult:
        address = read_address(params.url)
        body = params.body.encode() if params.body is not None else None
        outgoing = Outgoing(params.method, address, _headers(params, self._fetcher.user_agent), body)
        fetch = Fetch(
            outgoing,
            Permit.for_call(address, _approved(ctx)),
            lambda content_type: bytes_to_take(content_type, params),
            params.auth.credentials() if params.auth else None,
            params.seconds,
        )
        fetched = await self._fetcher.fetch(fetch, ctx.progress)
        return await answer(fetched, params, sees_images=ctx.sees_images)


def _network_part(url: str) -> str:
    try:
        return urlsplit(url).netloc
    except ValueError:
        return ""


def _approved(ctx: ToolContext) -> frozenset[IpAddress]:
    """Return the addresses behind the host name that the approval showed."""
    targets = ctx.access.targets[1:] if ctx.access else ()
    hosts = (urlsplit(target.value).hostname or "" for target in targets)
    return frozenset(ip for host in hosts if (ip := literal_address(host)) is not None)


def _headers(params: FetchParams, user_agent: str) -> Headers:
    headers = {"User-Agent": user_agent, "Accept": _ACCEPT[params.format]}
    if params.body is not None:
        headers["Content-Type"] = _body_type(params.body)
    given = params.headers or {}
    named = {name.lower() for name in given}
    return (*((name, value) for name, value in headers.items() if name.lower() not in named), *given.items())


def _body_type(body: str) -> str:
    try:
        return (
            "application/json" if isinstance(json.loads(body), dict | list) else "text/plain; charset=utf-8"
        )
    except ValueError:
        return "text/plain; charset=utf-8"
