"""The web server: pages, files and sockets only for browsers that know the token."""

import asyncio
import re
import sys
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import aiohttp
import pytest
import pytest_asyncio

from coder_tui.serve import tab
from coder_tui.serve.server import Gate, TabServer, listen
from tests.fakes.process_family import has_ended

TOKEN = "a-token-of-some-length"
# Prints its number and the size that it was given, then its input. It exits when asked to quit.
SCREEN = """
import os, sys
def say(text):
    data = text.encode()
    os.write(1, b"D" + len(data).to_bytes(4, "big") + data)
if "broken" in sys.argv:
    sys.exit("coder-tui: \\x1bno such model")
os.write(1, b"__GANGLION__\\n")
say(f"{os.getpid()} {os.environ['COLUMNS']}x{os.environ['ROWS']}")
while packet := os.read(0, 65536):
    if packet[:1] == b"D":
        say("heard " + packet[5:].decode())
    elif b"quit" in packet and "stubborn" not in sys.argv:
        break
    else:
        say("meta " + packet[5:].decode())
"""


@dataclass
class Site:
    url: str
    folder: str
    client: aiohttp.ClientSession

    async def status(self, path: str, **headers: str) -> int:
        async with self.client.get(self.url + path, headers=headers, allow_redirects=False) as response:
            return response.status

    async def enter(self) -> None:
        async with self.client.get(f"{self.url}/?token={TOKEN}") as response:
            assert (response.status, response.url.path) == (200, self.folder)

    def tab(self, **headers: str) -> "aiohttp.client._WSRequestContextManager":
        address = f"{self.url}{self.folder}ws?width=100&height=30"
        return self.client.ws_connect(address, headers={"Origin": self.url, **headers})


@pytest_asyncio.fixture
async def site(request: pytest.FixtureRequest) -> AsyncIterator[Site]:
    words = getattr(request, "param", ())
    gate = Gate(TOKEN, "127.0.0.1")
    served = TabServer([sys.executable, "-c", SCREEN, *words], {}, gate)
    runner, port = await listen(served, "127.0.0.1", 0)
    jar = aiohttp.CookieJar(unsafe=True)  # which means: also for addresses without a name
    async with aiohttp.ClientSession(cookie_jar=jar) as client:
        yield Site(f"http://127.0.0.1:{port}", gate.folder, client)
    await runner.cleanup()


async def test_nothing_is_served_without_the_token(site: Site) -> None:
    paths = (
        "/",
        "/?token=wrong",
        site.folder,
        f"{site.folder}textual.js",
        f"{site.folder}ws",
        "/ws",
        "/static/",
    )
    assert [await site.status(path) for path in paths] == [403] * len(paths)


async def test_the_token_becomes_a_cookie_that_stays_below_its_folder(site: Site) -> None:
    async with site.client.get(f"{site.url}/?token={TOKEN}", allow_redirects=False) as response:
        assert (response.status, response.headers["Location"]) == (303, site.folder)
        cookie = response.headers["Set-Cookie"]
    assert cookie.endswith(f"; HttpOnly; Path={site.folder}; SameSite=Strict")


async def test_another_name_for_this_machine_is_refused_even_with_the_token(site: Site) -> None:
    await site.enter()
    assert await site.status(f"/?token={TOKEN}", Host="evil.example") == 403
    assert await site.status(site.folder, Host="evil.example") == 403


async def test_the_page_names_only_files_that_are_here_and_may_load_no_others(site: Site) -> None:
    await site.enter()
    async with site.client.get(site.url + site.folder) as response:
        page, policy = await response.text(), response.headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "//" not in page
    named = re.findall(r'(?:src|href)="([^":]+)"', page)
    async with site.client.get(f"{site.url}{site.folder}page.css") as response:
        style = await response.text()
    named += re.findall(r'url\("([^"]+)"\)', style)
    assert sorted(named) == ["mono-italic.ttf", "mono.ttf", "page.css", "page.js", "textual.js", "xterm.css"]
    assert [await site.status(site.folder + name) for name in named] == [200] * len(named)
    assert await site.status(f"{site.folder}server.py") == 404


async def test_a_tab_is_a_process_that_gets_keys_and_ends_with_its_socket(site: Site) -> None:
    await site.enter()
    async with site.tab() as socket:
        pid, _, size = (await socket.receive_bytes()).decode().partition(" ")
        await socket.send_str('["stdin", "käse"]')
        heard = (await socket.receive_bytes()).decode()
        for nonsense in (
            "{",
            "[]",
            '["stdin", 5]',
            '["resize", {}]',
            '["resize", {"width": [], "height": 1}]',
        ):
            await socket.send_str(nonsense)
        sized = (await socket.receive_bytes()).decode()
        await socket.send_str('["ping", "7"]')
        pong = await socket.receive_json()

    assert (size, heard, pong) == ("100x30", "heard käse", ["pong", "7"])
    assert sized == 'meta {"type": "resize", "width": 80, "height": 20}'
    assert await asyncio.to_thread(has_ended, int(pid))


@pytest.mark.parametrize("site", [("stubborn",)], indirect=True, ids=["stubborn"])
async def test_a_program_that_does_not_quit_is_killed(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tab, "PATIENCE", 0.2)
    await site.enter()
    async with site.tab() as socket:
        pid = int((await socket.receive_bytes()).split()[0])
    assert await asyncio.to_thread(has_ended, pid)


@pytest.mark.parametrize("site", [("broken",)], indirect=True, ids=["broken"])
async def test_the_tab_shows_why_a_program_did_not_start(site: Site) -> None:
    await site.enter()
    async with site.tab() as socket:
        assert (await socket.receive_bytes()).endswith(b"\x1b[2Jcoder-tui: \xe2\x90\x9bno such model\r\n")
        assert (await socket.receive()).type is aiohttp.WSMsgType.CLOSE


@pytest.mark.parametrize("origin", ["http://evil.example", "null", ""], ids=["other", "null", "none"])
async def test_a_foreign_page_cannot_open_a_socket(site: Site, origin: str) -> None:
    await site.enter()
    with pytest.raises(aiohttp.WSServerHandshakeError) as caught:
        async with site.tab(Origin=origin):
            pass
    assert caught.value.status == 403


def test_the_package_includes_the_files_of_the_page() -> None:
    folder = Path(tab.__file__).parent
    assert {file.suffix for file in folder.glob("page.*")} == {".html", ".css", ".js"}
