"""Speaks the language server protocol through pygls; the only module that imports it, as it loads slowly."""

import asyncio
import logging
from threading import Event
from typing import TYPE_CHECKING, Any, Protocol

import attrs
from cattrs import Converter
from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pygls.io_ import run_async
from pygls.lsp.client import LanguageClient
from pygls.protocol import LanguageServerProtocol, default_converter
from pygls.protocol.json_rpc import JsonRPCResponseMessage

from coder_tui import __version__
from coder_tui.lsp.server_session import (
    GoneError,
    NotAnsweredError,
    RefusedError,
    ServerSession,
    UnknownRequestError,
)

if TYPE_CHECKING:  # the server owns its client
    from coder_tui.lsp.server import TolerantReader

# It logs whole files and tracebacks when a server misbehaves; our errors report what matters.
logging.getLogger("pygls").setLevel(logging.CRITICAL + 1)

_VERSION = "2.0"
_METHOD_NOT_FOUND = -32601
_INVALID_REQUEST = -32600
# Asked after every edit; the reader of the findings validates them itself.
_READ_AS_IT_IS = frozenset({types.TEXT_DOCUMENT_DIAGNOSTIC})


class Writer(Protocol):
    def write(self, data: bytes) -> Any: ...
    def close(self) -> Any: ...


def _converter() -> Converter:
    converter: Converter = default_converter()  # type: ignore[no-untyped-call]  # pygls does not annotate it
    # Without this hook pygls drops the first reply of pylsp, ruff and ty: it cannot tell the variants apart.
    selector = attrs.fields(types.NotebookDocumentFilterWithCells).notebook.type

    def choose(value: Any, _: Any) -> Any:
        if value is None or isinstance(value, str):
            return value
        if "notebookType" in value:
            return converter.structure(value, types.NotebookDocumentFilterNotebookType)
        if "scheme" in value:
            return converter.structure(value, types.NotebookDocumentFilterScheme)
        return converter.structure(value, types.NotebookDocumentFilterPattern)

    converter.register_structure_hook(selector, choose)
    return converter


class _Protocol(LanguageServerProtocol):
    """pygls's reading, writing and checking; what to answer is decided by `session`."""

    session: ServerSession
    _request_futures: dict[Any, Any]

    def __init__(self, server: Any, converter: Converter) -> None:
        super().__init__(server, converter)
        self._unread: set[str] = set()
        """Requests whose replies are passed on without validation."""

    def structure_message(self, data: dict[str, Any]) -> Any:
        if "jsonrpc" in data and "result" in data and (number := str(data.get("id"))) in self._unread:
            self._unread.discard(number)
            return JsonRPCResponseMessage(data["id"], data["jsonrpc"], data["result"])
        try:
            return super().structure_message(data)
        except JsonRpcException as error:
            # Otherwise the caller would wait for this reply for ever.
            self._reject(data, error)
            raise

    def handle_message(self, message: Any) -> None:
        # pygls tries one message type after another, which takes longer than some servers need to answer.
        if type(message) is JsonRPCResponseMessage:
            self._handle_response(message.id, message.result)
        else:
            super().handle_message(message)

    def plain(self, value: Any) -> Any:
        """Return a value as it was on the wire; None for parameters of unknown messages."""
        # pygls turns those into named tuples.
        return None if hasattr(value, "_fields") else self._converter.unstructure(value)

    def ask(self, method: str, params: Any, number: str) -> "asyncio.Future[Any]":
        """Send a request; pygls sets its reply on the future.

        Our own parameters need no validation. A future of the event loop wakes the caller at once, unlike
        the thread-safe futures that pygls makes.
        """
        reply: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._request_futures[number] = reply
        if method in _READ_AS_IT_IS:
            self._unread.add(number)
        else:
            self._result_types[number] = self.get_result_type(method)
        self._send({"id": number, "method": method}, params)
        return reply

    def tell(self, method: str, params: Any) -> None:
        self._send({"method": method}, params)

    def fail_all(self, error: Exception) -> None:
        waiting, self._request_futures = self._request_futures, {}
        for future in waiting.values():
            if not future.done():
                future.set_exception(error)

    def _reject(self, data: dict[str, Any], error: Exception) -> None:
        if "id" not in data:
            return
        if "method" in data:
            self._refuse(data["id"], _INVALID_REQUEST, "the request cannot be read")
        elif (future := self._request_futures.pop(data["id"], None)) and not future.done():
            future.set_exception(RefusedError(0, f"its reply cannot be read: {error}"))

    def _send(self, message: dict[str, Any], params: Any) -> None:
        # No null as parameters: some servers close the connection over it.
        given = {} if params is None else {"params": params}
        self._send_data({"jsonrpc": _VERSION, **message, **given})

    def _refuse(self, number: Any, code: int, message: str) -> None:
        error = {"code": code, "message": message}
        self._send_data({"jsonrpc": _VERSION, "id": number, "error": error})

    def _handle_request(self, msg_id: Any, method_name: str, params: Any) -> None:
        try:
            result = self.session.answer_request(method_name, self.plain(params))
        except UnknownRequestError:
            self._refuse(msg_id, _METHOD_NOT_FOUND, f"{method_name} is not supported")
        else:
            self._send_data({"jsonrpc": _VERSION, "id": msg_id, "result": result})

    def _handle_response(self, msg_id: Any, result: Any = None, error: Any = None) -> None:
        # pygls's reader would fail on a reply to a request that timed out.
        if (future := self._request_futures.get(msg_id)) is not None and future.done():
            del self._request_futures[msg_id]
        else:
            super()._handle_response(msg_id, result, error)

    def _handle_notification(self, method_name: str, params: Any) -> None:
        self.session.handle_notification(method_name, self.plain(params))


