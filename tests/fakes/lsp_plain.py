"""A plain script's way to ask a language server: what it says when nothing of ours stands between."""

import asyncio
import contextlib
import json
import os
import signal
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

Json = Any
Row = tuple[int, int, str, str, str, str]
"""Line and character from 0, severity, message, code, source."""
_SEVERITIES = ("error", "warning", "information", "hint")
_LIMIT = 2**24


class PlainClient:
    """Counts in UTF-16, as the protocol began; `quiet` is how long nothing more must come."""

    def __init__(self, process: asyncio.subprocess.Process, root: Path, quiet: float) -> None:
        assert process.stdin is not None and process.stdout is not None
        self._stdin, self._stdout = process.stdin, process.stdout
        self._process = process
        self._root = root
        self._quiet = quiet
        self._count = 0
        self._version = 0
        self._replies: dict[int, asyncio.Future[Json]] = {}
        self._pushed: asyncio.Queue[Json] = asyncio.Queue()
        self._registered = asyncio.Event()
        self._can_pull = False
        self._reading = asyncio.ensure_future(self._read())

    async def begin(self, initialization: Json = None) -> None:
        capabilities = {
            "textDocument": {
                "publishDiagnostics": {"versionSupport": True},
                "diagnostic": {"dynamicRegistration": True},
                "synchronization": {"didSave": True},
            },
            "workspace": {"configuration": True, "workspaceFolders": True},
        }
        params = {
            "processId": os.getpid(),
            "rootUri": self._root.as_uri(),
            "workspaceFolders": [{"uri": self._root.as_uri(), "name": self._root.name}],
            "capabilities": capabilities,
            "initializationOptions": initialization,
        }
        result = await self.request("initialize", params)
        self._can_pull = bool(result["capabilities"].get("diagnosticProvider"))
        self.notify("initialized", {})

    async def check(self, path: Path, text: str, language: str) -> list[Row]:
        """Send the text and wait for what the server has to say."""
        self._send_text(path, text, language)
        items = await self._items(path, self._quiet)
        return sorted(_row(item, text.split("\n")) for item in items)

    async def first(self, path: Path, text: str, language: str) -> list[Row]:
        """Send the text and wait for the server's first word, be it the last or not."""
        self._send_text(path, text, language)
        items = await self._items(path, 0.0)
        return sorted(_row(item, text.split("\n")) for item in items)

    def _send_text(self, path: Path, text: str, language: str) -> None:
        while not self._pushed.empty():
            self._pushed.get_nowait()
        self._version += 1
        named = {"uri": path.as_uri(), "version": self._version}
        if self._version == 1:
            whole = {**named, "languageId": language, "text": text}
            self.notify("textDocument/didOpen", {"textDocument": whole})
        else:
            changes = [{"text": text}]
            self.notify("textDocument/didChange", {"textDocument": named, "contentChanges": changes})

    async def request(self, method: str, params: Json) -> Json:
        self._count += 1
        reply = self._replies[self._count] = asyncio.get_running_loop().create_future()
        self._send({"id": self._count, "method": method, "params": params})
        return await reply

    def notify(self, method: str, params: Json) -> None:
        self._send({"method": method, "params": params})

    async def end(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        await self._process.wait()
        self._reading.cancel()

    async def _items(self, path: Path, quiet: float) -> list[Json]:
        first = asyncio.ensure_future(self._pushed.get())
        if not self._can_pull:
            registered = asyncio.ensure_future(self._registered.wait())
            await asyncio.wait({first, registered}, return_when=asyncio.FIRST_COMPLETED)
            registered.cancel()
        if self._can_pull or self._registered.is_set():
            first.cancel()
            pulled = await self.request("textDocument/diagnostic", {"textDocument": {"uri": path.as_uri()}})
            return list(pulled["items"])
        params = await first
        while True:
            try:
                params = await asyncio.wait_for(self._pushed.get(), quiet)
            except TimeoutError:
                return list(params["diagnostics"])

    def _send(self, message: Json) -> None:
        data = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self._stdin.write(b"Content-Length: %d\r\n\r\n" % len(data) + data)

    async def _read(self) -> None:
        while (message := await self._receive()) is not None:
            if "method" not in message:
                self._replies.pop(message["id"]).set_result(message.get("result"))
            elif "id" in message:
                self._answer(message)
            elif message["method"] == "textDocument/publishDiagnostics" and self._is_current(message):
                self._pushed.put_nowait(message["params"])

    def _is_current(self, message: Json) -> bool:
        return message["params"].get("version") in (None, self._version)

    async def _receive(self) -> Json | None:
        length = 0
        while (line := await self._stdout.readline()).strip():
            if line.lower().startswith(b"content-length:"):
                length = int(line.split(b":")[1])
        return json.loads(await self._stdout.readexactly(length)) if length else None

    def _answer(self, message: Json) -> None:
        result: Json = None
        if message["method"] == "workspace/configuration":
            result = [None for _ in message["params"]["items"]]
        if message["method"] == "client/registerCapability":
            methods = [item["method"] for item in message["params"]["registrations"]]
            if "textDocument/diagnostic" in methods:
                self._registered.set()
        self._send({"id": message["id"], "result": result})


def _row(item: Json, lines: Sequence[str]) -> Row:
    start = item["range"]["start"]
    line = lines[start["line"]] if start["line"] < len(lines) else ""
    before = line.encode("utf-16-le")[: 2 * start["character"]]
    code = item.get("code")
    return (
        start["line"],
        len(before.decode("utf-16-le", "ignore")),
        _SEVERITIES[(item.get("severity") or 1) - 1],
        item["message"],
        "" if code is None else str(code),
        item.get("source") or "",
    )


@contextlib.asynccontextmanager
async def plain_client(
    argv: Sequence[str], root: Path, path: str, *, quiet: float = 1.0, initialization: Json = None
) -> AsyncIterator[PlainClient]:
    process = await asyncio.create_subprocess_exec(
        *argv,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        cwd=root,
        env={**os.environ, "PATH": path},
        limit=_LIMIT,
        start_new_session=True,
    )
    client = PlainClient(process, root, quiet)
    try:
        await client.begin(initialization)
        yield client
    finally:
        await client.end()
