"""The client of every real model: a supervised child process that runs litellm.

The child gets only those variables of our environment that providers need.
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
from coder_tui.llm.client import (
    ModelInfo,
    ModelRequest,
    StreamFinished,
    StreamItem,
    error_from_json,
    estimate_request,
    item_from_json,
    output_text,
    with_estimates,
)
from coder_tui.llm.errors import (
    Destination,
    host_died_error,
    host_not_started_error,
    idle_error,
    overflow_error,
)
from coder_tui.llm.providers import LOCAL_KEY, OLLAMA_WINDOW, local_server_of, routed, speaks_ollama
from coder_tui.protocol.errors import ModelError
from coder_tui.shell.hosts.link import Channel, HostLink, HostProgram, JsonObject, LinkLostError
from coder_tui.shell.hosts.supervisor import HostSupervisor
from coder_tui.tasks import BackgroundTasks
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
    """Return the variables for the child. Loopback never goes through a proxy."""
    kept = {name: value for name, value in environment.items() if _NEEDED.fullmatch(name)}
    exempt = kept.get("NO_PROXY") or kept.get("no_proxy") or ""
    if exempt != "*":
        named = [part.strip() for part in exempt.split(",") if part.strip()]
        exempt = ",".join([*named, *(host for host in _LOOPBACK if host not in named)])
    return {**kept, "NO_PROXY": exempt, "no_proxy": exempt}


HOST = "coder_tui.llm.host"
"""Never imported here: litellm is slow to load."""
_CLOSING_SECONDS = 2.0
_START_PATIENCE = 90.0
_CANCEL_PATIENCE = 2.0
_SURELY_TOO_LONG = 1.2
"""Share of a context window; our estimate tends to be 20 percent too high."""


class HostClient:
    """Starts the child when first needed, and again after it died; see `ModelClient`."""

    def __init__(
        self,
        *,
        idle_timeout: float = 120.0,
        log_file: Path | None = None,
        environment: Mapping[str, str] | None = None,
        python: str = sys.executable,
        context_window: int | None = None,
    ) -> None:
        """`context_window` limits how much of any model's window is used."""
        self._idle_timeout = idle_timeout
        environment = os.environ if environment is None else environment
        self._environment = host_environment(environment)
        # The child sees less of the environment, so it cannot redact all that a server may send back.
        self._redact = Redactor(environment)
        program = HostProgram(HOST, self._environment, log_file, self._redact, python, _CLOSING_SECONDS)
        self._host = HostSupervisor(program)
        self._context_window = context_window
        self._trained_windows: dict[tuple[str, str], int] = {}
        self._cancelling = BackgroundTasks()

    @property
    def pid(self) -> int | None:
        """The child's process id while there is one."""
        return self._host.pid

    async def stream(self, request: ModelRequest) -> AsyncIterator[StreamItem]:
        """Yield the reply's items; raise `ModelError`. Closing the iterator stops the request."""
        host = await self._running()
        target = routed(request, self._environment)
        call = call_arguments(target)
        if speaks_ollama(target.model):
            call["num_ctx"] = await self._window_for(target)
        if local_server_of(request.model) is not None:
            # The user's key for a provider must not go to a program that listens on a local port.
            call["api_key"] = LOCAL_KEY
        channel = host.open("stream", call=call)
        is_over = False
        said: list[str] = []
        try:
            async for item in self._items(host, channel, Destination(target.model, target.api_base)):
                said.append(output_text(item))
                if isinstance(item, StreamFinished):
                    is_over = True
                    item = replace(item, usage=with_estimates(item.usage, request, said))
                yield item
        finally:
            if is_over:
                host.release(channel)
            else:
                self._cancel_in_background(host, channel)

    async def start(self) -> None:
        """Start the child without waiting until it is ready."""
        await self._running()

    async def warm(self) -> None:
        """Start the child, load litellm and make a practice call."""
        host = await self._running()
        await self._ask(host, host.open("warm"))

    async def model_info(self, model: str, api_base: str) -> ModelInfo:
        """Return what is known about a model. A local server is asked for its actual context window."""
        host = await self._running()
        answer = await self._ask(host, host.open("info", model=model))
        info = ModelInfo(**answer["info"])
        request = routed(ModelRequest(model, "", (), api_base=api_base), self._environment)
        if speaks_ollama(request.model):
            return replace(info, context_window=await self._ollama_window(request))
        window = await context_window_of(request.model, request.api_base) or info.context_window
        known = [tokens for tokens in (window, self._context_window) if tokens]
        return replace(info, context_window=min(known, default=None))

    def does_the_same(self, other: "HostClient") -> bool:
        """Return whether one child could serve both clients."""
        return self._traits == other._traits

    @property
    def _traits(self) -> tuple[object, ...]:
        program = self._host.program
        return (
            self._idle_timeout,
            program.log,
            self._environment,
            program.python,
            self._context_window,
        )

    def lacks(self, environment: Mapping[str, str]) -> bool:
        """Return whether the environment has variables that the child was not given."""
        return not host_environment(environment).keys() <= self._environment.keys()

    async def add_keys(self, environment: Mapping[str, str]) -> None:
        """Restart the child with the variables it lacks; no reply may be in progress."""
        if not self.lacks(environment):
            return
        self._environment = {**host_environment(environment), **self._environment}
        self._redact = Redactor(environment)
        program = replace(self._host.program, environment=self._environment, redact=self._redact)
        await self._host.replace(program)

    async def close(self) -> None:
        """End the child for good; waiting and later calls fail."""
        self._cancelling.cancel()
        await self._host.close()

    async def _running(self) -> HostLink:
        try:
            return await self._host.ready()
        except LinkLostError as error:
            raise host_died_error() from error
        except OSError as error:
            raise host_not_started_error(error) from error

    async def _window_for(self, request: ModelRequest) -> int:
        """Return the window to ask Ollama for. A longer request fails here, because Ollama would cut it."""
        window = await self._ollama_window(request)
        if estimate_request(request) > window * _SURELY_TOO_LONG:
            raise overflow_error(window)
        return window

    async def _ollama_window(self, request: ModelRequest) -> int:
        """Return the same window every time: Ollama reloads a model for a different one."""
        key = (request.model, request.api_base)
        if key not in self._trained_windows and (trained := await context_window_of(*key)):
            self._trained_windows[key] = trained
        most = self._context_window or OLLAMA_WINDOW
        return min(self._trained_windows.get(key, most), most)

    async def _items(
        self, host: HostLink, channel: Channel, destination: Destination
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
                raise idle_error(destination, self._idle_timeout) from error
            except LinkLostError as error:
                raise host_died_error() from error

    async def _ask(self, host: HostLink, channel: Channel) -> JsonObject:
        """Return the single answer to a question."""
        try:
            answer = await self._answer(host, channel)
        finally:
            host.release(channel)
        if "error" in answer:
            raise self._failure(answer["error"])
        return answer

    def _failure(self, error: JsonObject) -> ModelError:
        read = error_from_json(error)
        return replace(read, message=self._redact(read.message), hint=self._redact(read.hint))

    async def _answer(self, host: HostLink, channel: Channel) -> JsonObject:
        """Return the first answer, which may wait until litellm is loaded."""
        try:
            async with asyncio.timeout(_START_PATIENCE):
                return await channel.next()
        except TimeoutError as error:
            host.kill()
            raise host_died_error() from error
        except LinkLostError as error:
            raise host_died_error() from error

    def _cancel_in_background(self, host: HostLink, channel: Channel) -> None:
        """Cancel a call without making the caller wait for its end."""
        host.cancel(channel)
        self._cancelling.start(self._await_cancelled(host, channel))

    async def _await_cancelled(self, host: HostLink, channel: Channel) -> None:
        """Wait for the cancelled call to stop, else kill the host; the next call starts another."""
        try:
            async with asyncio.timeout(_CANCEL_PATIENCE):
                with contextlib.suppress(LinkLostError):
                    while "cancelled" not in await channel.next():
                        pass
        except TimeoutError:
            host.kill()
        finally:
            host.release(channel)
