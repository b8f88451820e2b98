"""The model host: litellm behind JSON lines, so that neither its weight nor its crashes reach the screen.

A line in is `{"id", "op", …}` with op `stream` (`call`: litellm's arguments), `cancel`, `warm` or `info`
(`model`, `api_base`). Lines out carry the same id: `{"started"}` once a stream is on its way, `{"items"}`,
`{"error"}`, `{"cancelled"}`, `{"done"}` for warm and `{"info"}`. The process ends when its input does.

A loopback server with a one-word reply lets the slow first call happen before the user waits for one. Parts
of litellm that a stream does not need are left out, to save memory and time at the end of a reply.
"""

import asyncio
import gc
import json
import logging
import os
import sys
import threading
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import asdict
from types import ModuleType
from typing import Any, BinaryIO

from coder_tui.llm.client import ModelInfo, StreamItem, item_to_json
from coder_tui.llm.errors import Destination, cut_error, garbage_error, model_error, no_key_error
from coder_tui.llm.providers import LOCAL_KEY, needs_key
from coder_tui.llm.stream import Frames, ReplyReader, is_last, with_end_marks
from coder_tui.protocol.errors import ModelError, ModelErrorKind
from coder_tui.text.crash_text import redact_crashes
from coder_tui.text.redact import Redactor

_CHUNK = (
    b'data: {"id":"1","object":"chat.completion.chunk","created":1,"model":"practice",'
    b'"choices":[{"index":0,"delta":%s,"finish_reason":%s}]}\n\n'
)
_ANSWER = (
    b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"
    + _CHUNK % (b'{"role":"assistant","content":"ready"}', b"null")
    + _CHUNK % (b"{}", b'"stop"')
    # With counts: without them litellm would load its tokenizer, which takes 60 MB.
    + b'data: {"id":"1","object":"chat.completion.chunk","created":1,"model":"practice","choices":[],'
    + b'"usage":{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2}}\n\n'
    + b"data: [DONE]\n\n"
)


