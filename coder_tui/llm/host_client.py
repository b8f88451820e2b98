"""The client behind every real model: a supervised child process with litellm in it.

What of our environment the model process gets: what providers need, and nothing else.
"""

import asyncio
import contextlib
import os
import re
import sys
from collections.abc import AsyncIterator, Mapping
from dataclasses import replace
from pathlib import Path

from coder_tui.llm.catalog import context_window_of
from coder_tui.llm.chat_messages import call_arguments
from coder_tui.llm.client import ModelInfo, ModelRequest, StreamFinished, StreamItem
from coder_tui.llm.errors import Destination, host_died, host_not_started, idle, overflow
from coder_tui.llm.host_process import Channel, HostGoneError, HostProcess
from coder_tui.llm.providers import LOCAL_KEY, OLLAMA_WINDOW, local_server_of, routed, speaks_ollama
from coder_tui.llm.tokens import estimate_request, with_estimates, words_of
from coder_tui.llm.wire import JsonObject, error_from_json, info_from_json, item_from_json
from coder_tui.protocol.errors import ModelError
from coder_tui.shell.hosts.log import HostLog
from coder_tui.text.redact import Redactor

_NEEDED = re.compile(
    r"""
    PATH | HOME | USER | LANG | LC_\w+ | TZ | TMPDIR | SYSTEMROOT | XDG_\w+ | LD_LIBRARY_PATH
    | (?: HTTP | HTTPS | ALL | NO )_PROXY
    | SSL_CERT_FILE | SSL_CERT_DIR | SSL_VERIFY | REQUESTS_CA_BUNDLE | CURL_CA_BUNDLE | NODE_EXTRA_CA_CERTS
    | \w+_API_KEY | \w+_API_BASE | \w+_BASE_URL | \w+_API_VERSION | \w+_AUTH_TOKEN
    | (?: OPENAI | ANTHROPIC | AZURE | AWS | GOOGLE | GEMINI | VERTEXAI | VERTEX | OLLAMA | HF | HUGGINGFACE
        | CLOUDSDK | WATSONX | DATABRICKS | GITHUB_COPILOT | LM_STUDIO | OPENROUTER | OR )_\w+
    """,
    re.VERBOSE | re.IGNORECASE,
)
_LOOPBACK = ("127.0.0.1", "localhost", "::1")


def host_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """The variables for the child. Loopback never goes through a proxy: a local server is local."""
    kept = {name: value for name, value in environment.items() if _NEEDED.fullmatch(name)}
    exempt = kept.get("NO_PROXY") or kept.get("no_proxy") or ""
    if exempt != "*":
        named = [part.strip() for part in exempt.split(",") if part.strip()]
        exempt = ",".join([*named, *(host for host in _LOOPBACK if host not in named)])
    return {**kept, "NO_PROXY": exempt, "no_proxy": exempt}


_START_PATIENCE = 90.0
_CANCEL_PATIENCE = 2.0
_SURELY_TOO_LONG = 1.2
"""Of a window, by our estimate, which tends to be a fifth too high."""


