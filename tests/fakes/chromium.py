"""A headless Chromium that a test types into, by the protocol of its developer tools."""

import asyncio
import base64
import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import aiohttp
import pytest

from tests.fakes.needs import found

PROGRAM = found("chromium")
needs_chromium = pytest.mark.needs("chromium")
PATIENCE = 60.0
_CODES = re.compile(r"\x1b\[[0-9;?>=]*[A-Za-z$]|\x1b[()][A-Z0-9]|\x1b.")
_KEYS = {"Enter": 13, "Escape": 27, "Backspace": 8}
_CONTROL = 2


class Page:
    """One tab. `hosts` are those that it asked for anything; `said` is what reached its terminal, as text."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self._socket = socket
        self._next = 0
        self._answers: dict[int, asyncio.Future[Any]] = {}
        self._session = ""
        self._target = ""
        self._changed = asyncio.Event()
        self.hosts: list[str] = []
        self.said = ""
        self._reading = asyncio.create_task(self._read())

    @classmethod
    async def opened(cls, socket: aiohttp.ClientWebSocketResponse, url: str) -> "Page":
        page = cls(socket)
        page._target = (await page._call("Target.createTarget", url="about:blank"))["targetId"]
        attached = await page._call("Target.attachToTarget", targetId=page._target, flatten=True)
        page._session = attached["sessionId"]
        await page._call("Network.enable")
        await page._call("Page.enable")
        await page._call(
            "Emulation.setDeviceMetricsOverride", width=1400, height=800, deviceScaleFactor=1, mobile=False
        )
        await page._call("Emulation.setFocusEmulationEnabled", enabled=True)
        await page._call("Page.navigate", url=url)
        return page

    async def type(self, text: str) -> None:
        for letter in text:
            await self._call("Input.dispatchKeyEvent", type="keyDown", text=letter, key=letter)
            await self._call("Input.dispatchKeyEvent", type="keyUp", key=letter)

    async def press(self, key: str, *, control: bool = False) -> None:
        letter = key.upper() if len(key) == 1 else ""
        code = ord(letter) if letter else _KEYS[key]
        held: dict[str, Any] = {
            "key": key,
            "code": f"Key{letter}" if letter else key,
            "windowsVirtualKeyCode": code,
            "modifiers": _CONTROL if control else 0,
        }
        if key == "Enter":
            held["text"] = "\r"
        await self._call("Input.dispatchKeyEvent", type="keyDown", **held)
        held.pop("text", None)
        await self._call("Input.dispatchKeyEvent", type="keyUp", **held)

    async def shows(self, words: str) -> None:
        """Wait until the words came, whatever colours they have; what came before is then forgotten."""
        await self.until(lambda: words in self.said, words)
        self.said = self.said.partition(words)[2]

    async def until(self, holds: Callable[[], bool], what: str) -> None:
        try:
            async with asyncio.timeout(PATIENCE):
                while not holds():
                    self._changed.clear()
                    await self._changed.wait()
        except TimeoutError:
            raise AssertionError(f"the page did not show {what!r}; it showed {self.said[-3000:]!r}") from None

    async def evaluate(self, script: str) -> Any:
        answer = await self._call(
            "Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True
        )
        return answer["result"].get("value")

    async def picture(self, file: Path) -> None:
        shot = await self._call("Page.captureScreenshot", format="png")
        await asyncio.to_thread(file.write_bytes, base64.b64decode(shot["data"]))

    async def close(self) -> None:
        await self._call("Target.closeTarget", targetId=self._target)

    async def _call(self, method: str, **parameters: Any) -> Any:
        self._next += 1
        answer = self._answers[self._next] = asyncio.get_running_loop().create_future()
        message: dict[str, Any] = {"id": self._next, "method": method, "params": parameters}
        if self._session and not method.startswith("Target."):
            message["sessionId"] = self._session
        await self._socket.send_json(message)
        return await asyncio.wait_for(answer, PATIENCE)

    async def _read(self) -> None:
        async for message in self._socket:
            said = message.json()
            if "id" in said:
                self._answers.pop(said["id"]).set_result(said.get("result", said.get("error")))
            else:
                self._note(said["method"], said.get("params", {}))
            self._changed.set()

    def _note(self, method: str, event: Any) -> None:
        match method:
            case "Network.requestWillBeSent":
                self._asked(event["request"]["url"])
            case "Network.webSocketCreated":
                self._asked(event["url"])
            case "Network.webSocketFrameReceived":
                self._hear(event["response"])

    def _asked(self, url: str) -> None:
        if urlsplit(url).netloc:
            self.hosts.append(urlsplit(url).netloc)

    def _hear(self, frame: Any) -> None:
        if frame["opcode"] == 2:
            text = base64.b64decode(frame["payloadData"]).decode(errors="replace")
            self.said += _CODES.sub("", text)


@asynccontextmanager
async def browser(folder: Path) -> AsyncIterator[Callable[[str], Any]]:
    """Gives a function that opens an address in a tab."""
    process = await asyncio.create_subprocess_exec(
        PROGRAM,
        "--headless=new",
        "--no-sandbox",
        "--use-angle=swiftshader",
        "--enable-unsafe-swiftshader",
        "--no-first-run",
        "--disable-background-networking",
        "--disable-component-update",
        f"--user-data-dir={folder}",
        "--remote-debugging-port=0",
        "about:blank",
        stderr=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.DEVNULL,
        start_new_session=True,
    )
    assert process.stderr is not None
    draining: asyncio.Task[bytes] | None = None
    try:
        address = ""
        async with asyncio.timeout(PATIENCE):
            while not address:
                line = (await process.stderr.readline()).decode()
                address = line.partition("DevTools listening on ")[2].strip()
        draining = asyncio.create_task(process.stderr.read())
        async with aiohttp.ClientSession() as session:

            async def opened(url: str) -> Page:
                return await Page.opened(await session.ws_connect(address, max_msg_size=0), url)

            yield opened
    finally:
        process.terminate()
        await process.wait()
        if draining is not None:
            await draining