class _Client(LanguageClient):
    def __init__(self, session: ServerSession) -> None:
        super().__init__("coder-tui", __version__, _Protocol, _converter)
        self._session = session

    def report_server_error(self, error: Exception, source: Any) -> None:
        self._session.report_protocol_error(str(error) or type(error).__name__)


class _InOneGo:
    """Joins messages of one loop step into one write, so that a server wakes up once, not twice."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer
        self._parts: list[bytes] = []

    def write(self, data: bytes) -> None:
        if not self._parts:
            asyncio.get_running_loop().call_soon(self.flush)
        self._parts.append(data)

    def flush(self) -> None:
        parts, self._parts = self._parts, []
        if parts:
            self._writer.write(b"".join(parts))

    def close(self) -> None:
        self.flush()
        self._writer.close()


class LspClient:
    """One connection: JSON in, JSON out, validated on the way."""

    def __init__(self, reader: "TolerantReader", writer: Writer, session: ServerSession) -> None:
        self._protocol = _client_protocol(_Client(session), session)
        self._writer = _InOneGo(writer)
        self._protocol.set_writer(self._writer)
        self._count = 0
        self._stopped = Event()
        self._reading = asyncio.ensure_future(self._read(reader))

    async def request(self, method: str, params: Any, seconds: float) -> Any:
        """Return the reply's result. When the time is up, cancel the request and raise `NotAnsweredError`."""
        self._count += 1
        number = f"{self._count}"
        if self._reading.done():
            raise GoneError("it has exited")
        reply = self._protocol.ask(method, params, number)
        self._writer.flush()
        late = NotAnsweredError(f"no answer to {method} within {seconds:.0f} s")
        timer = asyncio.get_running_loop().call_later(seconds, _give_up, reply, late)
        try:
            result = await reply
        except (NotAnsweredError, asyncio.CancelledError):
            self.notify("$/cancelRequest", {"id": number})
            raise
        except JsonRpcException as error:
            raise RefusedError(error.code, error.message) from error
        finally:
            timer.cancel()
        return result if method in _READ_AS_IT_IS else self._protocol.plain(result)

    def notify(self, method: str, params: Any) -> None:
        if not self._reading.done():
            self._protocol.tell(method, params)

    async def ended(self) -> None:
        """Wait until nothing more can come from the server."""
        await asyncio.wait({self._reading})

    def close(self) -> None:
        """Stop reading; pending requests fail."""
        self._stopped.set()
        self._reading.cancel()
        self._protocol.fail_all(GoneError("it has exited"))

    async def _read(self, reader: "TolerantReader") -> None:
        handler = self._protocol._server._report_server_error
        try:
            await run_async(self._stopped, reader, self._protocol, error_handler=handler)
        except (asyncio.IncompleteReadError, ValueError, OSError) as error:
            self._protocol.session.report_protocol_error(str(error))
        finally:
            self._protocol.fail_all(GoneError("it has exited"))


def _client_protocol(client: _Client, session: ServerSession) -> _Protocol:
    protocol = client.protocol
    assert isinstance(protocol, _Protocol)
    protocol.session = session
    return protocol


def _give_up(reply: "asyncio.Future[Any]", reason: NotAnsweredError) -> None:
    if not reply.done():
        reply.set_exception(reason)
