"""A server that needs a login waits for the user's browser; then the login is kept."""

import asyncio
import stat
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from coder_tui.mcp.pool import ServerView
from coder_tui.mcp.wire import ServerState
from tests.fakes.mcp_oauth import TOKEN, OAuthServer, oauth_server
from tests.fakes.mcp_pools import found, pool_of, until


@pytest.fixture
def server() -> Iterator[OAuthServer]:
    with oauth_server() as made:
        yield made


def has_link(view: ServerView) -> bool:
    return bool(view.link)


def has_words(view: ServerView) -> bool:
    return bool(view.detail)


async def test_the_user_logs_in_once_and_the_login_is_kept_private(
    tmp_path: Path, server: OAuthServer
) -> None:
    wrong = found("wrong", url=server.url, headers={"Authorization": "Bearer old"})
    pool = pool_of(tmp_path, found("hosted", url=server.url), wrong)
    pool.start()
    refused = await until(pool, "wrong", ServerState.FAILED, ServerState.NEEDS_LOGIN)
    waiting = await until(pool, "hosted", ServerState.NEEDS_LOGIN)
    await pool.restart("hosted", logs_in=True)
    asked = await until(pool, "hosted", ServerState.NEEDS_LOGIN, when=has_link)
    async with httpx.AsyncClient(follow_redirects=True) as browser:
        page = await browser.get(asked.link)
    ready = await until(pool, "hosted", ServerState.READY)
    await pool.close()
    again = pool_of(tmp_path, found("hosted", url=server.url))
    again.start()
    later = await until(again, "hosted", ServerState.READY, ServerState.NEEDS_LOGIN, ServerState.FAILED)
    await again.close()

    assert (waiting.link, waiting.detail.partition(":")[0]) == ("", "it needs a login")
    assert refused.detail == "it cannot be started: it rejects the configured Authorization header"
    assert page.text.startswith("Done.")
    assert [tool.name for tool in ready.offer.tools] == ["hello"]
    assert server.codes == ["a-code"]
    (kept,) = await asyncio.to_thread(lambda: list((tmp_path / "logins").iterdir()))
    assert (stat.S_IMODE(kept.stat().st_mode), TOKEN in kept.read_text()) == (0o600, True)
    assert later.state is ServerState.READY


@pytest.mark.parametrize(
    ("field", "place", "words"),
    [
        ("logins_at", "http://127.0.0.2:9", "it redirects to http://127.0.0.2, which is not https"),
        (
            "token_at",
            "https://169.254.169.254/t",
            "it redirects to 169.254.169.254, which is a cloud-metadata",
        ),
    ],
    ids=["metadata", "token"],
)
async def test_a_login_does_not_follow_forbidden_addresses(
    tmp_path: Path, server: OAuthServer, field: str, place: str, words: str
) -> None:
    setattr(server, field, place)
    pool = pool_of(tmp_path, found("hosted", url=server.url))
    pool.start()
    if field == "token_at":
        await until(pool, "hosted", ServerState.NEEDS_LOGIN)
        await pool.restart("hosted", logs_in=True)
        asked = await until(pool, "hosted", ServerState.NEEDS_LOGIN, when=has_link)
        async with httpx.AsyncClient(follow_redirects=True) as browser:
            await browser.get(asked.link)
    refused = await until(pool, "hosted", ServerState.STARTING, ServerState.FAILED, when=has_words)
    await pool.close()
    assert words in refused.detail