@asynccontextmanager
async def practice_server() -> AsyncIterator[str]:
    """Run a server that gives every request the same short reply; yield its address."""
    server = await asyncio.start_server(_answer, "127.0.0.1", 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        yield f"http://127.0.0.1:{port}/v1"


async def _answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(_ANSWER)
        await writer.drain()
    finally:
        writer.close()


_TOKENIZER = "anthropic_tokenizer.json"
_COMMAND_LINE = "httpx._main"
_END = 20


@contextmanager
def lean_imports() -> Iterator[None]:
    """Leave out litellm's own tokenizer and httpx's command line while litellm is imported.

    They would keep 22 MB. httpx handles a missing command line.
    """
    load, names = json.load, vars(json)

    def load_others(file: Any, **options: Any) -> Any:
        return {} if str(getattr(file, "name", "")).endswith(_TOKENIZER) else load(file, **options)

    names["load"] = load_others
    absent: dict[str, Any] = {} if _COMMAND_LINE in sys.modules else {_COMMAND_LINE: None}
    sys.modules.update(absent)
    try:
        yield
    finally:
        names["load"] = load
        for name in absent:
            del sys.modules[name]


class TokenizerOnDemand:
    """Stands in for litellm's tokenizer (40 MB), which litellm loads for each call and hardly ever uses."""

    def __init__(self, litellm: ModuleType) -> None:
        self._litellm = litellm

    def __getattr__(self, name: str) -> Any:
        return getattr(self._litellm.encoding, name)


def only_counted(build: Callable[..., Any]) -> Callable[..., Any]:
    """Shorten what litellm does at the end of a stream: join all chunks, twice, to count tokens.

    That took half a second for 3,000 chunks, and the turn waited for it. If the server sent counts, the
    chunks with the counts are enough.
    """

    def build_counted(chunks: list[Any], *arguments: Any, **named: Any) -> Any:
        # Counts come at the start or the end; checking each chunk of a long reply is slow as well.
        ends = chunks if len(chunks) <= 2 * _END else [*chunks[:_END], *chunks[-_END:]]
        counted = [chunk for chunk in ends[1:] if getattr(chunk, "usage", None) is not None]
        return build([chunks[0], *counted] if counted else chunks, *arguments, **named)

    return build_counted


_PER_MILLION = 1_000_000
_QUIET = {
    # Without these litellm fetches its price list from the network and reads `.env` in the current folder.
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    "LITELLM_LOCAL_ANTHROPIC_BETA_HEADERS": "True",
    "LITELLM_MODE": "PRODUCTION",
    "LITELLM_TELEMETRY": "False",
    "DO_NOT_TRACK": "1",
    # litellm treats 100 equal chunks as a runaway model, and an indented table is enough for that.
    "REPEATED_STREAMING_CHUNK_LIMIT": "100000",
}


class Engine:
    """Imports litellm in a thread when first needed, so that the process can answer during the import."""

    def __init__(self) -> None:
        self._loading: asyncio.Future[ModuleType] | None = None

    async def litellm(self) -> Any:
        if self._loading is None:
            self._loading = asyncio.ensure_future(asyncio.to_thread(_import_litellm))
        try:
            # Shielded: cancelling one call must not make the next one start over.
            return await asyncio.shield(self._loading)
        except ImportError as error:
            message = f"The library litellm cannot be loaded: {error}."
            raise ModelError(ModelErrorKind.HOST_DIED, message, "Reinstall coder-tui.") from error


def _import_litellm() -> ModuleType:
    os.environ.update(_QUIET)
    # Collecting garbage among objects that stay took a fifth of the time, and freed half a megabyte.
    gc.disable()
    # Costs seconds and 150 MB: that is why this process exists.
    with lean_imports():
        import litellm
        from litellm.llms.ollama.common_utils import OllamaModelInfo
        from litellm.llms.vertex_ai.gemini import vertex_and_google_ai_studio_gemini as gemini

    litellm.suppress_debug_info = True
    litellm.telemetry = False
    litellm.drop_params = True
    litellm.modify_params = True
    # It would count each prompt's tokens in addition to the server.
    litellm.disable_token_counter = True
    litellm.stream_chunk_builder = only_counted(litellm.stream_chunk_builder)
    gemini_reader: Any = gemini.ModelResponseIterator
    gemini_reader.chunk_parser = with_end_marks(gemini_reader.chunk_parser)
    ollama: Any = OllamaModelInfo
    ollama.get_model_info = _ask_nobody
    internals: Any = litellm.main
    internals._encoding_cache = TokenizerOnDemand(litellm)
    for name in ("LiteLLM", "LiteLLM Router", "LiteLLM Proxy", "httpx", "openai", "asyncio"):
        logging.getLogger(name).disabled = True
    gc.freeze()
    gc.enable()
    loaded: ModuleType = litellm
    return loaded


def _ask_nobody(*_: object, **__: object) -> None:
    """Replace litellm's queries to Ollama: several per call, blocking, some to another address."""


class Host:
    """Runs operations concurrently, and writes their answers."""

    def __init__(self, out: BinaryIO) -> None:
        self._out = out
        self._engine = Engine()
        self._redact = Redactor(os.environ)
        self._tasks: dict[int, asyncio.Task[None]] = {}

    def handle(self, line: bytes) -> None:
        """Start the operation of a request line; called on the event loop."""
        request = json.loads(line)
        number, op = int(request["id"]), request["op"]
        match op:
            case "stream":
                destination = Destination(request["call"]["model"], request["call"].get("api_base", ""))
                self._begin(number, destination, self._stream(number, request["call"], destination))
            case "warm":
                self._begin(number, Destination("practice", ""), self._warm(number))
            case "info":
                self._begin(number, Destination(request["model"], ""), self._info(number, request["model"]))
            case "cancel":
                self._cancel(number)
            case _:
                raise ValueError(f"unknown operation: {op}")

    def _begin(self, number: int, destination: Destination, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.ensure_future(self._guard(number, destination, work))
        self._tasks[number] = task
        task.add_done_callback(lambda _: self._tasks.pop(number, None))

    async def _guard(self, number: int, destination: Destination, work: Coroutine[Any, Any, None]) -> None:
        try:
            await work
        except Exception as error:  # noqa: BLE001  # any error of litellm or a provider's code ends this call only
            clear = model_error(error, destination, self._redact)
            sys.stderr.write(self._redact(f"{clear.kind}: {type(error).__name__}: {error}\n"))
            sys.stderr.flush()
            self._send(number, error=asdict(clear))

    def _cancel(self, number: int) -> None:
        task = self._tasks.get(number)
        if task is None:
            self._send(number, cancelled=True)
            return
        task.add_done_callback(lambda _: self._send(number, cancelled=True))
        task.cancel()

    def _send(self, number: int, **answer: object) -> None:
        try:
            self._out.write(json.dumps({"id": number, **answer}, separators=(",", ":")).encode() + b"\n")
            self._out.flush()
        except BrokenPipeError:
            # Nobody is left to answer.
            os._exit(0)

    async def _stream(self, number: int, call: dict[str, Any], destination: Destination) -> None:
        def send(items: tuple[StreamItem, ...]) -> None:
            self._send(number, items=[item_to_json(item) for item in items])

        frames = Frames(send)
        try:
            await self._relay(number, call, destination, frames)
        except asyncio.CancelledError:
            frames.drop()
            raise
        finally:
            frames.flush()

    async def _relay(
        self, number: int, call: dict[str, Any], destination: Destination, frames: Frames
    ) -> None:
        if (provider := needs_key(destination.model, destination.api_base, os.environ)) is not None:
            raise no_key_error(provider)
        litellm = await self._engine.litellm()
        self._send(number, started=True)
        stream = await litellm.acompletion(**_complete(call))
        reader = ReplyReader()
        try:
            await frames.relay(stream, reader.read, is_last)
            # litellm makes up a finish reason for streams that merely stopped; this is the server's own.
            reason = stream.received_finish_reason
        finally:
            await stream.aclose()
        if reason is None:
            raise garbage_error(destination) if reader.is_empty else cut_error(destination)
        frames.add(reader.finish(reason, _cost(litellm, destination.model, reader.usage)))

    async def _warm(self, number: int) -> None:
        litellm = await self._engine.litellm()
        async with practice_server() as address:
            call = {
                "model": "openai/practice",
                "api_base": address,
                "messages": [{"role": "user", "content": "?"}],
            }
            tool = {"type": "function", "function": {"name": "look", "parameters": {"type": "object"}}}
            stream = await litellm.acompletion(**_complete({**call, "tools": [tool]}))
            reader = ReplyReader()
            async for chunk in stream:
                reader.read(chunk)
        _cost(litellm, "gpt-5", reader.usage)
        gc.collect()
        gc.freeze()
        self._send(number, done=True)

    async def _info(self, number: int, model: str) -> None:
        litellm = await self._engine.litellm()
        self._send(number, info=asdict(_model_info(litellm, model)))


def _complete(call: dict[str, Any]) -> dict[str, Any]:
    """Return litellm's arguments: ours, and options for the transfer."""
    made = {
        **call,
        "stream": True,
        "stream_options": {"include_usage": True},
        # The program does the retries, where the user can see them.
        "num_retries": 0,
        "max_retries": 0,
        # It would load a server framework (25 MB) to check for tools of its proxy; there are none.
        "_skip_mcp_handler": True,
    }
    if call.get("api_base") and call["model"].startswith("openai/"):
        if "reasoning_effort" in call:
            # litellm drops it for unknown models, but a self-hosted server may support it.
            made["allowed_openai_params"] = ["reasoning_effort"]
        if not os.environ.get("OPENAI_API_KEY"):
            made.setdefault("api_key", LOCAL_KEY)
    return made


def _cost(litellm: Any, model: str, usage: Any) -> float | None:
    if usage is None:
        return None
    costs = _if_known(lambda: litellm.cost_per_token(model=model, usage_object=usage))
    return None if costs is None else float(sum(costs))


def _model_info(litellm: Any, model: str) -> ModelInfo:
    known = _if_known(lambda: litellm.get_model_info(model)) or {}
    return ModelInfo(
        context_window=known.get("max_input_tokens"),
        max_output=known.get("max_output_tokens"),
        input_cost=_per_million(known.get("input_cost_per_token")),
        output_cost=_per_million(known.get("output_cost_per_token")),
        supports_vision=known.get("supports_vision"),
        supports_tools=known.get("supports_function_calling"),
        supports_reasoning=known.get("supports_reasoning"),
    )


def _if_known(ask: Callable[[], Any]) -> Any:
    try:
        return ask()
    except Exception:  # noqa: BLE001  # litellm raises a bare Exception for a model that is not in its list
        return None


def _per_million(cost: float | None) -> float | None:
    return None if cost is None else round(cost * _PER_MILLION, 6)


def _read_requests(loop: asyncio.AbstractEventLoop, host: Host) -> None:
    """Read requests in a thread: the end of input ends the process at once, even if the loop is busy."""
    while line := sys.stdin.buffer.readline():
        loop.call_soon_threadsafe(host.handle, line)
    os._exit(0)


def _claim_output() -> BinaryIO:
    """Reserve standard output for the protocol: what a library prints goes to the log."""
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    return out


async def _serve() -> None:
    host = Host(_claim_output())
    loop = asyncio.get_running_loop()
    threading.Thread(target=_read_requests, args=(loop, host), daemon=True).start()
    await asyncio.Event().wait()


def main() -> None:
    # Failures outside a call go to the log as well.
    redact_crashes(Redactor(os.environ))
    asyncio.run(_serve())


if __name__ == "__main__":
    main()