class HostClient:
    """Starts the child on first need and again when it died; see `ModelClient`."""

    def __init__(
        self,
        *,
        idle_timeout: float = 120.0,
        log_file: Path | None = None,
        environment: Mapping[str, str] | None = None,
        python: str = sys.executable,
        context_window: int | None = None,
    ) -> None:
        """`context_window` is the most that is used of any model's window."""
        self._idle_timeout = idle_timeout
        self._log_file = log_file
        environment = os.environ if environment is None else environment
        self._environment = host_environment(environment)
        # The child sees less of the environment than a server may have been told.
        self._redact = Redactor(environment)
        self._python = python
        self._context_window = context_window
        self._trained_windows: dict[tuple[str, str], int] = {}
        self._host: HostProcess | None = None
        self._is_closed = False
        self._starting = asyncio.Lock()
        self._farewells: set[asyncio.Task[None]] = set()

    @property
    def pid(self) -> int | None:
        """The child's process id while there is one."""
        return self._host.pid if self._host is not None and self._host.is_alive else None

    async def stream(self, request: ModelRequest) -> AsyncIterator[StreamItem]:
        """Yield the reply's items; raise `ModelError`. Closing the iterator stops the request."""
        host = await self._running()
        target = routed(request, self._environment)
        call = call_arguments(target)
        if speaks_ollama(target.model):
            call["num_ctx"] = await self._window_for(target)
        if local_server_of(request.model) is not None:
            # A person's key for a provider is not for whoever listens on a local port.
            call["api_key"] = LOCAL_KEY
        channel = host.request("stream", call=call)
        is_over = False
        said: list[str] = []
        try:
            async for item in self._items(host, channel, Destination(target.model, target.api_base)):
                said.append(words_of(item))
                if isinstance(item, StreamFinished):
                    is_over = True
                    item = replace(item, usage=with_estimates(item.usage, request, said))
                yield item
        finally:
            if is_over:
                host.release(channel)
            else:
                self._say_farewell(host, channel)

    async def start(self) -> None:
        """Start the child, without waiting until it is ready."""
        await self._running()

    async def warm(self) -> None:
        """Start the child, load litellm and make a first call to nobody."""
        host = await self._running()
        await self._ask(host, host.request("warm"))

    async def model_info(self, model: str, api_base: str) -> ModelInfo:
        """What is known of a model. A local server is asked for the window it really runs with."""
        host = await self._running()
        answer = await self._ask(host, host.request("info", model=model))
        info = info_from_json(answer["info"])
        request = routed(ModelRequest(model, "", (), api_base=api_base), self._environment)
        if speaks_ollama(request.model):
            return replace(info, context_window=await self._ollama_window(request))
        window = await context_window_of(request.model, request.api_base) or info.context_window
        known = [tokens for tokens in (window, self._context_window) if tokens]
        return replace(info, context_window=min(known, default=None))

    def does_the_same(self, other: "HostClient") -> bool:
        """Whether one child would do for both."""
        return self._traits == other._traits

    @property
    def _traits(self) -> tuple[object, ...]:
        return (
            self._idle_timeout,
            self._log_file,
            self._environment,
            self._python,
            self._context_window,
        )

    def lacks(self, environment: Mapping[str, str]) -> bool:
        """Whether something is in there that the child was not given."""
        return not host_environment(environment).keys() <= self._environment.keys()

    async def add_keys(self, environment: Mapping[str, str]) -> None:
        """Give the child what it lacks. It has to start anew: no reply may be on its way."""
        if not self.lacks(environment):
            return
        self._environment = {**host_environment(environment), **self._environment}
        self._redact = Redactor(environment)
        async with self._starting:
            host, self._host = self._host, None
        if host is not None:
            await host.close()

    async def close(self) -> None:
        """End the child and what waits for it, for good: later calls fail."""
        self._is_closed = True
        for task in tuple(self._farewells):
            task.cancel()
        async with self._starting:
            host, self._host = self._host, None
        if host is not None:
            await host.close()

    async def _running(self) -> HostProcess:
        async with self._starting:
            if self._is_closed:
                raise host_died()
            if self._host is None or not self._host.is_alive:
                try:
                    log = HostLog(self._log_file, self._redact) if self._log_file else None
                    self._host = await HostProcess.start(self._python, self._environment, log)
                except OSError as error:
                    raise host_not_started(error) from error
            return self._host

    async def _window_for(self, request: ModelRequest) -> int:
        """Return the window to ask Ollama for. It would cut a longer request, so that one fails here."""
        window = await self._ollama_window(request)
        if estimate_request(request) > window * _SURELY_TOO_LONG:
            raise overflow(window)
        return window

    async def _ollama_window(self, request: ModelRequest) -> int:
        """Always the same for a model: Ollama loads it again for another window."""
        key = (request.model, request.api_base)
        if key not in self._trained_windows and (trained := await context_window_of(*key)):
            self._trained_windows[key] = trained
        most = self._context_window or OLLAMA_WINDOW
        return min(self._trained_windows.get(key, most), most)

    async def _items(
        self, host: HostProcess, channel: Channel, destination: Destination
    ) -> AsyncIterator[StreamItem]:
        answer = await self._answer(host, channel)
        while True:
            if "error" in answer:
                raise self._failure(answer["error"])
            for data in answer.get("items", ()):
                item = item_from_json(data)
                yield item
                if isinstance(item, StreamFinished):
                    return
            try:
                async with asyncio.timeout(self._idle_timeout):
                    answer = await channel.next()
            except TimeoutError as error:
                raise idle(destination, self._idle_timeout) from error
            except HostGoneError as error:
                raise host_died() from error

    async def _ask(self, host: HostProcess, channel: Channel) -> JsonObject:
        """The one answer to a question."""
        try:
            answer = await self._answer(host, channel)
        finally:
            host.release(channel)
        if "error" in answer:
            raise self._failure(answer["error"])
        return answer

    def _failure(self, error: JsonObject) -> ModelError:
        told = error_from_json(error)
        return replace(told, message=self._redact(told.message), hint=self._redact(told.hint))

    async def _answer(self, host: HostProcess, channel: Channel) -> JsonObject:
        """The first answer, which may have to wait until litellm is loaded."""
        try:
            async with asyncio.timeout(_START_PATIENCE):
                return await channel.next()
        except TimeoutError as error:
            host.kill()
            raise host_died() from error
        except HostGoneError as error:
            raise host_died() from error

    def _say_farewell(self, host: HostProcess, channel: Channel) -> None:
        """Cancel in the background: whoever left the stream does not wait for its end."""
        host.cancel(channel)
        task = asyncio.ensure_future(self._see_off(host, channel))
        self._farewells.add(task)
        task.add_done_callback(self._farewells.discard)

    async def _see_off(self, host: HostProcess, channel: Channel) -> None:
        """A host that does not stop a call when told is killed; the next call starts another."""
        try:
            async with asyncio.timeout(_CANCEL_PATIENCE):
                with contextlib.suppress(HostGoneError):
                    while "cancelled" not in await channel.next():
                        pass
        except TimeoutError:
            host.kill()
        finally:
            host.release(channel)
